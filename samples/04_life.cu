// SPDX-License-Identifier: MIT
// 04_life.cu: the Game of Life, or another rule, on a fractal, with frames as pictures. A cell has
// the neighbours among its eight that are cells of the fractal, and the next state
//     next = (alive ? survive : born) >> (number of live neighbours) & 1
// Each step is run by bounding box (BB) and by lambda, and both are checked by brute force.
//
// Compile: nvcc -I include 04_life.cu -o life
// For PNG instead of PPM frames, add: -DTMAP_SAMPLE_PNG=1 -lpng
#include <threadmap/fractal/ca.h>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if TMAP_SAMPLE_PNG
#include <png.h>
#define EXTENSION "png"
#else
#define EXTENSION "ppm"
#endif

#define POISON    0x5a // in all cells before a step: none may be left out
#define STEPS_MAX 9999
#define CHECK(call) \
    if ((status = (call)) != cudaSuccess) { \
        fprintf(stderr, "04_life: %s: %s\n", #call, cudaGetErrorString(status)); \
        exit(1); \
    }
static cudaError_t status; // of the last CUDA call

enum { FRACTAL, LEVEL, RHO, MAP, RULE, STEPS, EVERY, SEED, FRAMES, OPTIONS };
static const char *const options[] = {"--fractal", "--level", "--rho",  "--map",   "--rule",
                                      "--steps",   "--every", "--seed", "--frames"};
static const char help[] =
    "usage: 04_life [--fractal NAME|ROWS] [--level R] [--rho N] [--map MAP] [--rule B3/S23]\n"
    "               [--steps N] [--every K] [--seed S] [--frames PREFIX|none]\n"
    "Runs N steps (16) from a random state; every K-th (1) is a picture, life-0000 and so on.\n"
    "  --fractal  gasket carpet vicsek x h cantor chandelier candy bottles, or rows: '#./##'\n"
    "  --level    of the fractal, 0 to 64 (auto: up to 2^24 places; on the CPU machine 2^16)\n"
    "  --rho      side of the blocks, 1 to 32 (16)\n"
    "  --map      lambda, lambda_{shuffle,redux,ballot}; --rho 32: lambda_linear, tile (auto)\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";

// Bad input: one line, so only the first row of a value is shown.
static void bad(const char *what, const char *value) {
    fprintf(stderr, "04_life: %s: '%.*s' (see --help)\n", what, (int)strcspn(value, "\r\n"), value);
    exit(2);
}

static tmap_u32 number(const char *what, const char *text, tmap_u32 least, tmap_u32 most) {
    char *end;
    unsigned long long v = strtoull(text, &end, 10); // what does not fit saturates
    if (*text < '0' || *text > '9' || *end || v < least || v > most) bad(what, text);
    return (tmap_u32)v;
}

// A frame of the fractal, or of its first tile of up to 1024 places, at least 512 pixels wide. It is
// renamed when it is complete: nothing half-written ever has its name.
static void frame(const char *prefix, tmap_u32 t, tmap_nbb f, tmap_u32 r, const unsigned char *in) {
    static const unsigned char colours[3][3] = {{255, 255, 255}, {190, 214, 230}, {196, 56, 32}};
    tmap_u32 m = tmap_nbb_tile_level(f, r, 1024);
    tmap_u64 width = tmap_nbb_side_x(f, r), w = tmap_nbb_side_x(f, m), h = tmap_nbb_side_y(f, m);
    tmap_u64 grow_x = (511 + w) / w, grow_y = (w * grow_x * f.sy / f.sx + h - 1) / h, n = 0;
    tmap_xy64 tile = tmap_nbb_lambda64(f, 0, 0, r - m);
    char path[1024], part[1024];
    unsigned char *pixels; // 0 outside, 1 a dead cell, 2 a live one
    CHECK(cudaMallocHost((void **)&pixels, w * grow_x * h * grow_y));
    for (tmap_u64 y = tile.y * h * grow_y; y < (tile.y + 1) * h * grow_y; ++y)
        for (tmap_u64 x = tile.x * w * grow_x; x < (tile.x + 1) * w * grow_x; ++x)
            pixels[n++] = (unsigned char)(tmap_nbb_contains64(f, x / grow_x, y / grow_y, r) +
                                          in[y / grow_y * width + x / grow_x]);
    int length = snprintf(part, sizeof part, "%s%04u." EXTENSION ".part", prefix, t);
    FILE *file = length < (int)sizeof part ? fopen(part, "wb") : NULL;
    if (!file) bad("cannot write the frame", part);
    snprintf(path, sizeof path, "%.*s", length - 5, part); // without ".part"
#if TMAP_SAMPLE_PNG
    static png_image image;
    image.version = PNG_IMAGE_VERSION, image.format = PNG_FORMAT_RGB_COLORMAP;
    image.width = w * grow_x, image.height = h * grow_y, image.colormap_entries = 3;
    int ok = png_image_write_to_stdio(&image, file, 0, pixels, (int)image.width, colours);
#else
    int ok = fprintf(file, "P6\n%llu %llu\n255\n", w * grow_x, h * grow_y) > 0;
    for (tmap_u64 i = 0; i < n; ++i) ok &= fwrite(colours[pixels[i]], 3, 1, file) == 1;
#endif
    if (fclose(file) || !ok || rename(part, path)) remove(part), bad("cannot write", path);
    CHECK(cudaFreeHost(pixels));
}

static int by_size(const void *a, const void *b) {
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

// Compares every place with a step by brute force.
static int verify(tmap_nbb f, tmap_u32 r, tmap_ca_rule rule, const unsigned char *in,
                  const unsigned char *out) {
    tmap_u64 width = tmap_nbb_side_x(f, r), height = tmap_nbb_side_y(f, r), wrong = 0;
    for (tmap_u64 y = 0; y < height; ++y)
        for (tmap_u64 x = 0; x < width; ++x) {
            int cell = tmap_nbb_contains64(f, x, y, r), alive = in[y * width + x];
            tmap_u32 neighbours = 0; // a coordinate of -1 wraps to one that is no cell's
            for (int i = 0; cell && i < 9; ++i) {
                tmap_u64 nx = x + (tmap_u64)(i % 3 - 1), ny = y + (tmap_u64)(i / 3 - 1);
                if (i != 4 && tmap_nbb_contains64(f, nx, ny, r)) neighbours += in[ny * width + nx];
            }
            tmap_u32 next = (alive ? rule.survive : rule.born) >> neighbours & 1;
            wrong += alive > cell || out[y * width + x] != (cell ? next : 0);
        }
    return wrong == 0;
}

int main(int argc, char **argv) {
    const char *text[OPTIONS] = {"gasket", "auto", "16", "auto", "B3/S23", "16", "1", "1", "life-"};
    static float ms[2][STEPS_MAX]; // of BB and lambda
    tmap_nbb f;
    tmap_box bb, lambda;
    tmap_ca_rule rule;
    tmap_u32 r = 0;
    unsigned char *states, *host;
    int error, map = 0, devices, verified = 1;
    size_t memory, total;
    cudaDeviceProp gpu;
    cudaEvent_t start, stop;
    for (int i = 1; i < argc; i += 2) {
        int o = 0;
        if (!strcmp(argv[i], "--help")) return fputs(help, stdout) < 0;
        while (o < OPTIONS && strcmp(argv[i], options[o])) ++o;
        if (o == OPTIONS) bad("unknown option", argv[i]);
        if (i + 1 == argc) bad("no value after", argv[i]);
        text[o] = argv[i + 1];
    }
    if ((error = tmap_fractal_from_text(text[FRACTAL], &f)))
        bad(tmap_strerror(error), text[FRACTAL]);
    int level_auto = !strcmp(text[LEVEL], "auto"), frames = strcmp(text[FRAMES], "none") != 0;
    if (!level_auto) r = number("no --level from 0 to 64", text[LEVEL], 0, 64);
    tmap_u32 rho = number("no --rho from 1 to 32", text[RHO], 1, 32);
    tmap_u32 steps = number("no --steps from 1 to 9999", text[STEPS], 1, STEPS_MAX);
    tmap_u32 every = number("no --every from 1 to 9999", text[EVERY], 1, STEPS_MAX);
    tmap_u32 seed = number("no --seed from 0 to 2^32 - 1", text[SEED], 0, ~0u);
    if (tmap_ca_rule_from_text(text[RULE], &rule)) bad("no --rule such as B3/S23", text[RULE]);
    while (map < TMAP_MAP_COUNT && strcmp(text[MAP], tmap_map_name(map))) ++map;
    if (!strcmp(text[MAP], "auto"))
        map = tmap_nbb_has_ballot(f) ? TMAP_MAP_LAMBDA_BALLOT : TMAP_MAP_LAMBDA_SHUFFLE;
    if (tmap_box_make(f, 0, rho, map, &lambda)) bad("no --map for this fractal", text[MAP]);
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    int cpu = !strcmp(gpu.name, "CPU SIMT machine");
    while (level_auto && r < 24 &&
           tmap_nbb_side_x(f, r + 1) * tmap_nbb_side_y(f, r + 1) <= 1ull << (cpu ? 16 : 24))
        ++r;
    tmap_u64 places = tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r));
    CHECK(cudaMemGetInfo(&memory, &total));
    if (places > memory / 16 * 5) bad("no memory for this --level", text[LEVEL]);
    if (tmap_box_make(f, r, rho, TMAP_MAP_BB, &bb) || tmap_box_make(f, r, rho, map, &lambda))
        bad("no grid for this --level and --rho", text[LEVEL]);

    // The states of this and the next step, and third a state of poisoned cells; 0 outside.
    CHECK(cudaMalloc((void **)&states, 3 * places));
    CHECK(cudaMallocHost((void **)&host, 3 * places));
    for (tmap_u64 i = 0; i < places; ++i) {
        int cell = tmap_nbb_contains64(f, i % bb.width, i / bb.width, r);
        tmap_u64 z = (i ^ (tmap_u64)seed << 32) * 0x9e3779b97f4a7c15ull; // mixed to a random bit
        host[i] = cell ? ((z ^ z >> 29) * 0xbf58476d1ce4e5b9ull) >> 63 : 0;
        host[2 * places + i] = cell ? POISON : 0;
    }
    CHECK(cudaMemcpy(states, host, 3 * places, cudaMemcpyHostToDevice));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    if (frames) frame(text[FRAMES], 0, f, r, host);
    for (tmap_u32 t = 0; t < steps; ++t) {
        tmap_u64 in = t % 2 * places, out = (t + 1) % 2 * places;
        for (int form = 0; form < 2; ++form) {
            CHECK(cudaMemcpy(states + out, states + 2 * places, places, cudaMemcpyDeviceToDevice));
            int form_map = form ? map : TMAP_MAP_BB;
            CHECK(cudaEventRecord(start));
            CHECK(tmap_ca_u8(f, r, rho, form_map, rule, states + in, states + out, 0));
            CHECK(cudaEventRecord(stop));
            CHECK(cudaMemcpy(host, states, 2 * places, cudaMemcpyDeviceToHost));
            CHECK(cudaEventElapsedTime(&ms[form][t], start, stop));
            verified &= verify(f, r, rule, host + in, host + out);
        }
        if (frames && (t + 1) % every == 0) frame(text[FRAMES], t + 1, f, r, host + out);
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(states));
    CHECK(cudaFreeHost(host));
    for (int form = 0; form < 2; ++form) qsort(ms[form], steps, sizeof(float), by_size);
    float bb_ms = ms[0][steps / 2], lambda_ms = ms[1][steps / 2];
    double bb_t = (double)tmap_box_threads(bb), lambda_t = (double)tmap_box_threads(lambda);
    double use = 100.0 * (double)tmap_nbb_cells(f, r); // per cent, once divided by the threads
    printf("machine          fractal          n             BB threads  lambda threads   BB use"
           "  lam. use     BB ms lambda ms  speedup map             verified\n"
           "%-16s %-10s %6llux%-6llu %14.0f  %14.0f %7.2f%%  %7.2f%% %9.4f %9.4f %7.2fx %-15s %s\n",
           cpu ? "CPU machine" : gpu.name, tmap_fractal_name(tmap_fractal_index(f)), bb.width,
           bb.height, bb_t, lambda_t, use / bb_t, use / lambda_t, bb_ms, lambda_ms,
           bb_ms / lambda_ms, tmap_map_name(map), verified ? "yes" : "NO");
    if (cpu) puts("Times of the CPU machine say nothing about a GPU.");
    return verified ? 0 : 1;
}
