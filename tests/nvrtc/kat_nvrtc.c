// SPDX-License-Identifier: MIT
// kat_nvrtc.c: known answers through NVRTC. The kernel of KAT_PATH.cu is compiled at run time, which
// needs no GPU; where there is one the driver runs it on the vectors, else the test is skipped after
// the compilation. Built once for each set of answers, with KAT_PATH, KAT_NAME and KAT_FILE, the header that
// reads them, given as strings.
#include "driver.h"
#include "nvrtc.h"
#include KAT_FILE

int main(void) {
    nvrtc compiler = nvrtc_load();
    kat_file file = kat_read();
    const char *root = getenv("TMAP_ROOT");
    char source[1000], include_path[1000], maps_path[1000];
    const char *options[3] = {include_path, maps_path, "--gpu-architecture=compute_75"};
    char *ptx;

    snprintf(source, sizeof source, "%s/tests/%s.cu", root ? root : ".", KAT_PATH);
    snprintf(include_path, sizeof include_path, "--include-path=%s/include", root ? root : ".");
    snprintf(maps_path, sizeof maps_path, "--include-path=%s/tests", root ? root : ".");
    ptx = nvrtc_compile_file(&compiler, source, 3, options);
    if (!ptx) return 1;
    printf("compiled: %zu bytes of PTX\n", strlen(ptx));

    driver gpu = driver_load();
    void *module, *kernel;
    driver_must(gpu.module_load(&module, ptx), "load");
    driver_must(gpu.function_get(&kernel, module, KAT_NAME), KAT_NAME);

    size_t n = file.vector_count;
    kat_answer *answers = (kat_answer *)kit_host(n * sizeof *answers);
    driver_memory vectors_gpu, answers_gpu;
    driver_must(gpu.alloc(&vectors_gpu, n * sizeof *file.vectors), "vectors");
    driver_must(gpu.alloc(&answers_gpu, n * sizeof *answers), "answers");
    driver_must(gpu.to_gpu(vectors_gpu, file.vectors, n * sizeof *file.vectors), "copy");
    driver_must(gpu.to_gpu(answers_gpu, answers, n * sizeof *answers), "poison");
    tmap_u32 count = (tmap_u32)n;
    void *args[] = {&vectors_gpu, &answers_gpu, &count};
    driver_must(gpu.launch(kernel, (count + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, args, NULL),
                "launch");
    driver_must(gpu.synchronize(), "kernel");
    driver_must(gpu.from_gpu(answers, answers_gpu, n * sizeof *answers), "copy back");
    kat_compare(&file, answers);
    driver_must(gpu.release(vectors_gpu), "free");
    driver_must(gpu.release(answers_gpu), "free");
    free(ptx);
    return kit_end(KAT_NAME "_nvrtc");
}
