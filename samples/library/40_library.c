// SPDX-License-Identifier: MIT
// 40_library.c: the library from plain C, without nvcc: friends of friends. Points are linked if they
// are within a radius of each other; linked points are of one group, directly or through others.
// cc -I include samples/library/40_library.c -o friends -L build/library -lthreadmap
#include <stdio.h>
#include <stdlib.h>
#include <threadmap/library.h>

enum { N = 2000 };

// Ends the program if a call fails, and says why.
static void check(int error, const char *what) {
    if (!error) return;
    fprintf(stderr, "%s: %s\n", what, threadmap_error_text(error));
    exit(1);
}

// The labels by all pairs: the smallest number in each point's group.
static void reference(float points[N][3], float squared, unsigned *label) {
    for (unsigned i = 0; i < N; ++i) label[i] = i;
    for (int moved = 1; moved;) {
        moved = 0;
        for (int i = 0; i < N; ++i)
            for (int j = 0; j < N; ++j) {
                const float x = points[i][0] - points[j][0], y = points[i][1] - points[j][1];
                const float z = points[i][2] - points[j][2];
                if (label[j] >= label[i] || x * x + y * y + z * z > squared) continue;
                label[i] = label[j], moved = 1;
            }
    }
}

int main(void) {
    static float points[N][3];
    static unsigned labels[N], want[N];
    unsigned random = 1, count, wrong = 0;
    void *device, *workspace;
    for (int i = 0; i < 3 * N; ++i) { // whole numbers, so that squares are exact
        random = random * 1664525u + 1013904223u;
        points[i / 3][i % 3] = (float)(random >> 24);
    }

    // [snippet: library]
    tmap_u64 bytes;
    if (threadmap_allocate(&device, sizeof points)) return puts("SKIP: no GPU"), 77;
    check(threadmap_copy(device, points, sizeof points, 0), "points");

    threadmap_groups_job job = {
        .near_by = {.points = device, .n = N, .d = 3, .type = THREADMAP_F32, .radius = 14}};
    check(threadmap_allocate((void **)&job.labels, sizeof labels), "labels");
    check(threadmap_allocate((void **)&job.count, sizeof count), "count");
    check(threadmap_groups(&job, 0, &bytes, 0), "the size of the workspace");
    check(threadmap_allocate(&workspace, bytes), "the workspace");
    check(threadmap_groups(&job, workspace, &bytes, 0), "groups");

    check(threadmap_copy(labels, job.labels, sizeof labels, 0), "labels");
    check(threadmap_copy(&count, job.count, sizeof count, 0), "count");
    // [/snippet]

    reference(points, 14 * 14, want);
    for (int i = 0; i < N; ++i) wrong += labels[i] != want[i];
    printf("%d points: %u groups, workspace of %llu bytes: %s\n", N, count, bytes,
           wrong ? "WRONG" : "ok");
    threadmap_release(device), threadmap_release(workspace);
    threadmap_release(job.labels), threadmap_release(job.count);
    return wrong != 0;
}
