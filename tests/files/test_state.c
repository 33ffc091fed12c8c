// SPDX-License-Identifier: MIT
// test_state.c: samples/files/state.h: what the files of corpus/ hold and how they are written
// again, byte for byte; what is refused, with which line; and that nothing is lost where writing
// fails.
//
// With the words read PATH or write PATH FRACTAL LEVEL WORD_LEVEL TYPE VALUES it reads a state, or
// writes one of bytes i * 7 % 251, but for idle bits, for state_test.py.
#include "files/files_check.h"

// Calls that may fail: the so many-th from now; 0: none. writes: that were called.
static int failing_rename, failing_write, failing_close, writes;

static int test_rename(const char *from, const char *to) {
    if (failing_rename && !--failing_rename) return errno = EIO, -1;
    return rename(from, to);
}

static size_t test_write(const void *from, size_t size, size_t count, FILE *file) {
    ++writes;
    if (failing_write && !--failing_write) return errno = ENOSPC, 0;
    return fwrite(from, size, count, file);
}

static int test_close(FILE *file) {
    const int failed = fclose(file);
    if (failing_close && !--failing_close) return errno = ENOSPC, EOF;
    return failed;
}

#define rename test_rename
#define fwrite test_write
#define fclose test_close
#include "../samples/files/state.h"
#undef rename
#undef fwrite
#undef fclose
#include "files/state_text_check.h"

static char folder[3000];

// A path in a folder of this test; stays as it is until the fourth next call.
static const char *place(const char *name) {
    static char paths[4][4000];
    static int at;
    at = (at + 1) % 4;
    snprintf(paths[at], sizeof paths[at], "%s/%s", folder, name);
    return paths[at];
}

static void folder_make(void) {
    const char *root = getenv("TMPDIR");
    for (int i = 0; i < 10000; ++i) {
        snprintf(folder, sizeof folder, "%s/threadmap-state-%d", root ? root : "/tmp", i);
        if (mkdir(folder, 0700) == 0) return;
    }
    exit(1);
}

static void put(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size, "%s", path);
    if (file) fclose(file);
}

static int exists(const char *path) {
    struct stat about;
    return stat(path, &about) == 0;
}

// 1 if two files have the same bytes.
static int same(const char *a, const char *b) {
    char error[200] = "";
    input x, y;
    int is = input_open(&x, a, error, sizeof error) == 0;
    if (!is || input_open(&y, b, error, sizeof error))
        return input_close(&x), CHECK(0, "%s", error), 0;
    is = x.size == y.size && !memcmp(x.data, y.data, (size_t)x.size);
    input_close(&x), input_close(&y);
    return is;
}

// Nothing but NAME.npy and NAME.json, if `pair`, is in the folder.
static void clean(const char *name, int pair) {
    static const char *const ends[] = {".npy.part0", ".json.part0", ".npy.old0"};
    char file[100];
    for (int i = 0; i < 3; ++i) {
        snprintf(file, sizeof file, "%s%s", name, ends[i]);
        CHECK(!exists(place(file)), "%s", file);
    }
    for (int i = 0; i < 2; ++i) {
        snprintf(file, sizeof file, "%s%s", name, i ? ".json" : ".npy");
        CHECK(exists(place(file)) == pair, "%s", file);
        if (pair) remove(place(file));
    }
}

static state_info info(const char *rows, unsigned level, int word_level, const char *type,
                       unsigned values) {
    state_info s;
    memset(&s, 0, sizeof s);
    snprintf(s.fractal, sizeof s.fractal, "%s", rows);
    snprintf(s.type, sizeof s.type, "%s", type);
    s.level = level, s.words = word_level >= 0, s.values = values;
    s.word_level = word_level > 0 ? (unsigned)word_level : 0;
    return s;
}

// ---- pairs of files -----------------------------------------------------------------------------

// A pair of corpus/ holds these bytes, and is written again as it is.
static void known(const char *name, const state_info *want, const void *bytes) {
    char error[300] = "", array[100], text[100];
    void *memory = NULL;
    state_info s;
    snprintf(array, sizeof array, "%s.npy", name);
    snprintf(text, sizeof text, "%s.json", name);
    const int result = state_read(corpus(array), &s, &memory, error, sizeof error);
    CHECK(result == 0 && !error[0], "%s", error);
    if (result) return;
    CHECK(!strcmp(s.fractal, want->fractal) && s.words == want->words && s.level == want->level &&
              s.word_level == want->word_level && !strcmp(s.type, want->type) &&
              s.values == want->values && s.step == want->step,
          "%s: level %llu, %s, step %llu", name, s.level, s.type, s.step);
    CHECK(!memcmp(memory, bytes, (size_t)s.bytes), "%s: other bytes", name);
    CHECK(state_write(place(array), want, memory, error, sizeof error) == 0, "%s", error);
    CHECK(same(place(array), corpus(array)) && same(place(text), corpus(text)), "%s", name);
    clean(name, 1);
    free(memory);
}

static void check_known(void) {
    const uint32_t words[] = {0x5a5a5a5, 1, 0x4000000};
    float flow[16];
    state_info s = info("#./##", 4, 3, "u4", 1);
    s.step = 100;
    known("life", &s, words);
    s = info("###/#.#/###", 1, -1, "f4", 2);
    s.step = ~0ull;
    for (int i = 0; i < 16; ++i) flow[i] = (float)i / 4 - 1;
    known("flow", &s, flow);
}

// A state of bytes, in parts of so many elements, is the same when it is read in parts of others.
static void again(state_info s, unsigned part_write, unsigned part_read) {
    char error[300] = "";
    state_file f;
    unsigned char *bytes, *got;
    CHECK(state_create(&f, place("a.npy"), &s, error, sizeof error) == 0, "%s", error);
    if (error[0]) return;
    const size_t size = (size_t)f.s.bytes, each = size / (size_t)f.s.elements;
    bytes = (unsigned char *)malloc(size), got = (unsigned char *)malloc(size);
    for (size_t i = 0; i < size; ++i)
        bytes[i] =
            (unsigned char)(s.words && state_cells(&f.s) != 8 * each ? i % each == 0 : i * 7 % 251);
    for (size_t at = 0, n = part_write * each; at < size; at += n)
        CHECK(state_append(&f, bytes + at, at + n < size ? n : size - at) == 0, "%s", error);
    CHECK(state_append(&f, bytes, 0) == 0 && state_commit(&f) == 0, "%s", error);
    CHECK(state_append(&f, bytes, 0) == -1 && state_commit(&f) == -1, "after its end");
    CHECK(state_open(&f, place("a.npy"), error, sizeof error) == 0, "%s", error);
    CHECK(f.s.words == s.words && f.s.bytes == size && !strcmp(f.s.fractal, s.fractal), "%s",
          f.s.fractal);
    for (size_t at = 0, n = part_read * each; at < size; at += n)
        CHECK(state_next(&f, got + at, at + n < size ? n : size - at) == 0, "%s", error);
    CHECK(state_close(&f) == 0 && !memcmp(bytes, got, size), "%s", error);
    CHECK(state_next(&f, got, 0) == -1 && state_close(&f) == -1, "after its end");
    free(bytes), free(got);
    clean("a", 1);
}

static void check_again(void) {
    static const char *const types[] = {"u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"};
    for (unsigned i = 0; i < 10; ++i)
        for (unsigned values = 1; values <= 16; values += 5) {
            again(info("#./##", i % 5, -1, types[i], values), 1 + i, 3);
            again(info("#..#/####/####/#..#", i % 3, -1, types[i], values), 1000, 7);
        }
    again(info("###/#.#/###", 3, 2, "u8", 1), 3, 8);         // no idle bits
    again(info("#..#/####/####/#..#", 2, 1, "u2", 1), 1, 5); // 12 of 16
    again(info("#./##", 6, 0, "u2", 1), 1000, 1);            // a bit of each word
    again(info("#", 64, 64, "u8", 1), 1, 1);
    again(info("#", 64, -1, "f4", 4), 1, 1);
}

// Writes a pair of 27 bytes as NAME.npy and NAME.json.
static void pair_make(const char *name, int step) {
    char error[300] = "", bytes[27], file[100];
    state_info s = info("#./##", 3, -1, "u1", 1);
    for (int i = 0; i < 27; ++i) bytes[i] = (char)(i + step);
    s.step = (unsigned)step;
    snprintf(file, sizeof file, "%s.npy", name);
    CHECK(state_write(place(file), &s, bytes, error, sizeof error) == 0, "%s", error);
}

// The pair r of the folder is refused, with a line that ends so; and vanishes.
static void refused(const char *line) {
    char error[300] = "";
    void *memory;
    state_info s;
    memset(&s, 0xa5, sizeof s);
    memset(&memory, 0xa5, sizeof memory);
    CHECK(state_read(place("r.npy"), &s, &memory, error, sizeof error) == -1, "%s", line);
    CHECK(content_poisoned(&s, sizeof s) && content_poisoned(&memory, sizeof memory), "%s", line);
    const char *found = strstr(error, line);
    CHECK(found && !found[strlen(line)], "%s\n    instead of %s", error, line);
    CHECK(state_read(place("r.npy"), &s, &memory, NULL, 0) == -1, "%s", line);
    remove(place("r.npy")), remove(place("r.json"));
}

// The same, of a pair whose array has other bytes: `size` of them, patched.
static void refused_array(long size, size_t at, const char *digits, const char *line) {
    char error[200] = "";
    content c;
    input in;
    pair_make("r", 5);
    if (input_open(&in, place("r.npy"), error, sizeof error)) return CHECK(0, "%s", error);
    c.bytes = (unsigned char *)calloc((size_t)in.size + 100, 1);
    c.size = (size_t)((long)in.size + size);
    memcpy(c.bytes, in.data, size < 0 ? c.size : (size_t)in.size);
    input_close(&in);
    put(place("r.npy"), content_patch(c, at, digits).bytes, c.size);
    free(c.bytes);
    refused(line);
}

// The same, of a pair of which one is of another state.
static void refused_mixed(const state_info *other, const void *bytes, const char *line) {
    char error[300] = "";
    pair_make("r", 5);
    CHECK(state_write(place("o.npy"), other, bytes, error, sizeof error) == 0, "%s", error);
    rename(place("o.json"), place("r.json"));
    remove(place("o.npy"));
    refused(line);
}

static void check_pairs(void) {
    static const unsigned char zeros[4096] = {0};
    char error[300] = "";
    state_info s, other;
    void *memory;
    // one is missing, or no file
    pair_make("r", 5);
    remove(place("r.json"));
    refused("r.json: cannot be opened: No such file or directory");
    pair_make("r", 5);
    remove(place("r.npy"));
    refused("r.npy: cannot be opened: No such file or directory");
    pair_make("r", 5);
    remove(place("r.npy"));
    mkdir(place("r.npy"), 0700);
    refused("r.npy: cannot be opened: Invalid argument");
    CHECK(state_read("life.json", &s, &memory, error, sizeof error) == -1 &&
              !strcmp(error, "life.json: the name of a state ends with .npy"),
          "%s", error);
    CHECK(state_read(".npy", &s, &memory, error, sizeof error) == -1, "no name");
    // the array
    refused_array(-1, 0, "", "its shape needs 27 bytes, but 26 are there");
    refused_array(1, 0, "", "its shape needs 27 bytes, but 28 are there");
    refused_array(-27, 0, "", "its shape needs 27 bytes, but 0 are there");
    refused_array(-28, 0, "", "r.npy: ends inside its head");
    refused_array(-155, 0, "", "r.npy: no .npy file");
    refused_array(0, 0, "00", "r.npy: no .npy file");
    refused_array(0, 154, "00", "its CRC-32 is caa7c5b8, but its description says 47afc84d");
    refused_array(0, 61, "32382c", "has not the shape of 27 elements of 1 values");
    refused_array(0, 21, "7c6931", "has values of type i1, but its description says u1");
    refused_array(0, 21, "3c6332", "has values of another type than u1 u2 i1 i2 i4 f4 f8 u4 u8 i8");
    // the other one of a pair
    other = info("#./##", 4, -1, "u1", 1);
    refused_mixed(&other, zeros, "has not the shape of 81 elements of 1 values");
    other = info("#./##", 3, -1, "u2", 1);
    refused_mixed(&other, zeros, "has values of type u1, but its description says u2");
    other = info("#./##", 3, -1, "u1", 3);
    refused_mixed(&other, zeros, "has not the shape of 27 elements of 3 values");
    other = info("#./##", 3, -1, "u1", 2);
    CHECK(state_write(place("r.npy"), &other, zeros, error, sizeof error) == 0, "%s", error);
    CHECK(rename(place("r.npy"), place("two.npy")) == 0, "rename");
    other.values = 3;
    CHECK(state_write(place("r.npy"), &other, zeros, error, sizeof error) == 0, "%s", error);
    CHECK(rename(place("two.npy"), place("r.npy")) == 0, "rename");
    refused("has not the shape of 27 elements of 3 values");
    other = info("#./##", 3, -1, "u1", 1);
    refused_mixed(&other, zeros, "its CRC-32 is 47afc84d, but its description says 1a7a52b3");
    // a description that is long
    pair_make("r", 5);
    char *text = (char *)malloc(5000);
    memset(text, ' ', 5000);
    put(place("r.json"), text, 4097);
    refused("r.json: is longer than the 4096 bytes of a description");
    free(text);
    // bits that are idle, the other byte order
    const uint16_t words[3] = {0xfff, 0, 0x1000};
    other = info("#..#/####/####/#..#", 1, 1, "u2", 1);
    CHECK(state_write(place("r.npy"), &other, words, error, sizeof error) == 0, "%s", error);
    clean("r", 1);
    error[0] = 0;
    CHECK(state_write(place("r.npy"), &other, words + 2, error, sizeof error) == -1 &&
              strstr(error, "r.npy: word 0 has bits beyond its 12 cells"),
          "%s", error);
    clean("r", 0);
    CHECK(state_write(place("r.npy"), &other, words, error, sizeof error) == 0, "%s", error);
    FILE *file = fopen(place("r.npy"), "r+b");
    fseek(file, 128, SEEK_SET);
    fwrite(words + 2, 2, 1, file);
    fclose(file);
    refused("word 0 has bits beyond its 12 cells");
    CHECK(state_write(place("r.npy"), &other, words, error, sizeof error) == 0, "%s", error);
    file = fopen(place("r.npy"), "r+b");
    fseek(file, 21, SEEK_SET);
    fputs(input_u16((const unsigned char *)words, 0) == 0xfff ? ">" : "<", file);
    fclose(file);
    refused("r.npy: is of the other byte order");
    // parts that cannot be
    state_file f;
    other = info("#./##", 3, -1, "u2", 1);
    for (int i = 0; i < 3; ++i) {
        static const char *const lines[] = {
            "f.npy: a part of 3 bytes, where 54 of elements of 2 are left",
            "f.npy: a part of 56 bytes, where 54 of elements of 2 are left",
            "f.npy: ends after 0 of its 54 bytes"};
        CHECK(state_create(&f, place("f.npy"), &other, error, sizeof error) == 0, "%s", error);
        CHECK(i == 2 ? state_commit(&f) == -1 : state_append(&f, zeros, i ? 56 : 3) == -1, "%d", i);
        CHECK(strstr(error, lines[i]), "%s\n    instead of %s", error, lines[i]);
        clean("f", 0);
    }
    CHECK(state_create(&f, place("f.npy"), &other, error, sizeof error) == 0, "%s", error);
    state_drop(&f);
    clean("f", 0);
    pair_make("r", 5);
    CHECK(state_open(&f, place("r.npy"), error, sizeof error) == 0, "%s", error);
    CHECK(state_close(&f) == -1 && strstr(error, "r.npy: 0 of its 27 bytes were read"), "%s",
          error);
    clean("r", 1);
    other.level = 65;
    CHECK(state_create(&f, place("f.npy"), &other, error, sizeof error) == -1 &&
              strstr(error, "f.npy: its level is 65, not 0 to 64"),
          "%s", error);
    clean("f", 0);
}

// ---- writing that fails -------------------------------------------------------------------------

// Writing over a pair fails with a line that ends so; then the pair is what it was.
static void fails(const char *name, const char *line) {
    const state_info s = info("#./##", 3, -1, "u1", 1);
    char error[300] = "", bytes[27] = {0}, file[100];
    snprintf(file, sizeof file, "%s.npy", name);
    CHECK(state_write(place(file), &s, bytes, error, sizeof error) == -1, "%s", line);
    failing_rename = failing_write = failing_close = 0;
    CHECK(strstr(error, line) && strstr(error, file), "%s\n    instead of %s", error, line);
}

static void check_faults(void) {
    char error[300] = "";
    void *memory = NULL;
    state_info s;
    fails("none/none", "none.npy: cannot be written: No such file or directory");
    writes = 0;
    pair_make("k", 9);
    clean("k", 1);
    const int most = writes; // the elements, and the head where npy.h is included here first
    CHECK(most == 1 || most == 2, "%d writes", most);
    for (int there = 0; there < 2; ++there) {
        for (int i = 1; i <= 2 + there; ++i) { // each rename
            if (there) pair_make("k", 9), pair_make("keep", 9);
            failing_rename = i;
            fails("k", "k.npy: cannot be written: Input/output error");
            if (there)
                CHECK(same(place("k.npy"), place("keep.npy")) &&
                          same(place("k.json"), place("keep.json")),
                      "rename %d: the files are not what they were", i);
            clean("k", there), clean("keep", there);
        }
        for (int i = 1; i <= most + 2; ++i) { // and the ends of both files
            if (there) pair_make("k", 9);
            if (i <= most) failing_write = i;
            if (i > most) failing_close = i - most + 2 * there; // behind those of state_part
            fails("k", "k.npy: cannot be written: No space left on device");
            if (there)
                CHECK(state_read(place("k.npy"), &s, &memory, error, sizeof error) == 0 &&
                          s.step == 9,
                      "%s", error),
                    free(memory);
            clean("k", there);
        }
    }
    // what is there and is no file
    mkdir(place("d.npy"), 0700);
    fails("d", "d.npy: cannot be written: Is a directory");
    CHECK(remove(place("d.npy")) == 0, "the folder is gone");
    mkdir(place("d.json"), 0700);
    fails("d", "d.npy: cannot be written: Is a directory");
    CHECK(remove(place("d.json")) == 0, "the folder is gone");
    clean("d", 0);
    // rights stay, what is protected stays, and what another program has begun
    struct stat about;
    pair_make("m", 1);
    chmod(place("m.json"), 0640);
    pair_make("m", 2);
    CHECK(stat(place("m.json"), &about) == 0 && (about.st_mode & 0777) == 0640, "%o",
          about.st_mode);
    chmod(place("m.json"), 0440);
    FILE *file = fopen(place("m.json"), "r+b");
    if (file)
        fclose(file); // by the superuser, for whom nothing is
    else
        fails("m", "m.npy: cannot be written: Permission denied");
    put(place("m.npy.part0"), "mine", 4);
    put(place("m.npy.old0"), "mine", 4);
    chmod(place("m.json"), 0640);
    pair_make("m", 3);
    CHECK(same(place("m.npy.part0"), place("m.npy.old0")), "another program's files");
    remove(place("m.npy.part0")), remove(place("m.npy.old0"));
    clean("m", 1);
}

// A link stays: what it leads to is replaced, or stays as it is where writing fails.
static void check_links(void) {
    static const char *const ends[] = {"npy", "json"};
    char error[300] = "", name[100];
    const state_info s = info("#./##", 3, -1, "u1", 1);
    struct stat about;
    void *memory = NULL;
    state_info found;
    mkdir(place("far"), 0700);
    for (int i = 0; i < 2; ++i) { // the far names are other names, and longer
        char to[100];
        snprintf(to, sizeof to, "far/a-longer-name-than-the-link-has.%s.%s", ends[i], ends[i]);
        snprintf(name, sizeof name, "l.%s", ends[i]);
        put(place(to), "old", 3);
        CHECK(symlink(to, place(name)) == 0, "%s", name);
    }
    pair_make("l", 9);
    for (int i = 0; i < 4; ++i) { // a rename that fails, and none
        failing_rename = i;
        if (i) fails("l", "l.npy: cannot be written: Input/output error");
        for (int j = 0; j < 2; ++j) {
            snprintf(name, sizeof name, "l.%s", ends[j]);
            CHECK(lstat(place(name), &about) == 0 && !S_ISREG(about.st_mode), "no link: %s", name);
            snprintf(name, sizeof name, "far/a-longer-name-than-the-link-has.%s.%s", ends[j],
                     ends[j]);
            CHECK(exists(place(name)), "%s", name);
        }
        CHECK(state_read(place("l.npy"), &found, &memory, error, sizeof error) == 0 &&
                  found.step == 9,
              "after rename %d: %s", i, error);
        free(memory), memory = NULL;
    }
    clean("l", 1);
    for (int i = 0; i < 2; ++i) {
        snprintf(name, sizeof name, "far/a-longer-name-than-the-link-has.%s.%s", ends[i], ends[i]);
        CHECK(remove(place(name)) == 0, "%s", name);
    }
    CHECK(remove(place("far")) == 0, "far: something is left");
    // a link to nothing, to itself, and both names to one file
    CHECK(symlink("nothing", place("n.npy")) == 0, "a link");
    fails("n", "n.npy: cannot be written: No such file or directory");
    CHECK(lstat(place("n.npy"), &about) == 0 && remove(place("n.npy")) == 0, "the link is gone");
    CHECK(symlink("n.json", place("n.json")) == 0, "a link");
    fails("n", "n.npy: cannot be written: Too many levels of symbolic links");
    CHECK(remove(place("n.json")) == 0, "the link is gone");
    put(place("n.json"), "old", 3);
    CHECK(symlink("n.json", place("n.npy")) == 0, "a link");
    CHECK(state_write(place("n.npy"), &s, name, error, sizeof error) == -1 &&
              strstr(error, "n.npy: cannot be written: File exists"),
          "%s", error);
    clean("n", 1);
}

// ---- for numpy ----------------------------------------------------------------------------------

static int write_one(char **words) {
    char error[300];
    state_info s = info(words[3], (unsigned)atoi(words[4]), atoi(words[5]), words[6],
                        (unsigned)atoi(words[7]));
    input in = input_make(NULL, 0, error, sizeof error);
    if (state_sizes(&in, &s)) return fprintf(stderr, "%s\n", error), 2;
    unsigned char *bytes = (unsigned char *)malloc((size_t)s.bytes);
    const unsigned each = npy_bytes(NPY_TYPES_ALL, s.type), cells = state_cells(&s);
    for (size_t i = 0; bytes && i < s.bytes; ++i) bytes[i] = (unsigned char)(i * 7 % 251);
    for (size_t i = 0; bytes && s.words && i < s.elements; ++i) {
        const uint64_t mask = cells < 64 ? (1ull << cells) - 1 : ~0ull;
        const uint32_t mask4 = (uint32_t)mask;
        const uint16_t mask2 = (uint16_t)mask;
        const void *masks = each == 8   ? (const void *)&mask
                            : each == 4 ? (const void *)&mask4
                                        : &mask2;
        for (unsigned b = 0; b < each; ++b)
            bytes[each * i + b] &= ((const unsigned char *)masks)[b];
    }
    const int result = !bytes || state_write(words[2], &s, bytes, error, sizeof error);
    free(bytes);
    return result ? fprintf(stderr, "%s\n", error), 2 : 0;
}

int main(int count, char **words) {
    char error[300] = "";
    if (count == 8 && !strcmp(words[1], "write")) return write_one(words);
    if (count == 3 && !strcmp(words[1], "read")) {
        void *memory;
        state_info s;
        if (state_read(words[2], &s, &memory, error, sizeof error))
            return fprintf(stderr, "%s\n", error), 2;
        free(memory);
        printf("%s level %llu, %s, %llu elements, step %llu\n", s.fractal, s.level,
               s.words ? "words" : "cells", s.elements, s.step);
        return 0;
    }
    folder_make();
    check_checksum();
    check_fractal();
    check_json();
    check_known();
    check_again();
    check_pairs();
    check_faults();
    check_links();
    CHECK(remove(folder) == 0, "%s: something is left", folder);
    return check_result("test_state");
}
