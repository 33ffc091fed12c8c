// SPDX-License-Identifier: MIT
// 17_gravity.cu: a sum over all other points for each of n points (tmap_pairs_rows). The engine
// visits each pair once and adds to both of its points. Here it is the acceleration of each body:
//     a_i = sum over all j != i of mass_j (r_j - r_i) / (|r_j - r_i|^2 + SOFT)^(3/2)
// Two discs that turn around heavy bodies pass each other, and pull tails out of each other.
// nvcc -O3 -arch=native -I include samples/triangle/17_gravity.cu -o gravity
#include "../check.h"
#include "../picture.h"

#include <threadmap/triangle/pairs_rows.h>

enum {
    N = 768,          // bodies, half of them in each disc
    FRAMES = 5,       // of the picture, side by side
    STEPS = 30,       // from a frame to the next
    FRAME = 128,      // elements of a frame, each way
    GAP = 3,          // elements between two frames
    FIRST = 0xd04020, // colours
    SECOND = 0x2b6ca8,
    CENTRE = 0x202020,
    GROUND = 0xf0f2f4
};
#define SOFT  0.01f // keeps the attraction of close bodies finite
#define DT    0.02f // the time of a step
#define SHOWN 2.0f  // a frame shows coordinates from -SHOWN to SHOWN

typedef struct gravity {
    const float3 *body;    // x, y, and the mass in z
    tmap_pairs_rows_to to; // the result for each body, and workspace for the engine
} gravity;

// The acceleration of body a by body b if the mass of b were 1.
TMAP_FN float2 pull(float3 a, float3 b) {
    const float x = b.x - a.x;
    const float y = b.y - a.y;
    const float inverse = rsqrtf(x * x + y * y + SOFT);
    const float weight = inverse * inverse * inverse;
    return make_float2(weight * x, weight * y);
}

TMAP_FN void add(float2 *sum, float times, float2 v) {
    sum->x += times * v.x;
    sum->y += times * v.y;
}

// [snippet: rows]
TMAP_DEVICE void attract(void *, tmap_pair, const void *a, const void *b, void *to_a, void *to_b) {
    const float3 body_a = *(const float3 *)a;
    const float3 body_b = *(const float3 *)b;
    const float2 v = pull(body_a, body_b);
    add((float2 *)to_a, body_b.z, v);
    add((float2 *)to_b, -body_a.z, v);
}

TMAP_DEVICE void join(void *, void *sum, const void *other) {
    add((float2 *)sum, 1, *(const float2 *)other);
}

__global__ void __launch_bounds__(TMAP_PAIRS_THREADS, 4) sum(tmap_pairs_plan plan, gravity g) {
    const tmap_points points = {g.body, 0, sizeof(float), 3}; // one set, 3 floats each
    const float2 zero = {0, 0};
    const tmap_fold fold = {&zero, sizeof zero, join};
    tmap_pairs_rows(&plan, points, attract, fold, g.to, 0);
}
// [/snippet]

// Two discs on their way to each other. Bodies 0 and 1 are their heavy centres, of mass 1.
static void begin(float3 *body, float2 *speed) {
    for (int i = 0; i < N; ++i) {
        const float side = i % 2 ? 1 : -1;
        const float radius = i < 2 ? 0 : 0.15f + 0.5f * sqrtf((float)i / N);
        const float x = radius * cosf(2.4f * (i / 2));
        const float y = radius * sinf(2.4f * (i / 2));
        const float turn = powf(radius * radius + SOFT, -0.75f); // the disc's speed / radius
        body[i] = make_float3(1.2f * side + x, y, i < 2 ? 1 : 0.2f / N);
        speed[i] = make_float2(-0.55f * side - turn * y, 0.46f * side + turn * x);
    }
}

static void draw_frame(picture *p, unsigned frame, const float3 *body) {
    const unsigned left = frame * (FRAME + GAP);
    for (unsigned i = 0; i < FRAME * FRAME; ++i)
        picture_set(p, left + i % FRAME, i / FRAME, GROUND);
    for (int i = N - 1; i >= 0; --i) { // the centres last
        const unsigned colour = i < 2 ? CENTRE : i % 2 ? SECOND : FIRST;
        const float x = (body[i].x + SHOWN) / (2 * SHOWN) * FRAME;
        const float y = (body[i].y + SHOWN) / (2 * SHOWN) * FRAME;
        if (x >= 0 && x < FRAME && y >= 0 && y < FRAME)
            picture_set(p, left + (unsigned)x, (unsigned)y, colour);
    }
    printf("frame %u: body 0 is at (%7.4f, %7.4f)\n", frame, body[0].x, body[0].y);
}

// Moves the bodies by a step. Returns how many accelerations differ from sums over all bodies.
static int move(float3 *body, float2 *speed, const float2 *acceleration) {
    int wrong = 0;
    for (int i = 0; i < N; ++i) {
        float2 rest = acceleration[i]; // less the pulls of all bodies; body i adds 0 to itself
        for (int j = 0; j < N; ++j) add(&rest, -body[j].z, pull(body[i], body[j]));
        wrong += !(hypotf(rest.x, rest.y) <
                   1e-4f + 1e-5f * hypotf(acceleration[i].x, acceleration[i].y));
        add(&speed[i], DT, acceleration[i]);
    }
    for (int i = 0; i < N; ++i)
        body[i] = make_float3(body[i].x + DT * speed[i].x, body[i].y + DT * speed[i].y, body[i].z);
    return wrong;
}

int main(void) {
    check_gpu();
    float2 speed[N];
    float3 *body;
    CHECK(cudaMallocManaged((void **)&body, N * sizeof *body));
    begin(body, speed);
    picture p = picture_make(FRAMES * (FRAME + GAP) - GAP, FRAME, 2,
                             "Two discs after 0, 30, 60, 90, 120 steps");
    int wrong = 0;
    gravity g = {body, {NULL, NULL, NULL}};
    tmap_pairs_plan plan;
    CHECK(tmap_pairs_rows_plan_make(N, 3, sizeof(float), sizeof(float2), (const void *)sum, &plan));
    CHECK(cudaMalloc(&g.to.workspace, tmap_pairs_rows_bytes(&plan, sizeof(float2))));
    CHECK(cudaMemset(g.to.workspace, 0, tmap_pairs_rows_clear(&plan))); // once
    CHECK(cudaMallocManaged(&g.to.result, N * sizeof(float2)));

    for (int step = 0; step < FRAMES * STEPS; ++step) {
        if (step % STEPS == 0) draw_frame(&p, step / STEPS, body);
        CHECK(tmap_pairs_rows_launch(&plan, &g, 0)); // the accelerations of all bodies
        CHECK(cudaDeviceSynchronize());
        wrong += move(body, speed, (const float2 *)g.to.result);
    }
    CHECK(cudaFree(body));
    CHECK(cudaFree(g.to.workspace));
    CHECK(cudaFree(g.to.result));
    picture_key(&p, FIRST, "first disc");
    picture_key(&p, SECOND, "second disc");
    picture_key(&p, CENTRE, "their centres");
    picture_save(&p, "gravity");
    return check_result("bodies that attract each other", wrong);
}
