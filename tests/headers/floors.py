# SPDX-License-Identifier: MIT
"""The floors of include/threadmap: a header includes only those of its floor or of lower ones."""

# 0: portability and versions
GROUND = {"threadmap/core.h", "threadmap/version.h"}
# 2: cooperative: a warp, a block, tiles; in CUDA code alone
COOPERATIVE = {"threadmap/warp.h", "threadmap/group.h", "threadmap/mma.h", "threadmap/mma_nu.h",
               "threadmap/rows.h", "threadmap/rows_tables.h", "threadmap/block.h",
               "threadmap/tile.h", "threadmap/reduce.h", "threadmap/compact.h",
               "threadmap/olt.h"}


def floor(header):
    """The floor of a header. One that is on no list is held to the rules of a pure map, floor 1."""
    if header.startswith("threadmap/kernels/"):
        return 3
    return 0 if header in GROUND else 2 if header in COOPERATIVE else 1
