// SPDX-License-Identifier: MIT
// 17_gravity.cu: bodies that pull on each other by tmap_pairs_rows, which does each pair once.
// nvcc -O3 -arch=native -I include samples/triangle/17_gravity.cu -o gravity
#include <threadmap/triangle/pairs_rows.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
enum { N = 256, STEPS = 30, FRAMES = 6, WIDTH = 34, HEIGHT = 15, ROW = 3 * WIDTH };
// [snippet: rows]
typedef struct world {
    float body[N][3], speed[N][2], pull[N][2]; // a body is its x, y and mass
} world;
TMAP_FN void give(void *, tmap_pair, const void *a, const void *b, void *to_i, void *to_j) {
    const float *u = (const float *)a, *v = (const float *)b, x = v[0] - u[0], y = v[1] - u[1];
    const float r = rsqrtf(0.01f + x * x + y * y), w = r * r * r;
    ((float *)to_i)[0] += v[2] * w * x, ((float *)to_i)[1] += v[2] * w * y;
    ((float *)to_j)[0] -= u[2] * w * x, ((float *)to_j)[1] -= u[2] * w * y;
}
TMAP_DEVICE void join(void *, void *sum, const void *other) {
    for (int k = 0; k < 2; ++k) ((float *)sum)[k] += ((const float *)other)[k];
}
__global__ void __launch_bounds__(TMAP_PAIRS_THREADS) pulls(tmap_pairs_plan plan, world *w) {
    const float zero[2] = {0, 0};
    const tmap_points bodies = {w->body, 0, sizeof(float), 3};
    const tmap_fold sum = {zero, sizeof zero, join};
    const tmap_pairs_rows_to to = {w + 1, w->pull, 0}; // the workspace is behind the world
    tmap_pairs_rows(&plan, bodies, give, sum, to, 0);
}
// [/snippet]
int main(void) {
    static world w, *device;
    static int sheet[FRAMES / 3 * HEIGHT * ROW], devices, wrong; // sheet: bodies in a place
    tmap_pairs_plan plan;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (int i = 0; i < N; ++i) {
        const float r = sqrtf((float)i / N), x = 1.6f * r * cosf(1.2f * i), y = r * sinf(1.2f * i);
        w.body[i][0] = x, w.body[i][1] = y, w.body[i][2] = 1.f / N;
        w.speed[i][0] = -0.4f * y, w.speed[i][1] = 0.4f * x;
    }
    CHECK(tmap_pairs_rows_plan_make(N, 3, 4, 8, (const void *)pulls, &plan));
    CHECK(cudaMalloc((void **)&device, sizeof w + tmap_pairs_rows_bytes(&plan, 8)));
    CHECK(cudaMemset(device + 1, 0, tmap_pairs_rows_clear(&plan))); // once
    for (int t = 0; t < FRAMES * STEPS; ++t) {
        float want[N][2] = {{0}}, *p = w.body[0];
        CHECK(cudaMemcpy(device, &w, sizeof w, cudaMemcpyHostToDevice));
        CHECK(tmap_pairs_rows_launch(&plan, &device, 0));
        CHECK(cudaMemcpy(&w, device, sizeof w, cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; ++i, p += 3) { // the same on the host; then this body moves
            const int x = (int)((p[0] + 2) * WIDTH / 4), y = (int)((p[1] + 2) * HEIGHT / 4);
            if (t % STEPS == 0 && p[0] > -2 && x < WIDTH && p[1] > -2 && y < HEIGHT)
                ++sheet[(t / STEPS / 3 * HEIGHT + y) * ROW + t / STEPS % 3 * WIDTH + x];
            for (int j = i + 1; j < N; ++j) give(0, tmap_pair(), p, w.body[j], want[i], want[j]);
            for (int k = 0; k < 2; ++k) {
                wrong += !(fabsf(want[i][k] - w.pull[i][k]) < 1e-4f);
                p[k] += 0.02f * (w.speed[i][k] += 0.02f * w.pull[i][k]);
            }
        }
    }
    for (int i = 0; i < FRAMES / 3 * HEIGHT * ROW; ++i)
        printf("%c%s", " .:*#"[sheet[i] < 4 ? sheet[i] : 4], (i + 1) % ROW ? "" : "\n");
    printf("6 frames from (-2, -2) to (2, 2), %d steps apart: %s\n", STEPS, wrong ? "WRONG" : "ok");
    return cudaFree(device) || wrong;
}
