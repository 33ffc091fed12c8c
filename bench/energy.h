// SPDX-License-Identifier: MIT
// energy.h: the energy of device work, by NVML's counter of this GPU. NVML is loaded at run time,
// so that nothing depends on it; where it or the counter is missing, there is no energy.
#ifndef BENCH_ENERGY_H
#define BENCH_ENERGY_H

#include "timing.h"

#include <dlfcn.h>

typedef struct bench_energy_meter {
    void *device; // null: no counter
    int (*read)(void *device, unsigned long long *millijoules);
} bench_energy_meter;

// The functions of the library, by their types: 0 is success.
static bench_energy_meter bench_energy_open(void) {
    bench_energy_meter meter = {NULL, NULL};
#if defined(__NVCC__) // the CPU machine uses no energy
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    int (*init)(void), (*find)(const char *, void **);
    char bus[32];
    unsigned long long now;
    if (!library) return meter;
    *(void **)&init = dlsym(library, "nvmlInit_v2");
    *(void **)&find = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&meter.read = dlsym(library, "nvmlDeviceGetTotalEnergyConsumption");
    if (!init || !find || !meter.read || init()) return meter;
    if (cudaDeviceGetPCIBusId(bus, (int)sizeof bus, 0) || find(bus, &meter.device))
        meter.device = NULL;
    if (meter.device && meter.read(meter.device, &now)) meter.device = NULL;
#endif
    return meter;
}

// Millijoules of one run of body, from as many runs as take `span_ms`, a fair multiple of the
// counter's 20 to 100 ms; ms: time of a run. 0: not known.
static double bench_energy(const bench_energy_meter *meter, bench_body body, void *context,
                           double ms, double span_ms) {
    unsigned long long before, after;
    int runs = ms > 0 ? (int)(span_ms / ms) + 1 : 1;
    if (!meter->device) return 0;
    for (int i = 0; i < runs / 4 + 1; ++i) body(context); // until the clock has settled
    CHECK(cudaDeviceSynchronize());
    if (meter->read(meter->device, &before)) return 0;
    for (int i = 0; i < runs; ++i) body(context);
    CHECK(cudaDeviceSynchronize());
    if (meter->read(meter->device, &after) || after <= before) return 0;
    return (double)(after - before) / runs;
}

#endif
