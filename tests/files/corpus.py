#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes corpus/, one to three tiny files of each format that samples/files reads, from the
formats' definitions; files_test.py knows what they hold, and fuzz_files.c begins with them.

usage: corpus.py [--check]

--check: writes nothing, and fails where a file here differs. found_* are inputs on which a fuzzer
once found a fault: they have no definition, and are left alone.
"""
import os
import struct
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'corpus')


def atom(serial, name, residue, number, xyz, letter=' ', code=' ', record='ATOM'):
    """A line of fixed columns."""
    return (f'{record:6}{serial:5} {name:4}{letter}{residue:3} A{number:4}{code}   '
            + ''.join(f'{c:8.3f}' for c in xyz) + '  1.00  0.00\n')


def cryst(a, b, c, angle=90.0):
    """A line with a unit cell."""
    return f'CRYST1{a:9.3f}{b:9.3f}{c:9.3f}{angle:7.2f}{90:7.2f}{90:7.2f} P 1           1\n'


def pdb_models():
    """Two models, each with a box of its own, alternate locations and an inserted residue."""
    text = 'REMARK   1 ATOM that is none\n'
    for m, letters in enumerate(('AB', 'BA')):  # in model 2 the other letter comes first
        first, second = (1.5, 9.5) if m == 0 else (9.5, 1.5)
        text += cryst(10 + m, 20, 30.5) + f'MODEL     {m + 1:4}\n'
        text += atom(1, ' N', 'ALA', 1, (m, -1.25, 1234.567))
        text += atom(2, ' CA', 'ALA', 1, (first, 2, 3 + m), letters[0])
        text += 'ANISOU    2  CA AALA A   1      688   1234    806    -19    -49    178\n'
        text += atom(3, ' CA', 'ALA', 1, (second, 2, 3 + m), letters[1])
        text += atom(4, ' CA', 'ALA', 1, (4, 5, 6), 'C', code='A')
        text += 'TER       5      ALA A   1\n'
        text += atom(6, 'NA', 'NA', 2, (-999.999, 0, 9999.999), record='HETATM')
        text += 'ENDMDL\n'
    return text + 'CONECT    1    2\nEND\n'


def pdb_ends():
    """Two frames that END parts, without a box; ends of lines of two letters."""
    text = cryst(1, 1, 1) + atom(1, ' C', 'UNK', 1, (1, 2, 3)) + atom(2, ' C', 'UNK', 1, (4, 5, 6))
    text += 'END\n' + atom(1, ' C', 'UNK', 1, (7, 8, 9)) + atom(2, ' C', 'UNK', 1, (-1, -2, -3))
    return (text + 'END\n').replace('\n', '\r\n')


def pdb_skew():
    """One frame, its cell monoclinic, its lines as short as they may be."""
    return (cryst(10, 20, 30, 97.5) + atom(1, ' C', 'UNK', 1, (1, 2, 3))[:54] + '\n'
            + atom(2, ' C', 'UNK', 1, (4, 5, 6))[:52])


XYZ_FRAMES = '2\nwater, or what is left of it\nO 0.5 -1.25 1e2\nH\t.5 2. -3.75E-1\n' \
    '2\n\n8 1 2 3 charge -0.8\n1 4 5 6\n\n\n'
XYZ_DIGITS = '  3  \r\nlong numbers\r\nX 0.100000000000000000000000001 3.4028235e38 -1d-3\r\n' \
    'X +1 000000000000000000000000000000000000007 1e-400\r\n' \
    'X 16777217 9007199254740993 -0\r\n'


def dcd(order, frames, version=24, steps=None, cell=None, fourth=False):
    """frames: rows of (x, y, z). cell: six doubles."""
    def record(inside):
        marker = struct.pack(order + 'i', len(inside))
        return marker + inside + marker
    numbers = [0] * 20
    numbers[0] = len(frames) if steps is None else steps
    numbers[1:3], numbers[9] = [1, 10], 0x3f800000
    numbers[10], numbers[11], numbers[19] = int(cell is not None), int(fourth), version
    out = record(b'CORD' + struct.pack(order + '20i', *numbers))
    out += record(struct.pack(order + 'i', 1) + b'CREATED FOR A TEST'.ljust(80))
    out += record(struct.pack(order + 'i', len(frames[0])))
    for f, frame in enumerate(frames):
        if cell:
            out += record(struct.pack(order + '6d', cell[0] and cell[0] + f, *cell[1:]))
        for axis in zip(*frame):
            out += record(struct.pack(f'{order}{len(axis)}f', *axis))
        if fourth:
            out += record(struct.pack(f'{order}{len(frame)}f', *[7] * len(frame)))
    return out


PLACES = [[(1, 2, 3), (4.5, -5.25, 6), (0, 0, 1e-3)], [(7, 8, 9), (-1, -2, -3), (10, 11, 12.5)]]


def npy(descr, shape, values, version=1, fortran=False):
    """descr: numpy's name of a type, or [(the name of a field, its type)]."""
    text = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
    kind, length = descr if isinstance(descr, str) else descr[0][1], '<H' if version == 1 else '<I'
    start = 8 + struct.calcsize(length)
    text = text.ljust(63 - start % 64 + (len(text) + start) // 64 * 64) + '\n'
    order = '>' if kind[0] == '>' else '<'
    code = dict(f4='f', f8='d', i1='b', i2='h', i4='i', i8='q', u1='B', u2='H', u4='I',
                u8='Q')[kind[1:]]
    return (b'\x93NUMPY' + bytes([version, 0]) + struct.pack(length, len(text)) + text.encode()
            + struct.pack(f'{order}{len(values)}{code}', *values))


HDR_GDAL = 'BYTEORDER      I\nLAYOUT         BIL\nNROWS          2\nNCOLS          3\n' \
    'NBANDS         1\nNBITS          32\nBANDROWBYTES   12\nTOTALROWBYTES  12\n' \
    'PIXELTYPE      FLOAT\nULXMAP         6.125\nULYMAP         45.875\n' \
    'XDIM           0.25\nYDIM           0.5\nNODATA         nan\n'
NAN = float('nan')
FILES = {  # name: bytes or text
    'models.pdb': pdb_models(),
    'ends.pdb': pdb_ends(),
    'skew.ent': pdb_skew(),
    'frames.xyz': XYZ_FRAMES,
    'digits.xyz': XYZ_DIGITS,
    'namd.dcd': dcd('<', PLACES, cell=(10, 0, 20, 1e-17, -6e-17, 30)),
    'charmm.dcd': dcd('>', PLACES, steps=0, cell=(10, 90, 20, 90, 90, 30), fourth=True),
    'xplor.dcd': dcd('>', PLACES[:1], version=0, steps=7),
    'none.dcd': dcd('<', PLACES, cell=(0, 1, 0, 1, 1, 0)),
    'skew.dcd': dcd('<', PLACES[:1], cell=(10, 120, 20, 75.5, 60, 30)),
    'cosines.dcd': dcd('>', PLACES[:1], cell=(10, -0.5, 20, 0.25, 0.5, 30)),
    'matrix.dcd': dcd('<', PLACES[:1], cell=(8, -4, 10, 0, 2.5, 12)),
    'frames.npy': npy('<f4', '(2, 1, 3)', [1, 2, 3, -4, 5.5, 6]),
    'one.npy': npy('>f8', '(2, 3)', [0.1, 2, 3, 4, 5, 1e-50], version=2),
    'grey8.pgm': b'P5# one\n#two\n3 # three\n2\n200\n' + bytes([0, 1, 2, 100, 199, 200]),
    'grey16.pgm': b'P5\n2 2 65535\n' + struct.pack('>4H', 0, 255, 256, 65535),
    'esri.hdr': 'ncols 2\nnrows 2\nxllcorner -1\nyllcorner 3\ncellsize 2\nNODATA_value -9999\n'
                'byteorder MSBFIRST\n',
    'esri.flt': struct.pack('>4f', 1, -9999, 0.5, 1e10),
    'gdal.hdr': HDR_GDAL,
    'gdal.flt': struct.pack('<6f', 1, 2, NAN, 4, 5, 6.5),
    'bytes.npy': npy('|u1', '(1, 2)', [0, 255]),
    'words.npy': npy('>i2', '(2, 2)', [1, -2, 32767, -32768], version=3),
    'longs.npy': npy('<i8', '(1, 2, 3)', [1, -2, 3, 4, -2 ** 31, 2 ** 31 - 1]),
    'columns.npy': npy('<f4', '(2, 3)', [1, 4, 2, 5, 3, 6], fortran=True),
    'doubles.npy': npy('<f8', '(1, 3)', [0.1, NAN, -1e300 * 0]),
    'life.npy': npy([('#./## level 4 step 100', '<u4')], '(3,)', [0x5a5a5a5, 1, 0x4000000]),
    'heat.npy': npy([(f'###/#.#/### level 1 step {2 ** 64 - 1}', '<f4')], '(8,)',
                    [i / 4 - 1 for i in range(8)]),
}


def main():
    """Writes or compares."""
    wrong = []
    os.makedirs(HERE, exist_ok=True)
    for name, content in FILES.items():
        content = content if isinstance(content, bytes) else content.encode()
        with open(os.path.join(HERE, name), 'rb' if sys.argv[1:] else 'wb') as file:
            if not sys.argv[1:]:
                file.write(content)
            elif file.read() != content:
                wrong.append(f'{name}: differs from what corpus.py writes')
    wrong += [f'{name}: corpus.py does not write it' for name in sorted(os.listdir(HERE))
              if name not in FILES and not name.startswith('found_')]
    print('\n'.join(wrong) or f'{len(FILES)} files')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
