// SPDX-License-Identifier: MIT
// ask.h: adaptive serial kernels (ASK): subdivision of a domain whose work is found at run time,
// one launch after another instead of recursion. A problem of one's own is three functions and two
// kernels of three lines; mandelbrot.h is one with borders that neighbours share.
//
// Level 0 has g parts along each axis, level l has g r^l (region.h). Every region of a level is
// asked whether it is uniform; then it is finished by a terminal work, or at the last level by a
// leaf work, or else its r^dims children are the regions of the next level.
//
//     static __device__ tmap_ask_range disc_query(const void *job, const tmap_ask_region *region,
//                                                 tmap_ask_team team) { ... }
//     ...
//     __global__ void __launch_bounds__(256) disc_ask(tmap_ask_run run, disc job) {
//         tmap_ask_query(&run, disc_query, disc_terminal, tmap_ask_every_element, disc_leaf, &job);
//     }
//     __global__ void __launch_bounds__(256) disc_end(tmap_ask_run run, disc job) {
//         tmap_ask_finish(&run, disc_terminal, tmap_ask_every_element, disc_leaf, &job);
//     }
//
//     tmap_ask_kernels kernels = {(const void *)disc_ask, (const void *)disc_end, 0, 0, 0};
//     tmap_ask_workspace_create(nx, ny, 0, params, 0, &workspace);
//     tmap_ask_plan_make(&workspace, &kernels, &plan);
//     tmap_ask_stream(&plan, &job, stream); // as often as one likes
//
// The functions are named where they are used, so that the compiler writes them in place; they get
// the address of the kernel's own copy of the job. samples/adaptive has the whole program.
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), section 5, form MBR: the elements of all regions of a level
// are shared out among all blocks. Differences, all of them for speed: a table holds the regions
// that subdivide, each of which stands for its r^dims children, so that it is r^dims times shorter
// than the paper's (equation 26); tables are allocated once; counts stay on the device; terminal
// and leaf work of all levels are left to one launch at the end.
#ifndef TMAP_ADAPTIVE_ASK_H
#define TMAP_ADAPTIVE_ASK_H

#include "ask_finish.h"
#include "ask_plan.h"
#include "ask_query.h"
#include "ask_share.h"

#endif
