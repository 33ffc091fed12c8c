// SPDX-License-Identifier: MIT
// explore.cu: the samples' ideas with options, large inputs, pictures, and tables of times beside
// those of the bounding box.
//
// nvcc -O3 -arch=native -I include samples/explore/*.cu -o explore
// With -DTMAP_SAMPLE_PNG=1 -lpng pictures are PNG, else PPM.
#include "explore.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *about;
    int (*run)(int, char **);
} commands[] = {
    {"fractal", "writes, adds up or plays Life on the cells of a fractal", explore_fractal},
    {"compact", "plays Life in compact storage, and draws any part of a state", explore_compact},
    {"pairs", "counts the pairs of points that are nearer than a cutoff", explore_pairs},
    {"distances", "writes the distances of all pairs of the points of a file", explore_distances},
    {"mandelbrot", "draws the Mandelbrot set, and the regions that it was cut into",
     explore_mandelbrot},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (argc == 1 || !strcmp(name, "--help") || !strcmp(name, "-h")) {
        puts("usage: explore COMMAND [OPTION VALUE]...");
        for (int i = 0; i < COMMANDS; ++i)
            printf("  %-11s %s\n", commands[i].name, commands[i].about);
        puts("explore COMMAND --help tells its options.\n"
             "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.");
        return 0;
    }
    for (int i = 0; i < COMMANDS; ++i)
        if (!strcmp(name, commands[i].name)) return commands[i].run(argc - 2, argv + 2);
    fprintf(stderr, "explore: no such command: '%.*s' (see --help)\n", (int)strcspn(name, "\r\n"),
            name);
    return 2;
}
