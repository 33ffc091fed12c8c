// SPDX-License-Identifier: MIT
// test_heights.c: the readers of samples/files/heights.h: what each file of corpus/ holds, and what
// is refused, with which line; what is written is read again.
#include "files/files_check.h"
#include "../samples/files/heights.h"

#define LOW -3.4028234663852886e38 // what NaN becomes in a file without a number for NODATA

typedef int reader(input *, heights *);

// A file of corpus/ holds this map. nodata: 1 for none. place: west, south, dx, dy; null for none.
static void known(const char *name, input_u64 width, input_u64 height, int type,
                  const double *values, double nodata, const double *place) {
    char error[200] = "";
    heights h;
    const int result = heights_read(corpus(name), &h, error, sizeof error);
    CHECK(result == 0 && !error[0], "%s: %s", name, error);
    if (result) return;
    CHECK(h.width == width && h.height == height && h.type == type, "%s: %llu x %llu, type %d",
          name, h.width, h.height, h.type);
    for (input_u64 i = 0; i < width * height && h.width * h.height == width * height; ++i)
        CHECK(heights_value(&h, i) == values[i], "%s: height %llu is %.17g", name, i,
              heights_value(&h, i));
    CHECK(h.has_nodata == (nodata != 1) && h.nodata == (nodata != 1 ? nodata : 0),
          "%s: nodata %d %.17g", name, h.has_nodata, h.nodata);
    CHECK(h.has_place == (place != NULL), "%s: place %d", name, h.has_place);
    if (place)
        CHECK(h.west == place[0] && h.south == place[1] && h.dx == place[2] && h.dy == place[3],
              "%s: at %.17g %.17g, %.17g x %.17g", name, h.west, h.south, h.dx, h.dy);
    heights_free(&h);
    CHECK(!h.data, "%s", name);
}

// Bytes, which are freed, are refused with a line, and also where there is no room for one.
static void refused(reader *read, content c, const char *line) {
    char error[200] = "";
    heights h;
    for (size_t room = 0; room <= sizeof error; room += sizeof error / 2) {
        input in = input_make(c.bytes, c.size, room ? error : NULL, room);
        memset(&h, 0xa5, sizeof h);
        CHECK(read(&in, &h) == -1, "%s", line);
        CHECK(content_poisoned(&h, sizeof h), "%s: the result is not as before", line);
        CHECK(!room || !strncmp(error, line, room - 1), "%s\n    instead of %s", error, line);
    }
    free(c.bytes);
}

static void refused_text(reader *read, const char *text, const char *line) {
    refused(read, content_text(text), line);
}

static void check_hgt(void) {
    const double three[] = {1, -2, 300, 4, -32768, 6, 32767, 8, -9}, two[] = {1, 2, 3, 4};
    const double north[] = {5.75, 44.75, 0.5, 0.5}, south[] = {-171.5, -2.5, 1, 1};
    const char *const names[] = {"N91E000.hgt",
                                 "N45E181.hgt",
                                 "X45E006.hgt",
                                 "N45E0061.hgt",
                                 "N4xE006.hgt",
                                 "N45E06.hgt",
                                 "",
                                 "a/b.hgt"};
    heights h;
    known("N45E006.hgt", 3, 3, HEIGHTS_I16, three, -32768, north);
    known("s02w171.hgt", 2, 2, HEIGHTS_I16, two, -32768, south);
    refused_text(hgt_read, "", "its 0 bytes are not those of a square of 2-byte heights");
    refused_text(hgt_read, "ab", "its 2 bytes are not those of a square of 2-byte heights");
    refused_text(hgt_read, "abcdefghi", "its 9 bytes are not those of a square of 2-byte heights");
    refused_text(hgt_read, "abcdef", "its 6 bytes are not those of a square of 2-byte heights");
    memset(&h, 0, sizeof h);
    h.width = h.height = 1201;
    for (int i = 0; i < 8; ++i) {
        hgt_place(names[i], &h);
        CHECK(!h.has_place && h.west == 0 && h.south == 0, "%s", names[i]);
    }
    hgt_place("/a.b/n00e000", &h);
    CHECK(h.has_place && h.dx == 1 / 1200.0 && h.west == -1 / 2400.0, "%.17g", h.west);
}

static void check_pgm(void) {
    const double eight[] = {0, 1, 2, 100, 199, 200}, sixteen[] = {0, 255, 256, 65535};
    known("grey8.pgm", 3, 2, HEIGHTS_I16, eight, 1, NULL);
    known("grey16.pgm", 2, 2, HEIGHTS_I32, sixteen, 1, NULL);
    refused_text(pgm_read, "P", "no raw PGM file (P5)");
    refused_text(pgm_read, "P2 1 1 255 7", "no raw PGM file (P5)");
    const char *const heads[] = {"P5",
                                 "P5 2 2",
                                 "P5 0 2 255\n",
                                 "P5 -1 2 255\n",
                                 "P5 2 2 0\n",
                                 "P5 2 2 65536\n",
                                 "P5 18446744073709551616 1 255\n",
                                 "P5 # 2 2 255"};
    for (int i = 0; i < 8; ++i)
        refused_text(pgm_read, heads[i],
                     "its head does not tell width, height and a grey level to 65535");
    refused_text(pgm_read, "P5 2 2 255", "no blank ends its head");
    refused_text(pgm_read, "P5 2 2 255x", "no blank ends its head");
    refused_text(pgm_read, "P5 2 2 255\nabc", "has 3 bytes behind its head, not 2 x 2 x 1");
    refused_text(pgm_read, "P5 2 2 255\nabcde", "has 5 bytes behind its head, not 2 x 2 x 1");
    refused_text(pgm_read, "P5 2 2 256\nabcd", "has 4 bytes behind its head, not 2 x 2 x 2");
    refused_text(pgm_read, "P5 4294967296 4294967296 255\n",
                 "has 0 bytes behind its head, not 4294967296 x 4294967296 x 1");
    refused_text(pgm_read, "P5 2147483648 4294967296 256\n",
                 "has 0 bytes behind its head, not 2147483648 x 4294967296 x 2");
    refused_text(pgm_read, "P5 2 2 100\nabzd",
                 "row 1, column 0 (from 0): 122 is above its highest level, 100");
}

static void check_asc(void) {
    const double whole[] = {1, 2, -9999, -4, 32767, 6}, large[] = {32768, -1, 2, 2147483647};
    const double real[] = {(double)0.1f, -(double)1e30f, -(double)1e30f, 3};
    const double place[] = {6.5, 45, 0.25, 0.25}, centre[] = {98, -3, 4, 1};
    known("whole.asc", 3, 2, HEIGHTS_I16, whole, -9999, place);
    known("large.asc", 4, 1, HEIGHTS_I32, large, 1, NULL);
    known("float.asc", 2, 2, HEIGHTS_F32, real, -(double)1e30f, centre);
    refused_text(asc_read, "", "ends inside its head");
    refused_text(asc_read, "ncols", "ends inside its head");
    refused_text(asc_read, "ncols 2\n\nnrows 2\n", "ends inside its head");
    refused_text(asc_read, "ncols 2\n1 2", "has no ncols or no nrows");
    refused_text(asc_read, "ncols 2\nncols 2\n1", "line 2: a key is there twice");
    refused_text(asc_read, "ncols two\n1", "line 1: no number behind its key");
    refused_text(asc_read, "cellsize inf\n1", "line 1: no number behind its key");
    refused_text(asc_read, "ncols 2\nwidth 2\n1", "line 2: not the key of a grid");
    refused_text(asc_read, "ncols 2\nnbits 32\n1", "line 2: not the key of a grid");
    refused_text(asc_read, "ncols 2\nnrows -2\n1", "its ncols or nrows is no whole number from 1");
    refused_text(asc_read, "ncols 2\nnrows 0\n1", "its ncols or nrows is no whole number from 1");
    refused_text(asc_read, "ncols 1.5\nnrows 2\n1", "its ncols or nrows is no whole number from 1");
    refused_text(asc_read, "ncols 1 nrows 1 cellsize 0\n1", "its cells have no size above 0");
    refused_text(asc_read, "ncols 1 nrows 1 dx 2\n1", "its cells have no size above 0");
    refused_text(asc_read, "ncols 1 nrows 1 dy 2 dx 0\n1", "its cells have no size above 0");
    refused_text(asc_read, "ncols 1000000000 nrows 1000000000\n1 2",
                 "is too short for 1000000000 x 1000000000 heights");
    refused_text(asc_read, "ncols 4294967296 nrows 4294967296\n1 2",
                 "is too short for 4294967296 x 4294967296 heights");
    refused_text(asc_read, "ncols 2 nrows 2\n1 2 3   ", "ends after 3 of its 4 heights");
    refused_text(asc_read, "ncols 2 nrows 2\n1 2 3 4 5", "has more than ncols * nrows heights");
    refused_text(asc_read, "ncols 2 nrows 2\n1 2\n3 x", "line 3: no number");
    refused_text(asc_read, "ncols 2 nrows 2\n1 2\n3 1,5", "line 3: no number");
    refused_text(asc_read, "ncols 2 nrows 2\n1 2\n3 -inf",
                 "row 1, column 1 (from 0): an infinite height");
}

// A map of one height in an ASCII grid: its type and value, and whether it has a place.
static void check_asc_one(const char *head, const char *height, int type, double want, int place) {
    char error[200] = "", file[200];
    heights h;
    snprintf(file, sizeof file, "ncols 1\nnrows 1\n%s\n%s", head, height);
    input in = input_make(file, strlen(file), error, sizeof error);
    const int result = asc_read(&in, &h);
    CHECK(result == 0, "%s", error);
    if (result) return;
    CHECK(h.type == type && heights_value(&h, 0) == want && h.has_place == place,
          "%s %s: type %d, %.17g, place %d", head, height, h.type, heights_value(&h, 0),
          h.has_place);
    CHECK(place || (h.west == 0 && h.south == 0 && h.dx == 0 && h.dy == 0), "%s: a place", head);
    heights_free(&h);
}

static void check_asc_types(void) {
    check_asc_one("cellsize 2", "-32768", HEIGHTS_I16, -32768, 0);
    check_asc_one("xllcorner 1 yllcorner 2", "-32769", HEIGHTS_I32, -32769, 0);
    check_asc_one("cellsize 2 xllcorner 1", "32768", HEIGHTS_I32, 32768, 0);
    check_asc_one("cellsize 2 yllcorner 1", "-2147483648", HEIGHTS_I32, -2147483648.0, 0);
    check_asc_one("cellsize 2 yllcorner 1 xllcenter 1", "2147483647", HEIGHTS_I32, 2147483647, 1);
    check_asc_one("dy 2 dx 1 yllcorner 1 xllcenter 1", "2147483648", HEIGHTS_F32, 2147483648.0, 1);
    check_asc_one("", "-2147483904", HEIGHTS_F32, -2147483904.0, 0);
    check_asc_one("", "2e1", HEIGHTS_I16, 20, 0);
    check_asc_one("", "-nan", HEIGHTS_F32, LOW, 0);
    check_asc_one("nodata_value 40000", "5", HEIGHTS_I32, 5, 0);
    check_asc_one("nodata_value 0.5", "5", HEIGHTS_F32, 5, 0);
    check_asc_one("nodata_value nan", "5", HEIGHTS_F32, 5, 0);
}

// flt_read of a head and a row of bytes fails with a line.
static void refused_flt(const char *head, size_t bytes, const char *line) {
    char error[200] = "";
    content text = content_text(head), zeros = content_of("12345678", bytes);
    input top = input_make(text.bytes, text.size, error, sizeof error);
    input in = input_make(zeros.bytes, zeros.size, error, sizeof error);
    heights h;
    memset(&h, 0xa5, sizeof h);
    CHECK(flt_read(&top, &in, &h) == -1 && !strcmp(error, line), "%s\n    instead of %s", error,
          line);
    CHECK(content_poisoned(&h, sizeof h), "%s: the result is not as before", line);
    free(text.bytes);
    free(zeros.bytes);
}

static void check_flt(void) {
    const double esri[] = {1, -9999, 0.5, 1e10}, gdal[] = {1, 2, LOW, 4, 5, 6.5};
    const double corner[] = {-1, 3, 2, 2}, upper[] = {6, 45.125, 0.25, 0.5};
    char error[200] = "", path[5000];
    heights h;
    known("esri.flt", 2, 2, HEIGHTS_F32, esri, -9999, corner);
    known("gdal.flt", 3, 2, HEIGHTS_F32, gdal, LOW, upper);
    refused_flt("", 4, "has no ncols or no nrows");
    refused_flt("ncols\n", 4, "line 1: no number behind its key");
    refused_flt("ncols 1\nnrows 1\nnbands 3\n", 4, "has several bands; one is read");
    refused_flt("ncols 1\nnrows 1\nnbits 16\n", 4, "its values are no floats of 32 bits");
    refused_flt("ncols 1\nnrows 1\npixeltype signedint", 4, "its values are no floats of 32 bits");
    refused_flt("ncols 1\nnrows 1\nskipbytes 4", 8, "has bytes to skip; none are read");
    refused_flt("ncols 1\nnrows 1\nbyteorder VMS_FFLOAT", 4,
                "its byte order is neither LSBFIRST (I) nor MSBFIRST (M)");
    refused_flt("ncols 1\nnrows 2\nwhatever this is", 7, "has 7 bytes, not those of 1 x 2 floats");
    refused_flt("ncols 1\nnrows 1\n", 8, "has 8 bytes, not those of 1 x 1 floats");
    refused_flt("ncols 4294967296\nnrows 1073741824\n", 0,
                "has 0 bytes, not those of 4294967296 x 1073741824 floats");
    // No head beside it.
    snprintf(path, sizeof path, "%s", corpus("grey8.pgm"));
    memcpy(path + strlen(path) - 3, "flt", 3);
    CHECK(heights_read(path, &h, error, sizeof error) == -1 && strstr(error, "cannot be opened"),
          "%s", error);
}

static void check_npy(void) {
    const double bytes[] = {0, 255}, words[] = {1, -2, 32767, -32768},
                 doubles[] = {(double)0.1f, LOW, 0};
    const double one[] = {(double)0.1f, 2, 3, 4, 5, 0};
    const uint16_t u2[] = {0, 65535};
    const int8_t i1[] = {-128, 127};
    const int32_t i4[] = {-2147483647 - 1, 2147483647};
    const float f4[] = {0.5f, -1e38f};
    const void *const values[] = {u2, i1, i4, f4};
    const char *const names[] = {"u2", "i1", "i4", "f4"};
    const int types[] = {HEIGHTS_I32, HEIGHTS_I16, HEIGHTS_I32, HEIGHTS_F32};
    const double want[4][2] = {
        {0, 65535}, {-128, 127}, {-2147483648.0, 2147483647.0}, {0.5, -(double)1e38f}};
    const input_u64 shape[] = {2, 1};
    known("bytes.npy", 2, 1, HEIGHTS_I16, bytes, 1, NULL);
    known("words.npy", 2, 2, HEIGHTS_I16, words, 1, NULL);
    known("doubles.npy", 3, 1, HEIGHTS_F32, doubles, LOW, NULL);
    known("one.npy", 3, 2, HEIGHTS_F32, one, 1, NULL);
    refused(heights_npy_read, content_file("frames.npy", 0), "has 3 dimensions, not 2");
    refused(heights_npy_read, content_patch(content_file("bytes.npy", 128), 61, "30"),
            "is a map of 2 x 0 cells");
    refused(heights_npy_read, content_patch(content_file("bytes.npy", 128), 64, "30"),
            "is a map of 0 x 1 cells");
    refused(heights_npy_read, content_patch(content_file("doubles.npy", 0), 128 + 22, "f07f"),
            "row 0, column 2 (from 0): an infinite height");
    for (int i = 0; i < 4; ++i) { // the types that corpus/ has not, by the writer
        unsigned char file[200];
        FILE *out = tmpfile();
        heights h;
        CHECK(out && npy_write(out, names[i], 2, shape, values[i]) == 0, "%s", names[i]);
        if (!out) return;
        rewind(out);
        input in = input_make(file, fread(file, 1, sizeof file, out), NULL, 0);
        fclose(out);
        CHECK(heights_npy_read(&in, &h) == 0, "%s", names[i]);
        CHECK(h.width == 1 && h.height == 2 && h.type == types[i], "%s", names[i]);
        CHECK(heights_value(&h, 0) == want[i][0] && heights_value(&h, 1) == want[i][1], "%s",
              names[i]);
        heights_free(&h);
    }
}

// An array of three dimensions, as frames are written, byte for byte.
static void check_npy_bytes(void) {
    static const char head[] = "\x93NUMPY\1\0\x76\0{'descr': '|u1', 'fortran_order': False, "
                               "'shape': (1, 2, 3), }";
    const input_u64 shape[] = {1, 2, 3};
    char file[200], want[134];
    FILE *out = tmpfile();
    memset(want, ' ', sizeof want);
    memcpy(want, head, sizeof head - 1);
    memcpy(want + 127, "\nabcdef", 7);
    CHECK(out && npy_write(out, "u1", 3, shape, "abcdef") == 0, "u1");
    if (!out) return;
    rewind(out);
    CHECK(fread(file, 1, sizeof file, out) == 134 && !memcmp(file, want, 134), "%.134s", file);
    fclose(out);
}

// A map of a type, written as an ASCII grid, is the same when it is read.
static void check_asc_again(const heights *h) {
    static unsigned char file[65536];
    char error[200] = "";
    FILE *out = tmpfile();
    heights again;
    CHECK(out && asc_write(out, h) == 0, "type %d", h->type);
    if (!out) return;
    rewind(out);
    input in = input_make(file, fread(file, 1, sizeof file, out), error, sizeof error);
    fclose(out);
    CHECK(asc_read(&in, &again) == 0, "%s", error);
    if (error[0]) return;
    CHECK(again.width == h->width && again.height == h->height && again.type == h->type, "type %d",
          again.type);
    CHECK(again.has_nodata == h->has_nodata && again.nodata == h->nodata, "%.17g", again.nodata);
    CHECK(again.has_place == h->has_place && again.west == h->west && again.south == h->south &&
              again.dx == h->dx && again.dy == h->dy,
          "%.17g", again.west);
    for (input_u64 i = 0; i < h->width * h->height; ++i)
        CHECK(heights_value(&again, i) == heights_value(h, i), "height %llu is %.17g", i,
              heights_value(&again, i));
    heights_free(&again);
}

static void check_writers(void) {
    const uint8_t eight[] = {0, 100, 255, 7, 8, 9};
    const uint16_t sixteen[] = {0, 256, 65535, 1000, 2, 3};
    unsigned char file[200];
    heights h, again;
    for (int wide = 0; wide < 2; ++wide) {
        FILE *out = tmpfile();
        CHECK(out && (wide ? pgm_write16(out, 3, 2, sixteen) : pgm_write8(out, 3, 2, eight)) == 0,
              "pgm");
        if (!out) return;
        rewind(out);
        input in = input_make(file, fread(file, 1, sizeof file, out), NULL, 0);
        fclose(out);
        CHECK(pgm_read(&in, &again) == 0 && again.width == 3 && again.height == 2, "pgm %d", wide);
        for (unsigned i = 0; i < 6; ++i)
            CHECK(heights_value(&again, i) == (wide ? sixteen[i] : eight[i]), "pgm %d: %u", wide,
                  i);
        heights_free(&again);
    }
    memset(&h, 0, sizeof h);
    static const char text[] = "ncols 2\nnrows 2\nxllcorner -0.1\nyllcorner 7\ncellsize 30\n"
                               "NODATA_value -9999\n0.1 -9999\n1e-07 123456.79\n";
    float few[] = {0.1f, -9999, 1e-7f, 123456.789f};
    h.width = h.height = 2, h.type = HEIGHTS_F32, h.data = few, h.has_nodata = 1, h.nodata = -9999;
    h.has_place = 1, h.west = -0.1, h.south = 7, h.dx = h.dy = 30;
    FILE *exact = tmpfile();
    CHECK(exact && asc_write(exact, &h) == 0, "asc");
    if (!exact) return;
    rewind(exact);
    CHECK(fread(file, 1, sizeof file, exact) == sizeof text - 1 &&
              !memcmp(file, text, sizeof text - 1),
          "%.*s", (int)sizeof text, (char *)file);
    fclose(exact);
    memset(&h, 0, sizeof h);
    int16_t low[] = {-32768, 32767, 0, -1};
    h.width = h.height = 2, h.type = HEIGHTS_I16, h.data = low;
    check_asc_again(&h);
    int32_t middle[] = {-2147483647 - 1, 2147483647, 0, -1};
    h.type = HEIGHTS_I32, h.data = middle, h.has_nodata = 1, h.nodata = 2147483647;
    check_asc_again(&h);
    enum { SIDE = 40 };
    static float real[SIDE * SIDE];
    uint32_t bits = 1;
    for (int i = 0; i < SIDE * SIDE; ++i) { // floats of all sizes
        do bits = bits * 1664525u + 1013904223u;
        while ((bits & 0x7f800000u) == 0x7f800000u);
        memcpy(real + i, &bits, sizeof bits);
    }
    h.width = h.height = SIDE, h.type = HEIGHTS_F32, h.data = real, h.nodata = -9999;
    h.has_place = 1, h.west = 0.1, h.south = -1.0 / 3, h.dx = h.dy = 1 / 1200.0;
    check_asc_again(&h);
    h.dy = 1e-7, h.nodata = LOW;
    check_asc_again(&h);
    FILE *full = fopen("/dev/full", "wb");
    if (!full) return;
    setvbuf(full, NULL, _IONBF, 0);
    CHECK(asc_write(full, &h) == -1 && pgm_write8(full, 3, 2, eight) == -1 &&
              pgm_write16(full, 3, 2, sixteen) == -1,
          "a full disk");
    const input_u64 shape[] = {3}, large[] = {1ull << 62, 4, 1};
    CHECK(npy_write(full, "f4", 1, large, real) == -1 &&
              npy_write(full, "u1", 2, large, real) == -1,
          "a shape that is too large");
    CHECK(npy_write(full, "f4", 1, shape, real) == -1, "a full disk");
    CHECK(npy_write(full, "f2", 1, shape, real) == -1 &&
              npy_write(full, "f4", 4, shape, real) == -1 &&
              npy_write(full, "f4", 0, shape, real) == -1,
          "no such type or shape");
    fclose(full);
}

// Reads an .npy file of any known type and shape, and writes it again, for numpy_test.py.
static int npy_again(const char *from, const char *to) {
    char error[200] = "";
    input in;
    npy a;
    if (input_open(&in, from, error, sizeof error) || npy_read(&in, &a))
        return fprintf(stderr, "%s\n", error), 2;
    unsigned char *values = (unsigned char *)malloc((size_t)a.count * a.each + 1);
    for (size_t i = 0; values && i < a.count; ++i) {
        const double value = npy_value(&a, i);
        const float f4 = (float)value;
        const int32_t whole = a.type[0] == 'f' ? 0 : (int32_t)value;
        const uint16_t u2 = (uint16_t)whole;
        const uint8_t u1 = (uint8_t)whole;
        memcpy(values + i * a.each,
               a.each == 8        ? (const void *)&value
               : a.type[0] == 'f' ? (const void *)&f4
               : a.each == 4      ? (const void *)&whole
               : a.each == 2      ? (const void *)&u2
                                  : (const void *)&u1,
               a.each);
    }
    FILE *out = fopen(to, "wb");
    const int result = !values || !out || npy_write(out, a.type, a.dims, a.shape, values);
    if (out && fclose(out)) return 2;
    free(values);
    input_close(&in);
    return result ? 2 : 0;
}

int main(int count, char **words) {
    char error[200] = "";
    heights h;
    if (count == 3) return npy_again(words[1], words[2]);
    for (int comma = 0; comma < 2; ++comma) { // numbers have a point in every locale
        if (comma && !comma_locale()) break;
        check_asc();
        check_asc_types();
        check_flt();
        check_writers();
    }
    check_hgt();
    check_pgm();
    check_npy();
    check_npy_bytes();
    CHECK(heights_read("a.tif", &h, error, sizeof error) == -1 &&
              !strcmp(error, "a.tif: its ending is none of .hgt .pgm .asc .flt .npy"),
          "%s", error);
    CHECK(heights_read("", &h, error, sizeof error) == -1, "no name");
    return check_result("test_heights");
}
