// SPDX-License-Identifier: MIT
// test_heights.c: the readers of samples/files/heights.h: what each file of corpus/ holds, and what
// is refused, with which line; what is written is read again.
#include "files/files_check.h"

#define LOW -3.4028234663852886e38 // what NaN becomes in a file without a number for NODATA

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

static void check_pgm(void) {
    static const char *const texts[][2] = {
        {"P", "no raw PGM file (P5)"},
        {"P2 1 1 255 7", "no raw PGM file (P5)"},
        {"P5 2 2 255", "no blank ends its head"},
        {"P5 2 2 255x", "no blank ends its head"},
        {"P5 2 2 255\nabc", "has 3 bytes behind its head, not 2 x 2 x 1"},
        {"P5 2 2 255\nabcde", "has 5 bytes behind its head, not 2 x 2 x 1"},
        {"P5 2 2 256\nabcd", "has 4 bytes behind its head, not 2 x 2 x 2"},
        {"P5 4294967296 4294967296 255\n",
         "has 0 bytes behind its head, not 4294967296 x 4294967296 x 1"},
        {"P5 2147483648 4294967296 256\n",
         "has 0 bytes behind its head, not 2147483648 x 4294967296 x 2"},
        {"P5 2 2 100\nabzd", "row 1, column 0 (from 0): 122 is above its highest level, 100"}};
    static const char heads[][40] = {"P5",
                                     "P5 2 2",
                                     "P5 0 2 255\n",
                                     "P5 -1 2 255\n",
                                     "P5 2 2 0\n",
                                     "P5 2 2 65536\n",
                                     "P5 18446744073709551616 1 255\n",
                                     "P5 # 2 2 255"};
    const double eight[] = {0, 1, 2, 100, 199, 200}, sixteen[] = {0, 255, 256, 65535};
    known("grey8.pgm", 3, 2, HEIGHTS_I16, eight, 1, NULL);
    known("grey16.pgm", 2, 2, HEIGHTS_I32, sixteen, 1, NULL);
    refused_texts("pgm", texts, COUNT(texts));
    for (unsigned i = 0; i < COUNT(heads); ++i)
        refused("pgm", content_text(heads[i]),
                "its head does not tell width, height and a grey level to 65535");
}

// A .hdr and so many bytes of a .flt are refused with a line.
typedef struct flt_refusal {
    const char *head;
    size_t bytes;
    const char *line;
} flt_refusal;

static void refused_flts(const flt_refusal *row, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        char both[200];
        const int size = snprintf(both, sizeof both, "%s%c12345678", row[i].head, 0);
        refused("flt", content_of(both, (size_t)size - 8 + row[i].bytes), row[i].line);
    }
}

static void check_flt(void) {
    static const flt_refusal rows[] = {
        {"", 4, "has no ncols or no nrows"},
        {"nrows 2\n", 4, "has no ncols or no nrows"},
        {"ncols\n", 4, "line 1: no number behind its key"},
        {"ncols two\n", 4, "line 1: no number behind its key"},
        {"ncols 2\ncellsize inf\n", 4, "line 2: no number behind its key"},
        {"ncols 2\nncols 2\n", 4, "line 2: a key is there twice"},
        {"nodata 1\nnodata_value 2\n", 4, "line 2: a key is there twice"},
        {"ncols 2\nnrows -2\n", 4, "its ncols or nrows is no whole number from 1"},
        {"ncols 0\nnrows 2\n", 4, "its ncols or nrows is no whole number from 1"},
        {"ncols 1.5\nnrows 2\n", 4, "its ncols or nrows is no whole number from 1"},
        {"ncols 1\nnrows 1\ncellsize 0\n", 4, "its cells have no size above 0"},
        {"ncols 1\nnrows 1\nxdim 2\n", 4, "its cells have no size above 0"},
        {"ncols 1\nnrows 1\nydim 2\nxdim -1\n", 4, "its cells have no size above 0"},
        {"ncols 1\nnrows 1\nnbands 3\n", 4, "has several bands; one is read"},
        {"ncols 1\nnrows 1\nnbits 16\n", 4, "its values are no floats of 32 bits"},
        {"ncols 1\nnrows 1\npixeltype signedint", 4, "its values are no floats of 32 bits"},
        {"ncols 1\nnrows 1\nskipbytes 4", 8, "has bytes to skip; none are read"},
        {"ncols 1\nnrows 1\nbyteorder VMS_FFLOAT", 4,
         "its byte order is neither LSBFIRST (I) nor MSBFIRST (M)"},
        {"ncols 1\nnrows 2\nwhatever this is", 7, "has 7 bytes, not those of 1 x 2 floats"},
        {"ncols 1\nnrows 1\n", 8, "has 8 bytes, not those of 1 x 1 floats"},
        {"ncols 4294967296\nnrows 1073741824\n", 0,
         "has 0 bytes, not those of 4294967296 x 1073741824 floats"}};
    const double esri[] = {1, -9999, 0.5, 1e10}, gdal[] = {1, 2, LOW, 4, 5, 6.5};
    const double corner[] = {-1, 3, 2, 2}, upper[] = {6, 45.125, 0.25, 0.5};
    char error[200] = "", path[5000];
    heights h;
    known("esri.flt", 2, 2, HEIGHTS_F32, esri, -9999, corner);
    known("gdal.flt", 3, 2, HEIGHTS_F32, gdal, LOW, upper);
    refused_flts(rows, COUNT(rows));
    refused("flt", content_of("ncols 1\nnrows 1\n\0\0\0\x80\x7f", 21),
            "row 0, column 0 (from 0): an infinite height");
    // No head beside it.
    snprintf(path, sizeof path, "%s", corpus("grey8.pgm"));
    memcpy(path + strlen(path) - 3, "flt", 3);
    CHECK(heights_read(path, &h, error, sizeof error) == -1 && strstr(error, "cannot be opened"),
          "%s", error);
}

static void check_npy(void) {
    static const patch patches[] = {
        {"frames.npy", 0, 0, "", "has 3 dimensions, not 2"},
        {"bytes.npy", 128, 61, "30", "is a map of 2 x 0 cells"},
        {"bytes.npy", 128, 64, "30", "is a map of 0 x 1 cells"},
        {"doubles.npy", 0, 150, "f07f", "row 0, column 2 (from 0): an infinite height"}};
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
    refused_patches("heights", patches, COUNT(patches));
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

static void check_full(void) {
    const input_u64 shape[] = {3}, large[] = {1ull << 62, 4, 1};
    const float real[] = {1, 2, 3};
    FILE *full = fopen("/dev/full", "wb");
    if (!full) return;
    setvbuf(full, NULL, _IONBF, 0);
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

// Prints an .npy file of any known type and shape, for numpy_test.py.
static int npy_print(const char *path) {
    char error[200] = "";
    input in;
    npy a;
    if (input_open(&in, path, error, sizeof error) || npy_read(&in, &a))
        return fprintf(stderr, "%s\n", error), 2;
    printf("%s %u %llu %llu %llu\n", a.type, a.dims, a.shape[0], a.shape[1], a.shape[2]);
    for (input_u64 i = 0; i < a.count; ++i) printf("%.17g\n", npy_value(&a, i));
    input_close(&in);
    return 0;
}

int main(int count, char **words) {
    char error[200] = "";
    heights h;
    if (count == 2) return npy_print(words[1]);
    check_flt();
    check_pgm();
    check_npy();
    check_npy_bytes();
    check_full();
    CHECK(heights_read("a.tif", &h, error, sizeof error) == -1 &&
              !strcmp(error, "a.tif: its ending is none of .pgm .flt .npy"),
          "%s", error);
    CHECK(heights_read("", &h, error, sizeof error) == -1, "no name");
    return check_result("test_heights");
}
