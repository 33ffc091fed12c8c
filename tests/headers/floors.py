# SPDX-License-Identifier: MIT
"""The floors of include/threadmap: a header includes only those of its floor or of lower ones, and
no header outside rivals/ includes one of rivals/."""

# 0: portability and versions
GROUND = {"threadmap/core.h", "threadmap/version.h"}
# 2: cooperative: a warp, a block, tiles; in CUDA code alone
COOPERATIVE = {"threadmap/warp.h", "threadmap/mma.h", "threadmap/reduce.h",
               "threadmap/fractal/warp.h", "threadmap/fractal/tile.h", "threadmap/fractal/rows.h",
               "threadmap/fractal/rows_tables.h", "threadmap/adaptive/olt.h",
               "threadmap/rivals/group.h", "threadmap/rivals/mma.h", "threadmap/rivals/mma_nu.h",
               "threadmap/rivals/block.h"}
# 3: engines and ready kernels, with their launches
KERNELS = {"fractal": {"sw", "rd", "ca", "ca_cell", "life", "small"},
           "triangle": {"pdist", "pdist_out", "pdist_tensor"},
           "adaptive": {"ask", "ask_domain", "ask_work", "ask_stamp", "ask_stamp_host", "fill_rows",
                        "mandelbrot", "mandelbrot_stamp"},
           "rivals": {"box", "mandelbrot_dp", "mandelbrot_dp_stamp"}}


def floor(header):
    """The floor of a header. One that is on no list is held to the rules of a pure map, floor 1."""
    if header in GROUND:
        return 0
    if header in COOPERATIVE:
        return 2
    parts = header[:-len(".h")].split("/")
    return 3 if len(parts) == 3 and parts[2] in KERNELS.get(parts[1], ()) else 1
