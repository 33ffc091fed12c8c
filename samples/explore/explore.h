// SPDX-License-Identifier: MIT
// explore.h: the commands of explore. Each takes the arguments after its name and returns the exit
// status.
#ifndef EXPLORE_EXPLORE_H
#define EXPLORE_EXPLORE_H

int explore_fractal(int count, char **words);
int explore_compact(int count, char **words);
int explore_pairs(int count, char **words);
int explore_distances(int count, char **words);
int explore_mandelbrot(int count, char **words);

#endif
