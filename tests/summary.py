#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what Meson's test log holds: logs of failed tests, why tests were skipped, and the counts.

usage: summary.py MESON_LOGS_FOLDER [STATUS_OF_MESON_TEST]

The last line is `N passed, N failed, N skipped` over all tests. Exits with 1 if a test failed, or
if `meson test` failed without a test to blame.
"""
import glob
import json
import os
import re
import sys

PASSED = {'OK', 'EXPECTEDFAIL'}
SKIPPED = {'SKIP', 'IGNORED'}
LOG_LINES = 100  # of each failed test


def main(folder, meson_status):
    tests = []
    for path in glob.glob(os.path.join(folder, 'testlog*.json')):
        with open(path, encoding='utf-8', errors='replace') as log:
            tests += [json.loads(line) for line in log if line.strip()]
    for t in tests:
        # Without suite and project: `small:map / good` of Meson 1.4 and 1.9, `map - small:good`.
        t['name'] = re.sub('.*[:/] *', '', t['name'])

    passed = [t for t in tests if t['result'] in PASSED]
    skipped = [t for t in tests if t['result'] in SKIPPED]
    failed = [t for t in tests if t['result'] not in PASSED | SKIPPED]

    for t in failed:
        print(f"\n--- {t['name']}: {t['result']}, exit status {t.get('returncode')}, "
              f"{t.get('duration', 0):.1f} s")
        print('    ' + ' '.join(t.get('command', [])))
        lines = (t.get('stdout') or '').splitlines() + (t.get('stderr') or '').splitlines()
        if len(lines) > LOG_LINES:
            print(f'    ... {len(lines) - LOG_LINES} lines before these')
        print('\n'.join('    ' + line for line in lines[-LOG_LINES:]))

    if failed or skipped:
        print()
    for t in failed:
        print(f"failed: {t['name']} ({t['result']})")
    for t in skipped:
        output = (t.get('stdout') or '') + '\n' + (t.get('stderr') or '')
        reasons = [line[6:] for line in output.splitlines() if line.startswith('SKIP: ')]
        print(f"skipped: {t['name']}: {reasons[0] if reasons else 'no reason given'}")
    if meson_status and not failed:
        print(f'meson test ended with status {meson_status}')
    print(f'{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped')
    return 1 if failed or meson_status else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0))
