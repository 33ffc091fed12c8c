// SPDX-License-Identifier: MIT
// 02_single_write.cu: the ready kernel that writes a value to every cell of a fractal and nowhere
// else, by bounding box (BB) and by lambda, and a picture of what it wrote.
//
// Lambda maps whole blocks: the fractal inside each of its tiles, s^m <= rho wide, is the same, so
// block omega goes to a tile and its threads to their places in it. With r_b = r - m,
//     tile(omega) = sum over mu = 1..r_b of H[beta_mu(omega)] * s^(mu-1)
//
// Compile: nvcc -I include 02_single_write.cu -o single_write
// For PNG instead of PPM pictures, add: -DTMAP_SAMPLE_PNG=1 -lpng
#include <threadmap/fractal/sw.h>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if TMAP_SAMPLE_PNG
#include <png.h>
#define PICTURE_NAME "single_write.png"
#else
#define PICTURE_NAME "single_write.ppm"
#endif

#define RUNS   7
#define POISON 0x5a5a5a5a // before a run; what is not a cell must still hold it afterwards
#define CHECK(call) \
    if ((status = (call)) != cudaSuccess) { \
        fprintf(stderr, "02_single_write: %s: %s\n", #call, cudaGetErrorString(status)); \
        exit(1); \
    }
static cudaError_t status; // of the last CUDA call

enum { FRACTAL, LEVEL, RHO, MAP, PICTURE, OPTIONS };
static const char *const options[] = {"--fractal", "--level", "--rho", "--map", "--picture"};
static const char help[] =
    "usage: 02_single_write [--fractal NAME|ROWS] [--level R] [--rho N] [--map MAP] [--picture P]\n"
    "Writes a value to the cells of a fractal, by bounding box and by lambda, and checks both.\n"
    "  --fractal  gasket carpet vicsek x h cantor chandelier candy bottles, or rows: '#./##'\n"
    "  --level    of the fractal, 0 to 64 (auto: up to 2^28 places; on the CPU machine 2^18)\n"
    "  --rho      side of the blocks, 1 to 32 (16)\n"
    "  --map      lambda, lambda_{shuffle,redux,ballot}; --rho 32: lambda_linear, tile (auto)\n"
    "  --picture  file of the picture, or none (" PICTURE_NAME ")\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";

// Bad input: one line, so only the first row of a value is shown.
static void bad(const char *what, const char *value) {
    fprintf(stderr, "02_single_write: %s: '%.*s' (see --help)\n", what, (int)strcspn(value, "\r\n"),
            value);
    exit(2);
}

static tmap_u32 number(const char *what, const char *text, tmap_u32 least, tmap_u32 most) {
    char *end;
    unsigned long long v = strtoull(text, &end, 10); // what does not fit saturates
    if (*text < '0' || *text > '9' || *end || v < least || v > most) bad(what, text);
    return (tmap_u32)v;
}

// A picture of the fractal as the GPU writes it, at least 512 pixels wide and of the shape of its
// rows. A level of more than 1024 places is drawn as a lower one, which looks the same. The file is
// renamed when it is complete: nothing half-written ever has its name.
static void picture_write(const char *path, tmap_nbb f, tmap_u32 r, int map, int *out) {
    static const unsigned char colours[2][3] = {{255, 255, 255}, {23, 63, 95}};
    while (tmap_nbb_side_x(f, r) > 1024 || tmap_nbb_side_y(f, r) > 1024) --r;
    tmap_u32 w = (tmap_u32)tmap_nbb_side_x(f, r), h = (tmap_u32)tmap_nbb_side_y(f, r);
    tmap_u32 grow_x = (511 + w) / w, grow_y = (w * grow_x * f.sy / f.sx + h - 1) / h;
    tmap_u32 wide = w * grow_x, high = h * grow_y;
    int *places;
    unsigned char *pixels; // 0 or 1
    CHECK(cudaMallocHost((void **)&places, w * h * sizeof(int)));
    CHECK(cudaMallocHost((void **)&pixels, wide * high));
    CHECK(cudaMemset(out, POISON & 255, w * h * sizeof(int)));
    CHECK(tmap_sw_i32(f, r, 32, map, 1, out, 0));
    CHECK(cudaMemcpy(places, out, w * h * sizeof(int), cudaMemcpyDeviceToHost));
    for (tmap_u32 i = 0; i < wide * high; ++i)
        pixels[i] = places[i / wide / grow_y * w + i % wide / grow_x] == 1;
    char part[1024] = "";
    FILE *file = snprintf(part, sizeof part, "%s.part", path) < 1024 ? fopen(part, "wb") : NULL;
    if (!file) bad("cannot write the picture", path);
#if TMAP_SAMPLE_PNG
    static png_image image;
    image.version = PNG_IMAGE_VERSION, image.format = PNG_FORMAT_RGB_COLORMAP;
    image.width = wide, image.height = high, image.colormap_entries = 2;
    int ok = png_image_write_to_stdio(&image, file, 0, pixels, (int)wide, colours);
#else
    int ok = fprintf(file, "P6\n%u %u\n255\n", wide, high) > 0;
    for (tmap_u32 i = 0; i < wide * high; ++i) ok &= fwrite(colours[pixels[i]], 3, 1, file) == 1;
#endif
    if (fclose(file) || !ok || rename(part, path))
        remove(part), bad("cannot write the picture", path);
    CHECK(cudaFreeHost(pixels));
    CHECK(cudaFreeHost(places));
}

static int by_size(const void *a, const void *b) {
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

// Poisons all places, takes the median time of RUNS launches after one that warms up, and compares
// every place with what must be there, a band of rows at a time. Returns 1 if all are right.
static int measure(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map, int *out, float *median_ms) {
    tmap_u64 width = tmap_nbb_side_x(f, r), height = tmap_nbb_side_y(f, r), wrong = 0, cells = 0;
    tmap_u64 most = (64u << 20) / (width * sizeof(int)) + 1, rows = most < height ? most : height;
    float ms[RUNS + 1];
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMemset(out, POISON & 255, (size_t)(width * height * sizeof(int))));
    for (int i = RUNS; i >= 0; --i) {
        CHECK(cudaEventRecord(start));
        CHECK(tmap_sw_i32(f, r, rho, map, 1, out, 0));
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms[i], start, stop));
    }
    qsort(ms, RUNS, sizeof *ms, by_size); // without the first run, ms[RUNS]
    *median_ms = ms[RUNS / 2];
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    int *band;
    CHECK(cudaMallocHost((void **)&band, (size_t)(rows * width * sizeof(int))));
    for (tmap_u64 top = 0; top < height; top += rows) {
        if (rows > height - top) rows = height - top;
        CHECK(cudaMemcpy(band, out + top * width, (size_t)(rows * width * sizeof(int)),
                         cudaMemcpyDeviceToHost));
        for (tmap_u64 y = 0; y < rows; ++y)
            for (tmap_u64 x = 0; x < width; ++x) {
                int cell = tmap_nbb_contains64(f, x, top + y, r);
                cells += cell;
                wrong += band[y * width + x] != (cell ? 1 : POISON);
            }
    }
    CHECK(cudaFreeHost(band));
    return wrong == 0 && cells == tmap_nbb_cells(f, r);
}

int main(int argc, char **argv) {
    const char *text[OPTIONS] = {"gasket", "auto", "16", "auto", PICTURE_NAME};
    tmap_nbb f;
    tmap_box bb, lambda;
    tmap_u32 r = 0, rho;
    int error, map = 0, devices, *out;
    size_t memory, total;
    cudaDeviceProp gpu;
    float bb_ms, lambda_ms;
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
    int level_auto = !strcmp(text[LEVEL], "auto");
    if (!level_auto) r = number("no --level from 0 to 64", text[LEVEL], 0, 64);
    rho = number("no --rho from 1 to 32", text[RHO], 1, 32);
    while (map < TMAP_MAP_COUNT && strcmp(text[MAP], tmap_map_name(map))) ++map;
    if (!strcmp(text[MAP], "auto"))
        map = tmap_nbb_has_ballot(f) ? TMAP_MAP_LAMBDA_BALLOT : TMAP_MAP_LAMBDA_SHUFFLE;
    if (tmap_box_make(f, 0, rho, map, &lambda)) bad("no --map for this fractal", text[MAP]);
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    int cpu = !strcmp(gpu.name, "CPU SIMT machine");
    while (level_auto && r < 28 &&
           tmap_nbb_side_x(f, r + 1) * tmap_nbb_side_y(f, r + 1) <= 1ull << (cpu ? 18 : 28))
        ++r;
    tmap_u64 width = tmap_nbb_side_x(f, r), height = tmap_nbb_side_y(f, r); // saturate
    tmap_u64 bytes = tmap_mul_saturate(tmap_mul_saturate(width, height), sizeof(int));
    CHECK(cudaMemGetInfo(&memory, &total));
    if (bytes > memory / 16 * 15) bad("no memory for this --level", text[LEVEL]);
    if (tmap_box_make(f, r, rho, TMAP_MAP_BB, &bb) || tmap_box_make(f, r, rho, map, &lambda))
        bad("no grid for this --level and --rho", text[LEVEL]);

    CHECK(cudaMalloc((void **)&out, (size_t)bytes));
    if (strcmp(text[PICTURE], "none")) picture_write(text[PICTURE], f, r, map, out);
    int verified = measure(f, r, rho, TMAP_MAP_BB, out, &bb_ms);
    verified &= measure(f, r, rho, map, out, &lambda_ms);
    CHECK(cudaFree(out));
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
