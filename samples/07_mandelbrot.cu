// SPDX-License-Identifier: MIT
// 07_mandelbrot.cu: the Mandelbrot set by adaptive serial kernels (ASK), with pictures of it and of
// the regions that it was cut into, and a table of the levels. The dwell of a pixel c is
//     d = 0; z = c; while (d < dwell && |z|^2 < 4) z = z^2 + c, d = d + 1;
// A region whose border has one dwell is filled with it, others are cut into r x r (Mariani-Silver).
//
// Compile: nvcc -I include 07_mandelbrot.cu -o mandelbrot
// For PNG instead of PPM pictures, add: -DTMAP_SAMPLE_PNG=1 -lpng
#include <threadmap/adaptive/mandelbrot.h>

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if TMAP_SAMPLE_PNG
#include <png.h>
#define EXTENSION "png"
#else
#define EXTENSION "ppm"
#endif
#define CHECK(call) \
    if ((status = (call)) != cudaSuccess) \
    fprintf(stderr, "07_mandelbrot: %s: %s\n", #call, cudaGetErrorString(status)), exit(1)
static cudaError_t status; // of the last CUDA call
enum { APPROACH, N, DWELL, WINDOW, G, R, SIDE, DRIVER, PICTURE, REGIONS, OPTIONS };
static const char *const options[] = {"--approach", "--n", "--dwell",  "--window",  "--g",
                                      "--r",        "--B", "--driver", "--picture", "--regions"};
static const char help[] =
    "usage: 07_mandelbrot [--approach A] [--n N|WxH] [--dwell D] [--window x0,x1,y0,y1]\n"
    "                     [--g G] [--r R] [--B B] [--driver D] [--picture FILE] [--regions FILE]\n"
    "  --approach   exhaustive, unrolled, ask_sbr, ask_mbr; --driver: host, stream, graph, "
    "cooperative\n"
    "  --n          pixels along the sides, 1 to 32768 (auto: 4096; on the CPU machine 256)\n"
    "  --g --r --B  parts at first, parts of a part, side at which cutting ends (8, 2, 8)\n"
    "  --picture    file of the set, or none; --regions: of its regions\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";
static void bad(const char *what, const char *value) { // one line, whatever the value
    int length = (int)strcspn(value, "\r\n");
    fprintf(stderr, "07_mandelbrot: %s: '%.*s' (see --help)\n", what, length, value);
    exit(2);
}
static tmap_u32 number(const char *what, const char *text, tmap_u32 least, tmap_u32 most) {
    char *end;
    unsigned long long v = strtoull(text, &end, 10); // what does not fit saturates
    if (*text < '0' || *text > '9' || *end || v < least || v > most) bad(what, text);
    return (tmap_u32)v;
}

static int *exhaustive, *want, *got; // pictures: every pixel computed, the serial one, the GPU's
static unsigned char *mark;          // of each pixel: level of its region, uniform or not, an edge
static tmap_mandelbrot m;
static tmap_ask_workspace s;
static tmap_ask_domain d;
static tmap_ask_counts serial, counts;

// Mariani-Silver, serially, with the dwells of the exhaustive picture.
static void region(tmap_u32 level, tmap_u32 i, tmap_u32 j) {
    tmap_u64 parts = tmap_region_parts(d.g, d.r, level), nx = d.nx;
    tmap_u64 x0 = tmap_region_edge(nx, parts, i), x1 = tmap_region_edge(nx, parts, i + 1);
    tmap_u64 y0 = tmap_region_edge(d.ny, parts, j), y1 = tmap_region_edge(d.ny, parts, j + 1);
    tmap_ask_level_counts *c = &serial.level[level];
    if (x0 == x1 || y0 == y1) return (void)++c->empty;
    tmap_u64 right = x1 < nx ? x1 : nx - 1, below = y1 < d.ny ? y1 : d.ny - 1; // of the border
    int value = exhaustive[y0 * nx + x0], same = 1;
    for (tmap_u64 y = y0; y <= below; ++y)
        for (tmap_u64 x = x0; x <= right; x += y == y0 || y == below || x == right ? 1 : right - x0)
            same &= exhaustive[y * nx + x] == value;
    int cut = !same && level + 1 < d.levels;
    ++c->regions, ++*(same ? &c->filled : cut ? &c->subdivided : &c->leaves);
    for (tmap_u32 k = 0; cut && k < d.r * d.r; ++k)
        region(level + 1, i * d.r + k % d.r, j * d.r + k / d.r);
    for (tmap_u64 y = y0; !cut && y < y1; ++y)
        for (tmap_u64 x = x0; x < x1; ++x) {
            want[y * nx + x] = same ? value : exhaustive[y * nx + x];
            mark[y * nx + x] = (unsigned char)(level << 2 | same << 1 | (x == x0 || y == y0));
        }
}

// A picture at most 1024 pixels wide and high, of dwells or of regions: edges dark, leaves orange,
// uniform ones paler at each level. Renamed when it is complete: no half-written file has its name.
static void picture(const char *path, int regions) {
    static unsigned char pixels[1024 * 1024][3];
    tmap_u32 step = ((m.nx > m.ny ? m.nx : m.ny) + 1023) / 1024, n = 0;
    tmap_u32 w = (m.nx + step - 1) / step, h = (m.ny + step - 1) / step;
    char part[1024];
    for (tmap_u64 y = 0; y < m.ny; y += step)
        for (tmap_u64 x = 0; x < m.nx; x += step, ++n)
            for (int k = 0; k < 3; ++k) {
                int dwell = got[y * m.nx + x], c = mark[y * m.nx + x], most = (int)m.dwell;
                double shade = 255 * pow(log1p(dwell) / log1p(most), k == 1 ? 1.5 : 0.9 - 0.25 * k);
                int flat = c & 1 ? 40 : c & 2 ? 250 - 8 * (c / 4 % 8) * (3 - k) : 230 - 95 * k;
                pixels[n][k] = (unsigned char)(regions ? flat : dwell < most ? shade : 0);
            }
    int length = snprintf(part, sizeof part, "%s.part", path);
    FILE *file = *path && length < (int)sizeof part ? fopen(part, "wb") : NULL;
    if (!file) bad("cannot write the picture", path);
#if TMAP_SAMPLE_PNG
    png_image image = {NULL, PNG_IMAGE_VERSION, w, h, PNG_FORMAT_RGB, 0, 0, 0, ""};
    int ok = png_image_write_to_stdio(&image, file, 0, pixels, 0, NULL);
#else
    int ok = fprintf(file, "P6\n%u %u\n255\n", w, h) > 0 && fwrite(pixels, 3, n, file) == n;
#endif
    if (fclose(file) || !ok || rename(part, path)) remove(part), bad("cannot write", path);
}

// Draws on poisoned memory and fetches the picture. Returns the time of the second run.
static float draw(int approach, tmap_ask_params a, int driver, int *out, int *host) {
    size_t bytes = (size_t)m.nx * m.ny * sizeof(int);
    cudaEvent_t event[2];
    float ms;
    for (int i = 0; i < 2; ++i) CHECK(cudaEventCreate(&event[i]));
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaMemset(out, 0x5a, bytes));
        CHECK(cudaEventRecord(event[0]));
        CHECK(tmap_mandelbrot_f32(&m, approach, a, driver, &s, out, 0));
        CHECK(cudaEventRecord(event[1]));
    }
    CHECK(cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaEventElapsedTime(&ms, event[0], event[1]));
    for (int i = 0; i < 2; ++i) CHECK(cudaEventDestroy(event[i]));
    return ms;
}

int main(int argc, char **argv) {
    const char *text[OPTIONS] = {
        "ask_mbr", "auto", "512",    "-1.5,0.5,-1,1",         "8",
        "2",       "8",    "stream", "mandelbrot." EXTENSION, "regions." EXTENSION};
    int approach = 0, driver = 0, devices, *out;
    float level_ms[TMAP_ASK_LEVELS_MAX + 1] = {0};
    cudaDeviceProp gpu;
    char rest;
    for (int i = 1; i < argc; i += 2) {
        int o = 0;
        if (!strcmp(argv[i], "--help")) return fputs(help, stdout) < 0;
        while (o < OPTIONS && strcmp(argv[i], options[o])) ++o;
        if (o == OPTIONS) bad("unknown option", argv[i]);
        if (i + 1 == argc) bad("no value after", argv[i]);
        text[o] = argv[i + 1];
    }
    for (; strcmp(text[APPROACH], tmap_mandelbrot_approach_name(approach)); ++approach)
        if (approach == 3) bad("no such --approach here (bench_ask has dp)", text[APPROACH]);
    for (; strcmp(text[DRIVER], tmap_ask_driver_name(driver)); ++driver)
        if (driver == 3) bad("no such --driver", text[DRIVER]);
    int ask = approach >= TMAP_MANDELBROT_ASK_SBR, automatic = !strcmp(text[N], "auto");
    m = tmap_mandelbrot_make(1, 1, number("no --dwell from 1 to 2^30", text[DWELL], 1, 1u << 30));
    tmap_ask_params a = {number("no --g", text[G], 1, 65536), number("no --r", text[R], 2, 1024),
                         number("no --B", text[SIDE], 1, 32768)};
    int parts = sscanf(text[WINDOW], "%lf,%lf,%lf,%lf%c", &m.x0, &m.x1, &m.y0, &m.y1, &rest);
    if (parts != 4 || tmap_mandelbrot_check(&m)) bad("no --window x0<x1,y0<y1", text[WINDOW]);
    parts = sscanf(text[N], "%5ux%5u%c", &m.nx, &m.ny, &rest);
    if (parts < 2 && !automatic) m.nx = m.ny = number("no --n from 1", text[N], 1, 32768);
    if (parts == 3 || (m.nx - 1) >> 15 || (m.ny - 1) >> 15) bad("no --n up to 32768", text[N]);
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    int cpu = !strcmp(gpu.name, "CPU SIMT machine");
    if (automatic) m.nx = m.ny = cpu ? 256 : 4096;
    tmap_u64 pixels = (tmap_u64)m.nx * m.ny;
    if (tmap_ask_domain_make(m.nx, m.ny, 0, 2, a, &d)) bad("--B is more than n / --g", text[SIDE]);
    exhaustive = (int *)calloc(pixels, 13), want = exhaustive + pixels, got = want + pixels;
    mark = (unsigned char *)(got + pixels);
    if (!exhaustive ||
        cudaMalloc((void **)&out, pixels * sizeof(int) + tmap_mandelbrot_columns_bytes(&m, a)) ||
        tmap_ask_workspace_create(m.nx, m.ny, 0, a, 0, &s))
        bad("no memory for this --n", text[N]);
    m.columns = out + pixels, s.cooperative_blocks = (tmap_u32)cpu; // one block after the other
    float plain_ms = draw(TMAP_MANDELBROT_EXHAUSTIVE, a, 0, out, exhaustive);
    float ms = draw(approach, a, driver, out, got);
    s.level_ms = level_ms; // once more, for the times of the levels
    if (ask) CHECK(tmap_mandelbrot_f32(&m, approach, a, TMAP_ASK_HOST, &s, out, 0));
    if (ask) CHECK(tmap_ask_counts_read(&s, &counts, 0));
    for (tmap_u32 i = 0; i < d.g * d.g; ++i) region(0, i % d.g, i / d.g);
    tmap_u64 differ = 0, wrong = ask && memcmp(serial.level, counts.level, sizeof serial.level);
    for (tmap_u64 i = 0; i < pixels; ++i) {
        differ += got[i] != exhaustive[i];
        wrong += got[i] != (ask ? want : exhaustive)[i];
        if (i % (1 + pixels / 10000) == 0) // the definition, on the host
            wrong += exhaustive[i] != tmap_mandelbrot_dwell_f32(&m, i % m.nx, i / m.nx);
    }
    if (!wrong && strcmp(text[PICTURE], "none")) picture(text[PICTURE], 0);
    if (!wrong && strcmp(text[REGIONS], "none")) picture(text[REGIONS], 1);
    CHECK(tmap_ask_workspace_destroy(&s));
    CHECK(cudaFree(out));
    printf("machine              pixels    dwell approach     g   r   B driver      exhaustive ms"
           "        ms speedup   differ verified\n%-16s %5ux%-5u %8u %-10s %4u %3u %3u %-11s "
           "%13.4f %9.4f %6.2fx %8llu %s\n"
           "level  side   regions  subdivided    filled    leaves       P  ms by host driver\n",
           cpu ? "CPU machine" : gpu.name, m.nx, m.ny, m.dwell, text[APPROACH], a.g, a.r, a.B,
           text[DRIVER], plain_ms, ms, plain_ms / ms, differ, wrong ? "NO" : "yes");
    for (tmap_u32 l = 0; l < d.levels; ++l) {
        const tmap_ask_level_counts *c = &serial.level[l];
        printf("%5u %5.0f %9llu %11llu %9llu %9llu %7.4f %10.4f\n", l,
               (double)m.nx / (double)tmap_region_parts(a.g, a.r, l), c->regions, c->subdivided,
               c->filled, c->leaves, 1 - (double)c->filled / (double)c->regions, level_ms[l]);
    }
    if (ask) printf("  end, what was left to a last launch: %47.4f\n", level_ms[d.levels]);
    if (cpu) puts("Times of the CPU machine say nothing about a GPU.");
    return wrong != 0;
}
