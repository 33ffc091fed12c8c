// SPDX-License-Identifier: MIT
// 08_implicit_surface.cu: adaptive subdivision (ASK) of a problem of one's own, in 3D: which voxels
// of the cube [-1, 1]^3 lie inside a surface f = 0? An octant is finished by one evaluation if
//     |f(centre)| > L (half its diagonal),     L >= |gradient of f|,
// since then f has one sign in all of it. Others are cut, the last ones evaluated voxel by voxel.
//
// Compile: nvcc -I include 08_implicit_surface.cu -o implicit_surface
// For a PNG instead of a PPM picture, add: -DTMAP_SAMPLE_PNG=1 -lpng
#include <threadmap/adaptive/ask.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if TMAP_SAMPLE_PNG
#include <png.h>
#define PICTURE_NAME "surface.png"
#else
#define PICTURE_NAME "surface.ppm"
#endif
#define CHECK(call) \
    if ((status = (call)) != cudaSuccess) \
    fprintf(stderr, "08_implicit_surface: %s: %s\n", #call, cudaGetErrorString(status)), exit(1)
static cudaError_t status; // of the last CUDA call

enum { SPHERE, TORUS, GYROID };
typedef struct surface {
    int kind;
    tmap_u32 n;         // voxels along each axis
    unsigned char *out; // bit 0: inside; above it, 0 or 1 + the level of the octant that was filled
} surface;

// f in voxel coordinates, 0 to n - 1: negative inside. L is 1 for distances; for the gyroid each
// partial derivative is at most 6 sqrt(cos^2 a + sin^2 b), and the sum of their squares 6^2 x 3.
TMAP_FN float surface_f(const surface *s, float x, float y, float z) {
    float px = (2 * x + 1) / (float)s->n - 1, py = (2 * y + 1) / (float)s->n - 1;
    float pz = (2 * z + 1) / (float)s->n - 1, ring = sqrtf(px * px + py * py) - 0.6f;
    if (s->kind == SPHERE) return sqrtf(px * px + py * py + pz * pz) - 0.8f;
    if (s->kind == TORUS) return sqrtf(ring * ring + pz * pz) - 0.25f;
    px *= 6, py *= 6, pz *= 6;
    return sinf(px) * cosf(py) + sinf(py) * cosf(pz) + sinf(pz) * cosf(px);
}

// 1. Is a region uniform? All threads of the team find the same: 1 inside, 0 outside, or 0 to 1.
TMAP_DEVICE tmap_ask_range surface_query(const surface *s, const tmap_ask_region *t, tmap_u32 rank,
                                         tmap_u32 size) {
    float wx = (float)(t->x1 - t->x0 - 1), wy = (float)(t->y1 - t->y0 - 1);
    float wz = (float)(t->z1 - t->z0 - 1), half = sqrtf(wx * wx + wy * wy + wz * wz) / (float)s->n;
    float f = surface_f(s, (float)t->x0 + wx / 2, (float)t->y0 + wy / 2, (float)t->z0 + wz / 2);
    float reach = (s->kind == GYROID ? 10.3924f : 1) * half + 1e-4f; // and what rounding may do
    tmap_ask_range range = {f < -reach, f < reach};
    return (void)rank, (void)size, range;
}
// 2. Thread `rank` of `size` finishes its part of a uniform region.
TMAP_DEVICE void surface_terminal(const surface *s, const tmap_ask_region *t, tmap_u32 value,
                                  tmap_u32 rank, tmap_u32 size) {
    tmap_u32 wx = t->x1 - t->x0, wy = t->y1 - t->y0, count = wx * wy * (t->z1 - t->z0);
    for (tmap_u32 i = rank; i < count; i += size) {
        tmap_u64 x = t->x0 + i % wx, y = t->y0 + i / wx % wy, z = t->z0 + i / wx / wy;
        s->out[(z * s->n + y) * s->n + x] = (unsigned char)(value + 2 * (1 + t->level));
    }
}
// 3. How many elements a region of the last level has at most.
TMAP_DEVICE tmap_u32 surface_leaf_elements(const surface *, const tmap_ask_sides *sides, tmap_u32,
                                           tmap_u32) {
    return sides->x * sides->y * sides->z;
}
// 4. The lanes of a warp take elements of regions and compute them, until none is left.
TMAP_DEVICE void surface_leaf(const surface *s, tmap_ask_work *work) {
    const tmap_ask_region *t = &work->region;
    tmap_u32 i, wx = work->sides.x, wy = work->sides.y;
    while (tmap_ask_take(work, &i)) {
        tmap_u64 x = t->x0 + i % wx, y = t->y0 + i / wx % wy, z = t->z0 + i / wx / wy;
        if (i != TMAP_ASK_NO_ELEMENT && x < t->x1 && y < t->y1 && z < t->z1)
            s->out[(z * s->n + y) * s->n + x] = surface_f(s, (float)x, (float)y, (float)z) < 0;
    }
}
#define TMAP_ASK_NAME   surface
#define TMAP_ASK_PARAMS surface
#define TMAP_ASK_DIMS   3
#include <threadmap/adaptive/ask_stamp.h> // defines surface_ask
__global__ void full_grid(surface s) {   // every voxel
    tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x, n = s.n;
    if (i < n * n * n)
        s.out[i] = surface_f(&s, (float)(i % n), (float)(i / n % n), (float)(i / n / n)) < 0;
}
enum { SURFACE, N, G, R, SIDE, FORM, PICTURE, OPTIONS };
static const char *const names[] = {"--surface", "--n", "--g", "--r", "--B", "--form", "--picture"};
static const char *const surfaces[] = {"sphere", "torus", "gyroid"};
static const char help[] =
    "usage: 08_implicit_surface [OPTION VALUE]...\n"
    "  --surface    sphere, torus or gyroid (gyroid); --form: sbr or mbr (mbr)\n"
    "  --n          voxels along each axis, 1 to 1024 (auto: 256; on the CPU machine 64)\n"
    "  --g --r --B  parts at first, parts of a part, side at which cutting ends (4, 2, 2)\n"
    "  --picture    nine slices, or none: octants blue and white, single voxels orange and yellow\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";
static void bad(const char *what, const char *value) { // one line, whatever the value
    int length = (int)strcspn(value, "\r\n");
    fprintf(stderr, "08_implicit_surface: %s: '%.*s' (see --help)\n", what, length, value);
    exit(2);
}
static tmap_u32 number(const char *what, const char *text, tmap_u32 least, tmap_u32 most) {
    char *end;
    unsigned long long v = strtoull(text, &end, 10); // what does not fit saturates
    if (*text < '0' || *text > '9' || *end || v < least || v > most) bad(what, text);
    return (tmap_u32)v;
}
// Nine slices across z, three in a row. Renamed when complete: no half-written file has its name.
static void picture(const char *path, const unsigned char *voxels, tmap_u32 n) {
    static unsigned char pixels[3072 * 3072][3];
    tmap_u32 grow = 1 + 255 / n, w = 3 * n * grow, i = 0;
    char part[1024];
    for (tmap_u32 y = 0; y < w; ++y)
        for (tmap_u32 x = 0; x < w; ++x, ++i) {
            tmap_u64 vx = x / grow % n, vy = y / grow % n, vz = y * 3 / w * 3 + x * 3 / w;
            int v = voxels[((2 * vz + 1) * n / 18 * n + vy) * n + vx], level = v / 2;
            for (int k = 0; k < 3 && x % (n * grow) && y % (n * grow); ++k) // black lines between
                pixels[i][k] = (unsigned char)(level ? (v & 1 ? 70 + 60 * k : 255) - 8 * level
                                                     : (v & 1 ? 214 - 85 * k : 250 - 20 * k * k));
        }
    int length = snprintf(part, sizeof part, "%s.part", path);
    FILE *file = *path && length < (int)sizeof part ? fopen(part, "wb") : NULL;
    if (!file) bad("cannot write the picture", path);
#if TMAP_SAMPLE_PNG
    png_image image = {NULL, PNG_IMAGE_VERSION, w, w, PNG_FORMAT_RGB, 0, 0, 0, ""};
    int ok = png_image_write_to_stdio(&image, file, 0, pixels, 0, NULL);
#else
    int ok = fprintf(file, "P6\n%u %u\n255\n", w, w) > 0 && fwrite(pixels, 3, i, file) == i;
#endif
    if (fclose(file) || !ok || rename(part, path)) remove(part), bad("cannot write", path);
}

int main(int argc, char **argv) {
    const char *text[] = {"gyroid", "auto", "4", "2", "2", "mbr", PICTURE_NAME};
    surface s = {0, 0, NULL};
    int devices, form = TMAP_ASK_SBR;
    float ms[2]; // of the full grid, of octants
    tmap_ask_workspace work;
    tmap_ask_counts counts;
    cudaEvent_t event[2];
    cudaDeviceProp gpu;
    for (int i = 1; i < argc; i += 2) {
        int o = 0;
        if (!strcmp(argv[i], "--help")) return fputs(help, stdout) < 0;
        while (o < OPTIONS && strcmp(argv[i], names[o])) ++o;
        if (o == OPTIONS) bad("unknown option", argv[i]);
        if (i + 1 == argc) bad("no value after", argv[i]);
        text[o] = argv[i + 1];
    }
    for (; strcmp(text[SURFACE], surfaces[s.kind]); ++s.kind)
        if (s.kind == GYROID) bad("no such --surface", text[SURFACE]);
    for (; strcmp(text[FORM], tmap_ask_form_name(form)); ++form)
        if (form == TMAP_ASK_MBR) bad("no such --form", text[FORM]);
    tmap_ask_params a = {number("no --g", text[G], 1, 1024), number("no --r", text[R], 2, 100),
                         number("no --B", text[SIDE], 1, 1024)};
    if (strcmp(text[N], "auto")) s.n = number("no --n from 1 to 1024", text[N], 1, 1024);
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    int cpu = !strcmp(gpu.name, "CPU SIMT machine");
    if (!s.n) s.n = cpu ? 64 : 256;
    tmap_u64 n = s.n, voxels = n * n * n, evaluated = 0, wrong = 0;
    if (!tmap_ask_workspace_bytes(n, n, n, a, 0)) bad("--B is more than n / --g", text[SIDE]);
    unsigned char *full = (unsigned char *)calloc(2, voxels), *got = full + voxels;
    if (!full || cudaMalloc((void **)&s.out, voxels)) bad("no memory for this --n", text[N]);
    CHECK(tmap_ask_workspace_create(n, n, n, a, 0, &work));
    for (int i = 0; i < 2; ++i) CHECK(cudaEventCreate(&event[i]));
    for (int i = 0; i < 4; ++i) { // each twice: the second run is timed
        CHECK(cudaMemset(s.out, 0x5a, voxels));
        CHECK(cudaEventRecord(event[0]));
        if (i < 2)
            full_grid<<<(unsigned)((voxels + 255) / 256), 256>>>(s);
        else
            CHECK(surface_ask(&s, form, TMAP_ASK_STREAM, &work, 0));
        CHECK(cudaEventRecord(event[1]));
        CHECK(cudaMemcpy(i < 2 ? full : got, s.out, voxels, cudaMemcpyDeviceToHost));
        CHECK(cudaEventElapsedTime(&ms[i / 2], event[0], event[1]));
    }
    CHECK(tmap_ask_counts_read(&work, &counts, 0));
    for (tmap_u64 i = 0; i < voxels; ++i) {
        float f = surface_f(&s, (float)(i % n), (float)(i / n % n), (float)(i / n / n));
        // Where f is 0 but for rounding, host and GPU may differ; the two kernels may not.
        wrong += (got[i] & 1) != full[i] || (fabsf(f) > 1e-5f && full[i] != (f < 0));
        evaluated += got[i] < 2;
    }
    for (tmap_u32 l = 0; l < counts.levels; ++l) evaluated += counts.level[l].regions;
    if (!wrong && strcmp(text[PICTURE], "none")) picture(text[PICTURE], got, s.n);
    for (int i = 0; i < 2; ++i) CHECK(cudaEventDestroy(event[i]));
    CHECK(tmap_ask_workspace_destroy(&work));
    CHECK(cudaFree(s.out));
    free(full);
    printf("machine          surface     voxels    g   r   B form  evaluations of full   full ms"
           "        ms speedup verified\n%-16s %-7s %10llu %4u %3u %3u %-4s %12llu %6.2f%% %9.4f "
           "%9.4f %6.2fx %s\n",
           cpu ? "CPU machine" : gpu.name, text[SURFACE], voxels, a.g, a.r, a.B, text[FORM],
           evaluated, 100.0 * (double)evaluated / (double)voxels, ms[0], ms[1], ms[0] / ms[1],
           wrong ? "NO" : "yes");
    if (cpu) puts("Times of the CPU machine say nothing about a GPU.");
    return wrong != 0;
}
