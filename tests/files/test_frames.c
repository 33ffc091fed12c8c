// SPDX-License-Identifier: MIT
// test_frames.c: the readers of samples/files/frames.h: what each file of corpus/ holds, and what
// is refused, with which line.
#include "files/files_check.h"

#include <math.h>

// A file of corpus/ holds these frames. box: null for none.
static void known(const char *name, input_u64 n, input_u64 count, const float *xyz,
                  const float *box) {
    char error[200] = "";
    frames f;
    const int result = frames_read(corpus(name), &f, error, sizeof error);
    CHECK(result == 0 && !error[0], "%s: %s", name, error);
    if (result) return;
    CHECK(f.n == n && f.count == count, "%s: %llu x %llu", name, f.count, f.n);
    for (input_u64 i = 0; i < n * count * 3 && n == f.n && count == f.count; ++i)
        CHECK(f.xyz[i] == xyz[i], "%s: value %llu is %.9g", name, i, (double)f.xyz[i]);
    CHECK(!f.box == !box, "%s: box", name);
    for (input_u64 i = 0; i < count * 3 && box && f.box; ++i)
        CHECK(f.box[i] == box[i], "%s: box %llu is %.9g", name, i, (double)f.box[i]);
    frames_free(&f);
    CHECK(!f.xyz && !f.box, "%s", name);
}

#define ATOM  "ATOM      1  C   UNK A   1    " // 30 columns
#define PLACE ATOM "   1.000   2.000   3.000\n"

static void check_pdb(void) {
    static const char *const texts[][2] = {
        {"", "has no atoms"},
        {"HEADER\nEND\nATOMS\n", "has no atoms"},
        {"ATOM\n", "line 1: an atom without coordinates"},
        {ATOM "   1.000   2.000\n", "line 1: no number in columns 47 to 54"},
        {PLACE ATOM "   1.000 2,000     3.000\n", "line 2: no number in columns 39 to 46"},
        {ATOM "********   2.000   3.000\n", "line 1: no number in columns 31 to 38"},
        {PLACE ATOM "   1.000   2.000     nan\n",
         "frame 0, atom 1 (from 0): z is not a finite number"},
        {"MODEL 1\n" PLACE "ENDMDL\nMODEL 2\n" PLACE PLACE "ENDMDL\n",
         "line 6: frame 1 has more atoms than the 1 of frame 0"},
        {"MODEL 1\n" PLACE PLACE "ENDMDL\nMODEL 2\n" PLACE "ENDMDL\n",
         "line 7: frame 1 has 1 atoms, frame 0 has 2"},
        {"MODEL 1\n" PLACE "MODEL 2\nENDMDL\n", "line 4: a frame without atoms"},
        {"MODEL 1\n" PLACE "ENDMDL\n" PLACE, "line 4: an atom outside of MODEL and ENDMDL"},
        {PLACE "MODEL 1\n" PLACE, "line 2: MODEL behind atoms of no model"},
        {"CRYST1   10.000  -20.000   30.000  90.00  90.00  90.00\n" PLACE,
         "line 1: no number in columns 16 to 24 of CRYST1"},
        {"CRYST1   10.000   20.000\n" PLACE, "line 1: no number in columns 25 to 33 of CRYST1"}};
    const float models[] = {0, -1.25f, 1234.567f, 1.5f, 2, 3, 4, 5, 6, -999.999f, 0, 9999.999f,
                            1, -1.25f, 1234.567f, 1.5f, 2, 4, 4, 5, 6, -999.999f, 0, 9999.999f};
    const float boxes[] = {10, 20, 30.5f, 11, 20, 30.5f};
    const float ends[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3};
    known("models.pdb", 4, 2, models, boxes);
    known("ends.pdb", 2, 2, ends, NULL);
    known("skew.ent", 2, 1, ends, NULL);
    for (int angle = 0; angle < 4; ++angle) { // one of them, or none, is not 90 degrees
        char text[200], error[200] = "";
        frames f;
        snprintf(text, sizeof text, "CRYST1    1.000   20.000    1.000%7.2f%7.2f%7.2f\n" PLACE,
                 angle == 1 ? 89.99 : 90.0, angle == 2 ? 120.0 : 90.0, angle == 3 ? 60.0 : 90.0);
        input in = input_make(text, strlen(text), error, sizeof error);
        const int result = pdb_read(&in, &f);
        CHECK(result == 0, "%s", error);
        if (result) continue;
        CHECK(!f.box == (angle > 0) && (angle || f.box[1] == 20), "angle %d", angle);
        frames_free(&f);
    }
    refused_texts("pdb", texts, COUNT(texts));
}

// Many letters of alternate locations, so that their table grows: of 1000 atoms with three letters
// each, in an order that differs from atom to atom, the first one counts.
static void check_letters(void) {
    enum { ATOMS = 1000 };
    char *text = (char *)malloc(3 * ATOMS * 80), *end = text, error[200] = "";
    frames f;
    for (int i = 0; i < 3 * ATOMS; ++i)
        end += sprintf(end, "ATOM      1  C%d %cUNK %c%4d    %8d%8d%8d\n", i / 3 % 7,
                       "ABC"[(i + i / 3) % 3], 'A' + i / 1500, i / 3 % 500, i / 3, i % 3, 0);
    input in = input_make(text, (input_u64)(end - text), error, sizeof error);
    CHECK(pdb_read(&in, &f) == 0, "%s", error);
    CHECK(f.n == ATOMS && f.count == 1, "%llu x %llu", f.count, f.n);
    for (int i = 0; i < ATOMS && f.n == ATOMS; ++i)
        CHECK(f.xyz[3 * i] == (float)i && f.xyz[3 * i + 1] == 0, "atom %d", i);
    frames_free(&f);
    free(text);
}

static void check_xyz(void) {
    static const char *const texts[][2] = {
        {"", "has no atoms"},
        {"0\n\n", "line 1: no number of atoms"},
        {"-1\n\n", "line 1: no number of atoms"},
        {"2 atoms\n\n", "line 1: no number of atoms"},
        {"18446744073709551616\n\n", "line 1: no number of atoms"},
        {"1000000000000000000\n\nH 1 2 3\n",
         "ends after 1 of the 1000000000000000000 atoms of frame 0"},
        {"18446744073709551615\n", "ends after 0 of the 18446744073709551615 atoms of frame 0"},
        {"1\n\nH 1 2 3\n2\n\nH 1 2 3\nH 1 2 3\n", "line 4: frame 1 has 2 atoms, frame 0 has 1"},
        {"1\n\n1 2 3\n", "line 3: no symbol and three numbers"},
        {"1\n\nH 1 0x10 3\n", "line 3: no symbol and three numbers"},
        {"1\n\nH 1 2 3\nH 1 2 3\n", "line 4: no number of atoms"},
        {"1\n\nH 1 2 3\n1\n\nH 1 -inf 3\n", "frame 1, atom 0 (from 0): y is not a finite number"},
        {"1\n\nH 1e39 2 3\n", "frame 0, atom 0 (from 0): x is not a finite number"}};
    const float two[] = {0.5f, -1.25f, 100, 0.5f, 2, -0.375f, 1, 2, 3, 4, 5, 6};
    const float digits[] = {0.1f,     3.40282347e38f,      -1e-3f, 1, 7, 0,
                            16777216, 9007199254740992.0f, 0};
    known("frames.xyz", 2, 2, two, NULL);
    known("digits.xyz", 3, 1, digits, NULL);
    refused_texts("xyz", texts, COUNT(texts));
}

static void check_dcd(void) {
    const float xyz[] = {1, 2, 3, 4.5f, -5.25f, 6, 0, 0, 1e-3f, 7, 8, 9, -1, -2, -3, 10, 11, 12.5f};
    const float boxes[] = {10, 20, 30, 11, 20, 30};
    const long frame = 56 + 3 * 20; // bytes of one in namd.dcd, whose frames begin at 196
    static const patch patches[] = {
        {"namd.dcd", 0, 0, "55", "no DCD file: does not begin with a record of 84 bytes, CORD"},
        {"namd.dcd", 0, 88, "55", "no DCD file: does not begin with a record of 84 bytes, CORD"},
        {"namd.dcd", 0, 4, "56454c44", "has velocities, no coordinates"},
        {"namd.dcd", 0, 4, "00000000434f5244", "record markers of 8 bytes are not read"},
        {"charmm.dcd", 0, 0, "0000000000000054434f5244", "record markers of 8 bytes are not read"},
        {"charmm.dcd", 0, 40, "00000005", "5 fixed atoms, which only frame 0 would have"},
        {"namd.dcd", 0, 92, "ffffffff", "the record of the title is broken"},
        {"namd.dcd", 0, 180, "00", "the record of the title is broken"},
        {"namd.dcd", 95, 0, "", "the record of the title is broken"},
        {"namd.dcd", 0, 184, "05", "the record with the number of atoms is broken"},
        {"namd.dcd", 0, 188, "00", "has 0 atoms"},
        {"namd.dcd", 0, 188, "feffffff", "has -2 atoms"},
        {"namd.dcd", 0, 188, "ffffff7f", "ends after 232 of the 25769803844 bytes of frame 0"},
        {"namd.dcd", -1, 0, "", "ends after 115 of the 116 bytes of frame 1"},
        {"namd.dcd", 196, 0, "", "ends after 0 of the 116 bytes of frame 0"},
        {"namd.dcd", 0, 196, "31", "frame 0: the record of its cell is broken"},
        {"namd.dcd", 0, 206, "f0ff", "frame 0: a length of its cell is no length"},
        {"charmm.dcd", 0, 344, "4056400000", "frame 1: a cell whose angles are not 90"},
        {"namd.dcd", 0, 214, "f87f", "frame 0: a cell whose angles are not 90"},
        {"namd.dcd", 0, 288, "0d", "frame 0: the record of its y is broken"},
        {"charmm.dcd", 0, 467, "00", "frame 1: the record of its w is broken"},
        {"namd.dcd", 0, 416, "0000807f", "frame 1, atom 1 (from 0): z is not a finite number"}};
    known("namd.dcd", 3, 2, xyz, boxes);
    known("charmm.dcd", 3, 2, xyz, boxes); // its head says 0 frames,
    known("xplor.dcd", 3, 1, xyz, NULL);   // and this one 7
    refused("dcd", content_text("CORD"), "no DCD file: shorter than the head of one");
    refused_patches("dcd", patches, COUNT(patches));
    // A whole frame less is one frame, though the head says two.
    content c = content_file("namd.dcd", -frame);
    input in = input_make(c.bytes, c.size, NULL, 0);
    frames f;
    CHECK(dcd_read(&in, &f) == 0 && f.count == 1 && f.n == 3, "one frame");
    frames_free(&f);
    free(c.bytes);
}

// An .npy file of version 1.0 with this head, and so many bytes of zeros behind it.
static content npy_content(const char *head, size_t bytes) {
    const size_t length = strlen(head);
    content c = content_of("\x93NUMPY\1", 10 + length + bytes > 7 ? 7 : 0);
    c.size = 10 + length + bytes;
    c.bytes = (unsigned char *)realloc(c.bytes, c.size);
    memset(c.bytes + 7, 0, c.size - 7);
    c.bytes[8] = (unsigned char)(length & 255), c.bytes[9] = (unsigned char)(length >> 8);
    memcpy(c.bytes + 10, head, length);
    return c;
}

#define NPY(type) "{'descr': " type ", 'fortran_order': False, 'shape': "
#define NPY_F4    NPY("'<f4'")

static void check_npy(void) {
    const float two[] = {1, 2, 3, -4, 5.5f, 6}, one[] = {0.1f, 2, 3, 4, 5, 0};
    const char *const shapes[] = {
        "3",       "(x,)", "(-1, 3)", "(1 3)", "(1,, 3)", "(1, 3", "(18446744073709551616, 3)",
        "(1.0, 3)"};
    static const patch patches[] = {
        {"frames.npy", 0, 6, "04", "is of version 4.0 of .npy, not 1.0, 2.0 or 3.0"},
        {"frames.npy", 0, 7, "01", "is of version 1.1 of .npy, not 1.0, 2.0 or 3.0"},
        {"frames.npy", 9, 0, "", "ends inside its head"},
        {"frames.npy", 100, 0, "", "ends inside its head"},
        {"one.npy", 0, 8, "ffffffff", "ends inside its head"},
        {"frames.npy", -1, 0, "", "its shape needs 24 bytes, but 23 are there"}};
    static const struct {
        const char *head;
        size_t bytes;
        const char *line;
    } heads[] = {
        {NPY_F4 "(), }", 4, "is a single value, no array"},
        {NPY_F4 "(1, 1, 1, 3), }", 12, "has more than 3 dimensions"},
        {NPY_F4 "(4611686018427387904, 2, 3), }", 12, "its shape has more values than 2^64"},
        {NPY_F4 "(1000000000000000000, 2, 3), }", 12, "its shape has more values than 2^64"},
        {NPY_F4 "(100000000000000000, 2, 3), }", 12,
         "its shape needs 2400000000000000000 bytes, but 12 are there"},
        {NPY_F4 "(0, 2, 3), }", 0, "its shape is not (F, n, 3)"},
        {NPY_F4 "(1, 3, 2), }", 24, "its shape is not (F, n, 3)"},
        {NPY_F4 "(3,), }", 12, "its shape is not (F, n, 3)"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1, 3), }", 12, "is in Fortran's order"},
        {NPY("'<i4'") "(1, 3), }", 12, "has values of type i4, not f4 or f8"},
        {NPY("'<i8'") "(1, 3), }", 24, "has values of another type than u1"},
        {NPY("'|f4'") "(1, 3), }", 12, "has values of another type than u1"},
        {NPY("[('x', '<f4')]") "(1, 3), }", 12, "has values of another type than u1"},
        {NPY_F4 "(1, 3), 'more': 1}", 12, "its head has other keys than descr"},
        {NPY_F4 "(1, 3), 'shape': (1, 3)}", 12, "its head has other keys than descr"},
        {NPY_F4 "(1, 3)", 12, "its head does not end"},
        {"{'descr': '<f4', 'shape': (1, 3), }", 12, "its head is not {'descr'"},
        {NPY_F4 "(1, 3)} x", 12, "its head is not {'descr'"}};
    known("frames.npy", 1, 2, two, NULL);
    known("one.npy", 2, 1, one, NULL);
    refused("frames", content_text("\x93NUMPX\1"), "no .npy file");
    refused_patches("frames", patches, COUNT(patches));
    for (unsigned i = 0; i < COUNT(shapes); ++i) {
        char head[200];
        snprintf(head, sizeof head, NPY_F4 "%s, }", shapes[i]);
        refused("frames", npy_content(head, 12), "its shape is no tuple of whole numbers");
    }
    for (unsigned i = 0; i < COUNT(heads); ++i)
        refused("frames", npy_content(heads[i].head, heads[i].bytes), heads[i].line);
    // Keys in another order, quotes of the other kind, no blanks and no comma at the end.
    content c = npy_content("{\"shape\":(1,3),\"fortran_order\":False,\"descr\":\">f4\"}", 12);
    input in = input_make(content_patch(c, c.size - 4, "40490fdb").bytes, c.size, NULL, 0);
    frames f;
    CHECK(frames_npy_read(&in, &f) == 0 && f.xyz[1] == 0 && f.xyz[2] == 3.14159274f, "pi");
    frames_free(&f);
    free(c.bytes);
}

// What frames_read says itself, of files that are none.
static void check_paths(void) {
    char error[200] = "", longest[300] = "";
    frames f;
    memset(&f, 0xa5, sizeof f);
    CHECK(frames_read("walk.gro", &f, error, sizeof error) == -1, "an ending");
    CHECK(!strcmp(error, "walk.gro: its ending is none of .pdb .ent .xyz .dcd .npy"), "%s", error);
    CHECK(frames_read("no\nsuch.XYZ", &f, error, sizeof error) == -1, "a file that is not there");
    CHECK(!strncmp(error, "no?such.XYZ: cannot be opened: ", 31), "%s", error);
    memset(longest, 'x', sizeof longest - 1);
    memcpy(longest + sizeof longest - 6, ".xyz", 5);
    CHECK(frames_read(longest, &f, error, sizeof error) == -1, "a long name");
    CHECK(!strncmp(error, "...xxx", 6) && strstr(error, "x.xyz: cannot be opened: "), "%s", error);
    CHECK(frames_read("a.xyz", &f, error, 5) == -1 && !strcmp(error, "a.xy"), "%s", error);
    CHECK(any_poisoned(&f, sizeof f), "the result is not as before");
}

int main(void) {
    check_pdb();
    check_letters();
    check_xyz();
    check_dcd();
    check_npy();
    check_paths();
    return check_result("test_frames");
}
