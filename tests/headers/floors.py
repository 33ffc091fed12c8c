# SPDX-License-Identifier: MIT
"""The floors of include/threadmap: a header includes only those of its floor or of lower ones, and
no header outside rivals/ includes one of rivals/.

0 ground, 1 maps, 2 cooperative code, 3 engines, 4 clients. A header that is on no list is held to
the rules of a pure map, floor 1.
"""


def paths(*names):
    return {f"threadmap/{name}.h" for name in names}


# 0: portability and versions
GROUND = paths("core", "version")

# 2: a warp, a block, tiles; in CUDA code alone
COOPERATIVE = paths("warp", "mma", "reduce", "value", "fold",
                    "fractal/warp", "fractal/tile", "fractal/rows",
                    "adaptive/olt",
                    "rivals/group", "rivals/mma", "rivals/mma_nu", "rivals/block", "rivals/box",
                    "rivals/wmma", "rivals/tensor", "rivals/drmsd_slides")

# 3: plans, launches, and the functions that a kernel of the user's calls; and the one include of
# a wing
ENGINES = paths("launch", "fractal/compact_lookup", "fractal/compact_step", "fractal/compact_stencil",
                "fractal/compact_words", "fractal/stencil_rule",
                "fractal/each", "fractal/each_plan", "fractal/each_walk",
                "fractal/fold", "fractal/stencil", "fractal/update",
                "triangle/pairs", "triangle/pairs_fold", "triangle/pairs_frames",
                "triangle/pairs_frames_plan", "triangle/pairs_frames_tile",
                "triangle/pairs_frames_walk", "triangle/pairs_plan",
                "triangle/pairs_rows", "triangle/pairs_rows_tile", "triangle/pairs_select",
                "triangle/pairs_store", "triangle/pairs_store_stage", "triangle/pairs_store_sums",
                "triangle/pairs_store_tile", "triangle/pairs_walk",
                "adaptive/ask", "adaptive/ask_finish", "adaptive/ask_plan", "adaptive/ask_query",
                "adaptive/ask_region", "adaptive/ask_run", "adaptive/ask_share",
                "adaptive/ask_work", "adaptive/ask_workspace", "adaptive/fill",
                "rivals/ask_cooperative", "rivals/ask_drivers", "rivals/ask_graph",
                "rivals/ask_sbr")
WINGS = paths("fractal", "triangle", "adaptive")

# 4: ready kernels with their launches
CLIENTS = paths("fractal/sw", "fractal/rd", "fractal/ca", "fractal/life",
                "fractal/compact_bits", "fractal/compact_life", "fractal/compact_matrix",
                "fractal/compact_window", "fractal/compact_window_sheets",
                "fractal/life_bits",
                "fractal/diffusion", "fractal/ising",
                "triangle/cluster", "triangle/gromos", "triangle/gromos_bits",
                "triangle/gromos_rounds", "triangle/linkage", "triangle/linkage_pass",
                "triangle/linkage_rounds",
                "triangle/pdist", "triangle/pdist_metric", "triangle/pdist_out",
                "triangle/pdist_tensor", "triangle/pdist_mma", "triangle/pdist_products",
                "triangle/drmsd_atoms", "triangle/drmsd_finite", "triangle/drmsd_frames",
                "triangle/drmsd_frames_terms", "triangle/drmsd_close",
                "triangle/drmsd_matrix", "triangle/drmsd_matrix_columns",
                "triangle/drmsd_matrix_plan", "triangle/drmsd_matrix_tile",
                "triangle/drmsd_matrix_values", "triangle/drmsd_mma", "triangle/drmsd_mma_tile",
                "triangle/drmsd_pair",
                "adaptive/flood", "adaptive/flood_again", "adaptive/flood_bits",
                "adaptive/flood_fill", "adaptive/flood_label", "adaptive/flood_load",
                "adaptive/flood_local", "adaptive/flood_map", "adaptive/flood_nodes",
                "adaptive/flood_plan", "adaptive/flood_range", "adaptive/flood_run",
                "adaptive/flood_write",
                "adaptive/label", "adaptive/label_graph", "adaptive/label_input",
                "adaptive/label_job", "adaptive/label_local", "adaptive/label_measure",
                "adaptive/label_plan", "adaptive/label_runs", "adaptive/label_write",
                "adaptive/mandelbrot", "adaptive/mandelbrot_f64", "adaptive/mandelbrot_picture",
                "adaptive/mandelbrot_stamp", "adaptive/mandelbrot_dwell_stamp",
                "rivals/box_bits", "rivals/box_kernels", "rivals/flood_line", "rivals/flood_naive",
                "rivals/flood_slides", "rivals/flood_state", "rivals/flood_tiles",
                "rivals/mandelbrot_approaches",
                "rivals/mandelbrot_approaches_f64", "rivals/mandelbrot_approaches_stamp",
                "rivals/mandelbrot_dp", "rivals/mandelbrot_dp_stamp")

# What the limits of cost_test.py are not for: nothing.
HEAVY = paths()

# What serves clients alone, and so is in no include of a wing either.
SERVING = paths("fractal/ca_rule", "fractal/ising_rule", "adaptive/fill")


def floor(header):
    if header in GROUND:
        return 0
    if header in COOPERATIVE:
        return 2
    if header in ENGINES or header in WINGS:
        return 3
    return 4 if header in CLIENTS else 1


def is_rival(header):
    return header.startswith("threadmap/rivals/")
