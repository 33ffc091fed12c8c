// SPDX-License-Identifier: MIT
// driver.h: what a benchmark has besides its kernels: options, rows, a table on the terminal, and
// the results as JSON, in the form that bench/README.md describes.
//
// A benchmark is a table of options and loops over its rows. A loop begins a row, names it by keys,
// and asks whether it is wanted; prepares it, verifies it on poisoned memory, times and ends it:
//
//     bench_row row = bench_row_begin(d, "pairs", "count", "triangle");
//     bench_key(&row, "size", "%u", n);                     // the name: pairs/count/triangle/3000
//     if (!bench_wants(d, &row)) return;
//     bench_verify(&row, wrong_pairs_of(...), "pairs");     // one that is wrong ends the program
//     row.limit_ms = bytes / bandwidth;
//     bench_key(&row, "hits", "%llu", hits);                // asked before: no part of the name
//     bench_row_run(d, &row, body, context);                // ms, noise_pct, limit_ms, limit_pct
//
// A row that nothing has verified is not written. The file of the results appears whole or not at
// all (output.h).
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include "energy.h"
#include "output.h"

#include <threadmap/core.h>

#include <ctype.h>
#include <stdarg.h>
#include <time.h>

// ---- options ------------------------------------------------------------------------------------

// The most numbers of one option.
enum { BENCH_NUMBERS = 16 };
typedef struct bench_numbers {
    tmap_u32 value[BENCH_NUMBERS];
    int count;
} bench_numbers;

// What `to` of an option points to: a tmap_u64; a double, which is given as a whole number;
// bench_numbers, separated by commas; tmap_u32[2], given as A:B or A; a const char *.
enum { BENCH_NUMBER, BENCH_REAL, BENCH_LIST, BENCH_RANGE, BENCH_TEXT, BENCH_KINDS };

// One option. value: the default, or null; quick: that of --quick, or null where it is the same.
// least, most: of its numbers.
typedef struct bench_option {
    const char *name, *help, *value, *quick;
    int kind;
    void *to;
    tmap_u64 least, most;
} bench_option;

static const char *bench_name = "bench"; // in messages

// One line, and exit status 2.
static void bench_bad(const char *option, const char *value) {
    fprintf(stderr, "bench_%s: %s: bad value '%s'\n", bench_name, option, value ? value : "");
    exit(2);
}

// The number that *text begins with; *text goes on behind it.
static tmap_u64 bench_number_at(const bench_option *o, const char **text) {
    const char *begin = *text;
    char *end;
    tmap_u64 n;
    if (!isdigit((unsigned char)*begin)) bench_bad(o->name, begin);
    n = strtoull(begin, &end, 10);
    if (n < o->least || n > o->most) bench_bad(o->name, begin);
    *text = end;
    return n;
}

static void bench_option_set(const bench_option *o, const char *text) {
    const char *p = text;
    bench_numbers *list = (bench_numbers *)o->to;
    tmap_u32 *range = (tmap_u32 *)o->to;
    if (!text) return;
    switch (o->kind) {
    case BENCH_NUMBER: *(tmap_u64 *)o->to = bench_number_at(o, &p); break;
    case BENCH_REAL: *(double *)o->to = (double)bench_number_at(o, &p); break;
    case BENCH_LIST:
        for (list->count = 0; *p; p += *p == ',') {
            if (list->count == BENCH_NUMBERS) bench_bad(o->name, text);
            list->value[list->count++] = (tmap_u32)bench_number_at(o, &p);
            if (*p && *p != ',') bench_bad(o->name, text);
        }
        break;
    case BENCH_RANGE:
        range[0] = range[1] = (tmap_u32)bench_number_at(o, &p);
        if (*p == ':') ++p, range[1] = (tmap_u32)bench_number_at(o, &p);
        if (range[1] < range[0]) bench_bad(o->name, text);
        break;
    default: *(const char **)o->to = text; return;
    }
    if (*p) bench_bad(o->name, text);
}

// 1 if a list of names separated by commas has this one; a null list has every name.
static int bench_listed(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *p = list; p && *p; p += *p == ',') {
        const size_t n = strcspn(p, ",");
        if (n == length && !strncmp(p, name, n)) return 1;
        p += n;
    }
    return !list;
}

// ---- the driver ---------------------------------------------------------------------------------

// The benchmark sets the first members: its name and options; the defaults of --budget and --limit,
// as texts, without and with --quick (a null limit: there is none); queued: whether all work of a
// sample is queued before any of it begins (timing.h). It reads the others.
typedef struct bench_driver {
    const char *name;
    const bench_option *options;
    int option_count;
    const char *budget, *quick_budget, *limit, *quick_limit;
    int queued;

    int quick, list;
    const char *work, *variants, *filter, *out;
    double budget_ms, limit_s, energy_ms;
    bench_energy_meter meter; // where energies are measured
    tmap_u64 bytes;           // of the memory whose bandwidths are measured
    bench_ceilings ceilings;
    struct timespec begin;
    int rows, left_out;
    output to;
    FILE *file; // that of `to`; null: nothing is written
} bench_driver;

// Seconds since the program began.
static double bench_seconds(const bench_driver *d) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - d->begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - d->begin.tv_nsec);
}

// 1 where nothing new may start.
static int bench_late(const bench_driver *d) {
    return d->limit_s > 0 && bench_seconds(d) >= d->limit_s;
}

enum { BENCH_OWN = 8, BENCH_OPTIONS = 24 };

static void bench_help(const bench_driver *d, const bench_option *all, int count) {
    static const char *const values[BENCH_KINDS] = {"N", "N", "N,N,...", "A:B", "TEXT"};
    printf("usage: bench_%s [--list] [--quick] [OPTION VALUE]...\n"
           "  --list  names of the rows, without measuring\n  --quick  few rows\n",
           d->name);
    for (int k = 0; k < count; ++k) {
        const bench_option *o = &all[k];
        printf("  %s %s  %s", o->name, values[o->kind], o->help);
        if (o->value)
            printf(" (%s%s%s)", o->value, o->quick ? "; --quick: " : "", o->quick ? o->quick : "");
        puts("");
    }
}

// Sets all options. Those of the benchmark come first, and may have the name of one of these.
static void bench_parse(bench_driver *d, int argc, char **argv) {
    const bench_option own[BENCH_OWN] = {
        {"--work", "only these works", 0, 0, BENCH_TEXT, &d->work, 0, 0},
        {"--variants", "only these variants", 0, 0, BENCH_TEXT, &d->variants, 0, 0},
        {"--filter", "only rows with all of these texts in /NAME/", 0, 0, BENCH_TEXT, &d->filter, 0,
         0},
        {"--budget", "milliseconds of samples of a time", d->budget, d->quick_budget, BENCH_REAL,
         &d->budget_ms, 0, 100000},
        {"--bytes", "memory for the bandwidths", "4294967296", 0, BENCH_NUMBER, &d->bytes, 1 << 16,
         1ull << 40},
        {"--energy", "milliseconds for the energy of a row, 0 for none", "0", 0, BENCH_REAL,
         &d->energy_ms, 0, 100000},
        {"--out", "the results, as JSON", 0, 0, BENCH_TEXT, &d->out, 0, 0},
        {"--limit", "seconds after which nothing new starts", d->limit, d->quick_limit, BENCH_REAL,
         &d->limit_s, 0, 1u << 30}};
    const int count = d->option_count + BENCH_OWN - !d->limit;
    bench_option all[BENCH_OPTIONS];
    memcpy(all, d->options, (size_t)d->option_count * sizeof *all);
    memcpy(all + d->option_count, own, sizeof own);
    for (int i = 1; i < argc; ++i) d->quick |= !strcmp(argv[i], "--quick");
    for (int k = count - 1; k >= 0; --k)
        bench_option_set(&all[k], d->quick && all[k].quick ? all[k].quick : all[k].value);
    for (int i = 1; i < argc; ++i) {
        int k = 0;
        if (!strcmp(argv[i], "--help")) bench_help(d, all, count), exit(0);
        if (!strcmp(argv[i], "--list")) d->list = 1;
        if (!strcmp(argv[i], "--list") || !strcmp(argv[i], "--quick")) continue;
        while (k < count && strcmp(argv[i], all[k].name)) ++k;
        if (k == count || !argv[i + 1]) bench_bad(argv[i], argv[i + 1]);
        bench_option_set(&all[k], argv[++i]);
    }
}

// ---- the file of the results --------------------------------------------------------------------

// A text as a JSON string; characters that JSON would have to escape are left out.
static void bench_json_text(FILE *file, const char *text) {
    fputc('"', file);
    for (; text && *text; ++text)
        if (*text >= ' ' && *text != '"' && *text != '\\') fputc(*text, file);
    fputc('"', file);
}

static void bench_json_meta(FILE *file, const char *key, const char *text) {
    fprintf(file, "    \"%s\": ", key);
    bench_json_text(file, text ? text : "unknown");
    fputs(",\n", file);
}

// Writes what is known before the first row. What the program cannot know comes from the variables
// TMAP_COMMIT, TMAP_DRIVER, TMAP_NVCC, TMAP_SM_CLOCK_MHZ.
static void bench_open(bench_driver *d) {
    struct cudaDeviceProp device;
    char date[32];
    const time_t now = time(NULL);
    const char *clock = getenv("TMAP_SM_CLOCK_MHZ");
    if (!d->out) return;
    if (output_open(&d->to, d->out)) bench_bad("--out", d->out);
    d->file = d->to.file;
    CHECK(cudaGetDeviceProperties(&device, 0));
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fputs("{\n  \"meta\": {\n", d->file);
    bench_json_meta(d->file, "bench", d->name);
    bench_json_meta(d->file, "commit", getenv("TMAP_COMMIT"));
    bench_json_meta(d->file, "date", date);
    bench_json_meta(d->file, "gpu", device.name);
    bench_json_meta(d->file, "driver", getenv("TMAP_DRIVER"));
    bench_json_meta(d->file, "cuda", getenv("TMAP_NVCC"));
    fprintf(d->file, "    \"sm_clock_mhz\": %d,\n", clock ? atoi(clock) : 0);
    fprintf(d->file, "    \"copy_tbs\": %.3f,\n    \"fill_tbs\": %.3f,\n    \"read_tbs\": %.3f\n",
            d->ceilings.copy_tbs, d->ceilings.fill_tbs, d->ceilings.read_tbs);
    fputs("  },\n  \"rows\": [", d->file);
}

// ---- rows ---------------------------------------------------------------------------------------

// The compiler compares what is printed with its format, which is argument number `at`.
#define BENCH_FORMAT(at) __attribute__((format(printf, at, at + 1)))

typedef struct bench_row {
    const char *work, *variant;
    double budget_ms, limit_ms; // limit_ms: the least time that is possible, or 0
    int queued, asked, verified;
    const char *rate, *unit; // what is done in a second: its key and unit, or null for none
    double each;             // what a run does; divided by milliseconds it has that unit
    bench_time time;
    char name[192], keys[2560]; // name: with a slash on both sides
} bench_row;

// Appends a key, whose value is given as to printf. Until the row is asked for, its name gets the
// value, too.
BENCH_FORMAT(3) static void bench_key(bench_row *row, const char *key, const char *format, ...) {
    char value[1100];
    const size_t name = strlen(row->name), keys = strlen(row->keys);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    snprintf(row->keys + keys, sizeof row->keys - keys, "%s\"%s\":%s", keys ? "," : "", key, value);
    if (row->asked) return;
    if (*value == '"') value[strlen(value) - 1] = 0;
    snprintf(row->name + name, sizeof row->name - name, "%s/", value + (*value == '"'));
}

// The same, of a text without quotation marks.
static void bench_key_text(bench_row *row, const char *key, const char *text) {
    bench_key(row, key, "\"%s\"", text);
}

static bench_row bench_row_begin(const bench_driver *d, const char *work, const char *variant,
                                 const char *domain) {
    bench_row row;
    memset(&row, 0, sizeof row);
    row.work = work, row.variant = variant;
    row.budget_ms = d->budget_ms, row.queued = d->queued;
    row.name[0] = '/';
    bench_key_text(&row, "work", work);
    bench_key_text(&row, "variant", variant);
    bench_key_text(&row, "domain", domain);
    return row;
}

// The name without its outer slashes; until the next call.
static const char *bench_row_name(const bench_row *row) {
    static char name[sizeof row->name];
    const size_t length = strlen(row->name);
    snprintf(name, sizeof name, "%.*s", length > 2 ? (int)length - 2 : 0, row->name + 1);
    return name;
}

// 1 if the row is to be measured, now. With --list its name is printed instead.
static int bench_wants(bench_driver *d, bench_row *row) {
    char part[64];
    row->asked = 1;
    if (!bench_listed(d->work, row->work) || !bench_listed(d->variants, row->variant)) return 0;
    for (const char *p = d->filter; p && *p; p += *p == ',') {
        const size_t length = strcspn(p, ",");
        snprintf(part, sizeof part, "%.*s", (int)length, p);
        if (!strstr(row->name, part)) return 0;
        p += length;
    }
    if (d->list) puts(bench_row_name(row)), ++d->rows;
    if (!d->list && bench_late(d)) ++d->left_out;
    if (d->list || bench_late(d)) return 0;
    if (isatty(fileno(stderr)) || getenv("TMAP_PROGRESS"))
        fprintf(stderr, "\r%d rows, %.0f s, now %-60.60s\r", d->rows, bench_seconds(d),
                bench_row_name(row));
    return 1;
}

// A row that is wanted and cannot be had: why, as to printf.
BENCH_FORMAT(2) static inline void bench_left_out(const bench_row *row, const char *format, ...) {
    va_list arguments;
    printf("| %s | left out: ", bench_row_name(row));
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    puts(" |");
}

// The end of a run in which a row is wrong; what is wrong is given as to printf.
BENCH_FORMAT(2) static void bench_wrong(const bench_row *row, const char *format, ...) {
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "bench_%s: %s: WRONG, ", bench_name, bench_row_name(row));
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

// A number in device memory, for a kernel to count in from 0; and what the kernel has counted.
static tmap_u64 *bench_counter_at;
static inline tmap_u64 *bench_counter(void) {
    if (!bench_counter_at) CHECK(cudaMalloc((void **)&bench_counter_at, sizeof(tmap_u64)));
    CHECK(cudaMemset(bench_counter_at, 0, sizeof(tmap_u64)));
    return bench_counter_at;
}
static inline tmap_u64 bench_count(void) {
    tmap_u64 count;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&count, bench_counter_at, sizeof count, cudaMemcpyDeviceToHost));
    return count;
}

// Ends the run if something is wrong, or if a guard of the memory of kit.h was written; else the row
// may be timed.
static inline void bench_verify(bench_row *row, tmap_u64 wrong, const char *what) {
    if (wrong) bench_wrong(row, "%llu %s", wrong, what);
    for (int i = 0; i < kit_block_count; ++i) {
        const kit_block b = kit_blocks[i];
        if (b.kind == 2 && !(kit_device_all(b.base, KIT_GUARD, KIT_POISON) &&
                             kit_device_all(b.base + KIT_GUARD + b.bytes, KIT_GUARD, KIT_POISON)))
            bench_wrong(row, "written beside a result");
    }
    row->verified = 1;
}

// Gives a verified row its time.
static void bench_row_time(bench_row *row, bench_time t) {
    if (!row->verified) bench_wrong(row, "timed before it was verified");
    row->time = t;
    bench_key(row, "ms", "%.6g", t.ms);
    bench_key(row, "noise_pct", "%.2f", t.noise_pct);
    if (row->rate) bench_key(row, row->rate, "%.6g", row->each / t.ms);
    if (!(row->limit_ms > 0)) return;
    bench_key(row, "limit_ms", "%.6g", row->limit_ms);
    bench_key(row, "limit_pct", "%.4g", 100 * row->limit_ms / t.ms);
}

// Times a verified row.
static bench_time bench_time_row(bench_row *row, bench_body body, void *context) {
    const bench_time t = row->queued ? bench_measure_queued(body, context, row->budget_ms)
                                     : bench_measure(body, context, row->budget_ms);
    bench_row_time(row, t);
    return t;
}

// Writes a row, for the reader and for the file.
static void bench_row_end(bench_driver *d, bench_row *row) {
    const double ms = row->time.ms;
    if (row->verified) bench_key(row, "verified", "true");
    if (strlen(row->keys) + 2 > sizeof row->keys) bench_wrong(row, "too many keys");
    if (ms > 0) {
        printf("| %-56s | %10.4f | %5.1f%% |", bench_row_name(row), ms, row->time.noise_pct);
        if (row->unit)
            printf(" %9.4g %-10s |", row->each / ms, row->unit);
        else
            printf(" %20s |", "");
        if (row->limit_ms > 0)
            printf(" %7.1f%% |\n", 100 * row->limit_ms / ms);
        else
            printf(" %8s |\n", "");
        fflush(stdout);
    }
    ++d->rows;
    if (!d->file) return;
    fprintf(d->file, "%s\n{%s}", d->rows > 1 ? "," : "", row->keys);
    fflush(d->file);
}

// Adds the energy of a run of a row that has its time, if the options ask for it and it is known.
static inline void bench_energy_row(const bench_driver *d, bench_row *row, bench_body body,
                                    void *context) {
    const double millijoules =
        d->energy_ms > 0 ? bench_energy(&d->meter, body, context, row->time.ms, d->energy_ms) : 0;
    if (millijoules > 0) bench_key(row, "millijoules", "%.6g", millijoules);
}

// Times a verified row and writes it.
static inline void bench_row_run(bench_driver *d, bench_row *row, bench_body body, void *context) {
    bench_time_row(row, body, context);
    bench_energy_row(d, row, body, context);
    bench_row_end(d, row);
}

// ---- a run --------------------------------------------------------------------------------------

// Takes the options, measures the bandwidths, and begins the table and the file. Ends the program
// with 77 where there is no GPU. What a benchmark does between this and bench_end is its rows.
static void bench_begin(bench_driver *d, int argc, char **argv) {
    int devices = 0;
    clock_gettime(CLOCK_MONOTONIC, &d->begin);
    bench_name = d->name;
    bench_parse(d, argc, argv);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        exit(77);
    }
    if (d->list) return;
    if (d->energy_ms > 0) d->meter = bench_energy_open();
    d->ceilings = bench_measure_ceilings((size_t)d->bytes);
    bench_open(d);
    printf("copy %.3f TB/s, fill %.3f TB/s, read %.3f TB/s\n\n", d->ceilings.copy_tbs,
           d->ceilings.fill_tbs, d->ceilings.read_tbs);
    printf("| %-56s | %10s | %6s | %20s | %8s |\n"
           "| ---------- | ---------: | -----: | ---------: | -------: |\n",
           "row", "ms", "noise", "rate", "of limit");
}

// The end of the program: its exit status, 2 where there was no row at all.
static int bench_end(bench_driver *d) {
    kit_release(0);
    if (d->left_out) printf("\nout of time: %d rows left out (--limit)\n", d->left_out);
    if (!d->rows && !d->left_out) {
        fprintf(stderr, "bench_%s: no such row\n", bench_name);
        exit(2);
    }
    if (!d->file) return 0;
    fputs("\n]\n}\n", d->file);
    d->file = NULL;
    if (output_close(&d->to, 1)) bench_bad("--out", d->out);
    return 0;
}

#endif
