// SPDX-License-Identifier: MIT
// 06_distance_matrix.cu: the distances of all pairs of points of a file, by the ready kernel of
// pdist.h, as an .npy file that scipy.spatial.distance.squareform opens, and a heat map of them.
// It holds the condensed matrix: (0,1) (0,2) ... (0,n-1) (1,2) ..., n(n-1)/2 float32 values.
//
// Compile: nvcc -I include 06_distance_matrix.cu -o distance_matrix
// For a PNG instead of a PGM picture, add: -DTMAP_SAMPLE_PNG=1 -lpng
#include <threadmap/triangle/pdist.h>

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if TMAP_SAMPLE_PNG
#include <png.h>
#define PICTURE_NAME "distances.png"
#else
#define TMAP_SAMPLE_PNG 0
#define PICTURE_NAME    "distances.pgm"
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
    "Writes the distances of all pairs of points and checks each of them on the host.\n"
    "  --input    .npy of float32 or float64, or text with a point a line (auto: a spiral)\n"
    "  --metric   euclidean, sqeuclidean, cityblock or cosine (euclidean)\n"
    "  --out      .npy file for the condensed float32 distances, or none (distances.npy)\n"
    "  --picture  file of the heat map, or none (" PICTURE_NAME ")\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";

static void bad(const char *what, const char *value) { // one line, whatever the value
    int length = (int)strcspn(value, "\r\n");
    fprintf(stderr, "06_distance_matrix: %s: '%.*s' (see --help)\n", what, length, value);
    exit(2);
}
static float *points; // n x d
static tmap_u64 n, d, values, room;
static void add(double value, const char *path) {
    if (!isfinite((float)value)) bad("a coordinate that is not finite in float32, in", path);
    if (values == room) points = (float *)realloc(points, (room = 2 * room + 64) * sizeof(float));
    if (!points) bad("no memory for", path);
    points[values++] = (float)value;
}

// A header is {'descr': '<f4', 'fortran_order': False, 'shape': (N, D), } and blanks.
static void read_npy(FILE *file, const char *path) {
    unsigned char head[12];
    char text[65536], *at, close;
    size_t bytes = fread(head, 1, 10, file), length = head[8] + 256u * head[9];
    if (bytes < 10 || (head[6] != 1 && head[6] != 2)) bad("no .npy of version 1 or 2", path);
    if (head[6] == 2) bytes = fread(head + 10, 1, 2, file); // of a length of 32 bits
    if (fread(text, 1, length, file) < length || !length) bad("a cut .npy header in", path);
    text[length] = 0;
    int wide = strstr(text, "'<f8'") != NULL;
    if ((!wide && !strstr(text, "'<f4'")) || !strstr(text, "'fortran_order': False"))
        bad("neither '<f4' nor '<f8' in C order:", path);
    at = strstr(text, "'shape': (");
    if (!at || sscanf(at + 10, "%llu, %llu%c", &n, &d, &close) != 3 || close != ')' ||
        (n - 1) >> 24 || (d - 1) >> 24)
        bad("no shape (N, D) with N and D from 1 in", path);
    for (double value; values < n * d;) {
        float narrow = 0;
        if (fread(wide ? (void *)&value : (void *)&narrow, wide ? 8 : 4, 1, file) != 1)
            bad("fewer values than its shape says in", path);
        add(wide ? value : narrow, path);
    }
    if (fgetc(file) != EOF) bad("more values than its shape says in", path);
}

static void read_text(FILE *file, const char *path) {
    static char line[1 << 20];
    for (tmap_u64 before = 0; fgets(line, sizeof line, file); before = values) {
        if (!strchr(line, '\n') && !feof(file)) bad("a line that is too long in", path);
        line[strcspn(line, "#\r\n")] = 0;
        for (char *at = line, *end; at += strspn(at, " \t,;"), *at; at = end) {
            double value = strtod(at, &end);
            if (end == at) bad("no number", at);
            add(value, path);
        }
        if (values == before) continue; // blank, or a comment
        if (n++ && values - before != d) bad("lines of different length in", path);
        d = values - before;
    }
}

// A head and a body, or a grey picture where there is no head. Nothing half-written has the name.
static void save(const char *path, const char *head, size_t length, const void *body,
                 size_t bytes) {
    char part[1100];
    FILE *file = snprintf(part, sizeof part, "%s.part", path) < 1100 ? fopen(part, "wb") : NULL;
    if (!file) bad("cannot write", path);
#if TMAP_SAMPLE_PNG
    static png_image image;
    image.version = PNG_IMAGE_VERSION, image.width = image.height = (png_uint_32)length;
    if (!head) bytes = !png_image_write_to_stdio(&image, file, 0, body, 0, NULL);
#endif
    int ok = head ? fwrite(head, length, 1, file) && fwrite(body, bytes, 1, file) : !bytes;
    if (fclose(file) || !ok || rename(part, path)) remove(part), bad("cannot write", path);
}

static void write_npy(const char *path, const float *distances, tmap_u64 pairs) {
    static const char form[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (%llu,), }%60s";
    char head[129] = "\x93NUMPY\1"; // then \0, and the length of the text, 118, in two bytes
    snprintf(head + 10, 119, form, pairs, "");
    head[8] = 118, head[127] = '\n';
    save(path, head, 128, distances, pairs * sizeof(float));
}

// A heat map of the square matrix, dark for near pairs, at most 1024 pixels wide.
static void write_picture(const char *path, const float *distances) {
    static unsigned char pixels[1024 * 1024];
    char head[32];
    float most = 1e-30f;
    unsigned side = n < 1024 ? (unsigned)n : 1024;
    for (tmap_u64 k = 0; k < n * (n - 1) / 2; ++k) most = distances[k] > most ? distances[k] : most;
    for (tmap_u64 y = 0; y < side; ++y)
        for (tmap_u64 x = 0; x < y; ++x) {
            float value = distances[tmap_condensed_index(x * n / side, y * n / side, n)] / most;
            pixels[y * side + x] = value > 0 ? (unsigned char)(255 * value) : 0; // NaN too
            pixels[x * side + y] = pixels[y * side + x];
        }
    size_t length = (size_t)snprintf(head, sizeof head, "P5\n%u %u\n255\n", side, side);
    save(path, TMAP_SAMPLE_PNG ? NULL : head, TMAP_SAMPLE_PNG ? side : length, pixels,
         (size_t)side * side);
}

// 1 if `got` is near the distance of points i and j, computed in double precision.
static int right(int metric, tmap_u64 i, tmap_u64 j, double got) {
    double sum = 0, uv = 0, uu = 0, vv = 0, slack = 0, u = 6e-8; // u: half a place in a float
    for (tmap_u64 k = 0; k < d; ++k) {
        double a = points[i * d + k], b = points[j * d + k], t = a - b;
        sum += metric == TMAP_PDIST_CITYBLOCK ? fabs(t) : t * t;
        uv += a * b, uu += a * a, vv += b * b;
    }
    if (metric == TMAP_PDIST_EUCLIDEAN) sum = sqrt(sum);
    if (metric == TMAP_PDIST_COSINE) sum = 1 - uv / sqrt(uu * vv), slack = 4 * sqrt(fabs(sum));
    if (sum != sum) return got != got; // the cosine of a point at 0
    return fabs(got - sum) <= u * (sum * ((double)d + 8) + slack) + 1e-15 * (double)d;
}

int main(int argc, char **argv) {
    const char *text[OPTIONS] = {"auto", "euclidean", "distances.npy", PICTURE_NAME};
    float *gpu_points, *out, *distances;
    cudaDeviceProp gpu;
    int metric = 0, devices;
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
        if (!file || !fread(magic, 1, 6, file)) bad("cannot read, or empty:", text[INPUT]);
        rewind(file);
        (strcmp(magic, "\x93NUMPY") ? read_text : read_npy)(file, text[INPUT]), fclose(file);
    } else
        for (n = cpu ? 300 : 4096, d = 3; values < n * d;)
            add(sin((double)values * 12 / (double)n + (double)(values % 3)), "auto");
    if (n < 2) bad("fewer than two points in", text[INPUT]);
    tmap_u64 pairs = tmap_condensed_cells(n), wrong = 0;
    if (cudaMalloc((void **)&gpu_points, n * d * sizeof(float)) ||
        cudaMalloc((void **)&out, pairs * sizeof(float)) ||
        cudaMallocHost((void **)&distances, pairs * sizeof(float)))
        bad("no memory for all distances of", text[INPUT]);
    CHECK(cudaMemset(out, 0x5a, pairs * sizeof(float)));
    CHECK(cudaMemcpy(gpu_points, points, n * d * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(tmap_pdist_f32(gpu_points, n, d, out, metric, TMAP_PDIST_CONDENSED, 0));
    CHECK(cudaMemcpy(distances, out, pairs * sizeof(float), cudaMemcpyDeviceToHost));
    for (tmap_u64 i = 0, k = 0; i < n; ++i)
        for (tmap_u64 j = i + 1; j < n; ++j, ++k) wrong += !right(metric, i, j, distances[k]);
    if (!wrong && strcmp(text[OUT], "none")) write_npy(text[OUT], distances, pairs);
    if (!wrong && strcmp(text[PICTURE], "none")) write_picture(text[PICTURE], distances);
    CHECK(cudaFree(gpu_points));
    CHECK(cudaFree(out));
    CHECK(cudaFreeHost(distances));
    free(points);
    printf("machine             points        d        pairs metric       verified\n"
           "%-16s %9llu %8llu %12llu %-12s %s\n",
           cpu ? "CPU machine" : gpu.name, n, d, pairs, text[METRIC], wrong ? "NO" : "yes");
    return wrong != 0;
}
