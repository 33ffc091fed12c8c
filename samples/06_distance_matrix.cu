// SPDX-License-Identifier: MIT
// 06_distance_matrix.cu: the distances of all pairs of points of a file, by the ready kernel of
// pdist.h, as an .npy file that scipy.spatial.distance.squareform opens, and a heat map of them.
//
// The file holds the condensed matrix: (0,1) (0,2) ... (0,n-1) (1,2) ..., n(n-1)/2 float32 values.
//
// Compile: nvcc -I include 06_distance_matrix.cu -o distance_matrix
// For PNG instead of PPM pictures, add: -DTMAP_SAMPLE_PNG=1 -lpng
#include <threadmap/kernels/pdist.h>

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if TMAP_SAMPLE_PNG
#include <png.h>
#define PICTURE_NAME "distances.png"
#else
#define PICTURE_NAME "distances.ppm"
#endif

#define CHECK(call) \
    if ((status = (call)) != cudaSuccess) { \
        fprintf(stderr, "06_distance_matrix: %s: %s\n", #call, cudaGetErrorString(status)); \
        exit(1); \
    }
static cudaError_t status; // of the last CUDA call

enum { INPUT, METRIC, OUT, PICTURE, OPTIONS };
static const char *const options[] = {"--input", "--metric", "--out", "--picture"};
static const char help[] =
    "usage: 06_distance_matrix [--input FILE] [--metric M] [--out FILE] [--picture FILE]\n"
    "Writes the distances of all pairs of points, and checks each of them on the host.\n"
    "  --input    .npy of float32 or float64, n x d in C order, or text: a point a line, numbers\n"
    "             parted by commas or blanks, # begins a comment (auto: a spiral of points)\n"
    "  --metric   euclidean, sqeuclidean, cityblock or cosine (euclidean)\n"
    "  --out      .npy file for the condensed float32 distances, or none (distances.npy)\n"
    "  --picture  file of the heat map, or none (" PICTURE_NAME ")\n"
    "Points are taken as float32. Exit status: 0 verified, 1 wrong, 2 bad input, 77 no GPU.\n";

static void bad(const char *what, const char *value) { // one line, whatever the value
    fprintf(stderr, "06_distance_matrix: %s: '%.*s' (see --help)\n", what,
            (int)strcspn(value, "\r\n"), value);
    exit(2);
}

static float *points; // n x d
static tmap_u64 n, d, room;

static void add(double value, const char *path) {
    if (!isfinite((float)value))
        bad("a coordinate that is not finite, or beyond float32, in", path);
    if (n * d >= room &&
        !(points = (float *)realloc(points, (room = 2 * room + 64) * sizeof(float))))
        bad("no memory for", path);
    points[n * d] = (float)value; // n and d count as if all points were one
    ++n;
}

// A header is {'descr': '<f4', 'fortran_order': False, 'shape': (N, D), } and blanks.
static void read_npy(FILE *file, const char *path) {
    unsigned char head[12];
    char text[65536], *at, *end;
    int wide;
    size_t bytes = fread(head, 1, 10, file), length;
    if (bytes < 10 || (head[6] != 1 && head[6] != 2)) bad("no .npy of version 1 or 2", path);
    length = head[8] + 256u * head[9];
    if (head[6] == 2 && (fread(head + 10, 1, 2, file) < 2 || head[10] || head[11]))
        bad("a cut .npy header in", path);
    if (length >= sizeof text || fread(text, 1, length, file) < length)
        bad("a cut .npy header in", path);
    text[length] = 0;
    wide = strstr(text, "'<f8'") != NULL;
    if (!wide && !strstr(text, "'<f4'")) bad("neither '<f4' nor '<f8' values in", path);
    if (!strstr(text, "'fortran_order': False")) bad("not in C order", path);
    if (!(at = strstr(text, "'shape': ("))) bad("no shape in", path);
    tmap_u64 rows = strtoull(at + 10, &end, 10), columns = 0;
    if (*end == ',') columns = strtoull(end + 1, &end, 10);
    if (*end != ')' || !columns || rows > 1u << 24 || columns > 1u << 24 || !rows)
        bad("no shape (N, D) with N and D from 1 in", path);
    for (n = 0, d = 1; n < rows * columns;) {
        double value;
        float narrow;
        if (fread(wide ? (void *)&value : (void *)&narrow, wide ? 8 : 4, 1, file) != 1)
            bad("fewer values than its shape says in", path);
        add(wide ? value : narrow, path);
    }
    if (fgetc(file) != EOF) bad("more values than its shape says in", path);
    n = rows, d = columns;
}

static void read_text(FILE *file, const char *path) {
    static char line[1 << 20];
    tmap_u64 rows = 0, columns = 0;
    for (n = 0, d = 1; fgets(line, sizeof line, file);) {
        tmap_u64 before = n;
        if (!strchr(line, '\n') && !feof(file)) bad("a line that is too long in", path);
        line[strcspn(line, "#\r\n")] = 0;
        for (char *at = line + strspn(line, " \t"), *end; *at; at = end) {
            add(strtod(at, &end), path);
            if (end == at) bad("no number", at);
            end += strspn(end, " \t");
            if (*end == ',' || *end == ';') {
                end += 1 + strspn(end + 1, " \t");
                if (!*end) bad("a number is missing after", line);
            }
        }
        if (n == before) continue; // blank, or a comment
        if (rows++ && n - before != columns) bad("lines of different length in", path);
        columns = n - before;
    }
    n = rows, d = columns;
}

// Opens FILE.part; part_close renames it: nothing half-written ever has its name.
static char part[1100];
static FILE *part_open(const char *path) {
    FILE *file = snprintf(part, sizeof part, "%s.part", path) < 1100 ? fopen(part, "wb") : NULL;
    if (!file) bad("cannot write", path);
    return file;
}
static void part_close(FILE *file, int ok, const char *path) {
    if (fclose(file) || !ok || rename(part, path)) remove(part), bad("cannot write", path);
}

static void write_npy(const char *path, const float *distances, tmap_u64 pairs) {
    char head[129];
    int length = snprintf(head, sizeof head,
                          "%sNUMPY%c%c%c%c{'descr': '<f4', 'fortran_order': "
                          "False, 'shape': (%llu,), }",
                          "\x93", 1, 1, 118, 1, pairs);
    memset(head + length, ' ', 127 - (size_t)length);
    head[7] = 0, head[9] = 0, head[127] = '\n'; // version 1.0; 118 bytes follow
    FILE *file = part_open(path);
    int ok = fwrite(head, 128, 1, file) == 1;
    part_close(file, ok && fwrite(distances, sizeof(float), pairs, file) == pairs, path);
}

// A heat map of the square matrix, dark for near pairs, at most 1024 pixels wide.
static void write_picture(const char *path, const float *distances) {
    static unsigned char colours[256][3], pixels[1024 * 1024];
    unsigned side = n < 1024 ? (unsigned)n : 1024;
    double most = 0;
    for (tmap_u64 k = 0; k < n * (n - 1) / 2; ++k) most = distances[k] > most ? distances[k] : most;
    for (int c = 0; c < 256; ++c)
        colours[c][0] = (unsigned char)(255 * sqrt(c / 255.0)), colours[c][1] = (unsigned char)c,
        colours[c][2] = (unsigned char)(64 + (c < 128 ? c : 255 - c) + c / 4);
    for (tmap_u64 y = 0; y < side; ++y)
        for (tmap_u64 x = 0; x < side; ++x) {
            tmap_u64 i = (x < y ? x : y) * n / side, j = (x < y ? y : x) * n / side;
            double near = i == j ? 0 : distances[tmap_condensed_index(i, j, n)];
            pixels[y * side + x] = (unsigned char)(most > 0 ? 255 * (near / most) : 0);
        }
    FILE *file = part_open(path);
#if TMAP_SAMPLE_PNG
    static png_image image;
    image.version = PNG_IMAGE_VERSION, image.format = PNG_FORMAT_RGB_COLORMAP;
    image.width = side, image.height = side, image.colormap_entries = 256;
    int ok = png_image_write_to_stdio(&image, file, 0, pixels, (int)side, colours);
#else
    int ok = fprintf(file, "P6\n%u %u\n255\n", side, side) > 0;
    for (unsigned i = 0; i < side * side; ++i) ok &= fwrite(colours[pixels[i]], 3, 1, file) == 1;
#endif
    part_close(file, ok, path);
}

// The distance of points i and j in double precision, as scipy defines it, and 1 if `got` is near.
static int right(int metric, tmap_u64 i, tmap_u64 j, double got) {
    double sum = 0, uv = 0, uu = 0, vv = 0, u = 6e-8; // half a place in the last bit of a float
    for (tmap_u64 k = 0; k < d; ++k) {
        double a = points[i * d + k], b = points[j * d + k], t = a - b;
        sum += metric == TMAP_PDIST_CITYBLOCK ? fabs(t) : t * t;
        uv += a * b, uu += a * a, vv += b * b;
    }
    if (metric == TMAP_PDIST_EUCLIDEAN) sum = sqrt(sum);
    if (metric == TMAP_PDIST_COSINE) sum = fmax(0, 1 - uv / sqrt(uu * vv));
    double slack = metric == TMAP_PDIST_COSINE ? 4 * sqrt(sum) + 1e-7 * (double)d : 0;
    return fabs(got - sum) <= u * (sum * ((double)d + 8) + slack) + 1e-19;
}

int main(int argc, char **argv) {
    const char *text[OPTIONS] = {"auto", "euclidean", "distances.npy", PICTURE_NAME};
    int metric = 0, devices;
    size_t memory, total;
    cudaDeviceProp gpu;
    cudaEvent_t start, stop;
    float *gpu_points, *out, *distances, ms = 0;
    for (int i = 1; i < argc; i += 2) {
        int o = 0;
        if (!strcmp(argv[i], "--help")) return fputs(help, stdout) < 0;
        while (o < OPTIONS && strcmp(argv[i], options[o])) ++o;
        if (o == OPTIONS) bad("unknown option", argv[i]);
        if (i + 1 == argc) bad("no value after", argv[i]);
        text[o] = argv[i + 1];
    }
    while (metric < TMAP_PDIST_METRIC_COUNT && strcmp(text[METRIC], tmap_pdist_metric_name(metric)))
        ++metric;
    if (metric == TMAP_PDIST_METRIC_COUNT) bad("no such --metric", text[METRIC]);
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    int cpu = !strcmp(gpu.name, "CPU SIMT machine");
    if (strcmp(text[INPUT], "auto")) {
        FILE *file = fopen(text[INPUT], "rb");
        char magic[7] = "";
        if (!file || (fread(magic, 1, 6, file), ferror(file)) || fseek(file, 0, SEEK_SET))
            bad("cannot read", text[INPUT]);
        (strcmp(magic, "\x93NUMPY") ? read_text : read_npy)(file, text[INPUT]);
        fclose(file);
    } else {
        tmap_u64 all = cpu ? 300 : 4096;
        for (tmap_u64 i = 0; i < 3 * all; ++i) {
            double t = (double)(i / 3) / (double)all, turn = 12 * t + (double)(i % 3) * 1.5708;
            d = 1, add(i % 3 < 2 ? (1 + t) * sin(turn) : 2 * t, "auto");
        }
        n = all, d = 3;
    }
    if (n < 2) bad("fewer than two points in", text[INPUT]);
    tmap_u64 pairs = tmap_condensed_cells(n), wrong = 0;
    for (tmap_u64 i = 0; metric == TMAP_PDIST_COSINE && i < n; ++i) {
        float sum = 0;
        for (tmap_u64 k = 0; k < d; ++k) sum += fabsf(points[i * d + k]);
        if (sum == 0) bad("a point at 0 has no cosine, in", text[INPUT]);
    }
    CHECK(cudaMemGetInfo(&memory, &total));
    if ((pairs + n * d) * sizeof(float) > memory / 16 * 15) bad("no memory for", text[INPUT]);

    CHECK(cudaMalloc((void **)&gpu_points, n * d * sizeof(float)));
    CHECK(cudaMalloc((void **)&out, pairs * sizeof(float)));
    CHECK(cudaMallocHost((void **)&distances, pairs * sizeof(float)));
    CHECK(cudaMemset(out, 0x5a, pairs * sizeof(float)));
    CHECK(cudaMemcpy(gpu_points, points, n * d * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int i = 0; i < 2; ++i) { // the first warms up
        CHECK(cudaEventRecord(start));
        CHECK(tmap_pdist_f32(gpu_points, n, d, out, metric, TMAP_PDIST_CONDENSED, 0));
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
    }
    CHECK(cudaMemcpy(distances, out, pairs * sizeof(float), cudaMemcpyDeviceToHost));
    for (tmap_u64 i = 0, k = 0; i < n; ++i)
        for (tmap_u64 j = i + 1; j < n; ++j, ++k) wrong += !right(metric, i, j, distances[k]);
    if (!wrong && strcmp(text[OUT], "none")) write_npy(text[OUT], distances, pairs);
    if (!wrong && strcmp(text[PICTURE], "none")) write_picture(text[PICTURE], distances);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(gpu_points));
    CHECK(cudaFree(out));
    CHECK(cudaFreeHost(distances));
    printf("machine             points        d        pairs metric             ms   Gpair/s  "
           "verified\n"
           "%-16s %9llu %8llu %12llu %-11s %9.4f %9.3f  %s\n",
           cpu ? "CPU machine" : gpu.name, n, d, pairs, text[METRIC], ms,
           ms > 0 ? 1e-6 * (double)pairs / ms : 0, wrong ? "NO" : "yes");
    if (cpu) puts("Times of the CPU machine say nothing about a GPU.");
    free(points);
    return wrong != 0;
}
