// SPDX-License-Identifier: MIT
// npy.h: arrays of one to three dimensions in numpy's .npy format, versions 1 to 3, of either byte
// order, and a writer that numpy.load understands.
//
// Types are named as in numpy: u1 u2 (without sign), i1 i2 i4 (with one), f4 f8. For u4 u8 i8 only
// heads are read and written: a double does not hold their values, or no reader here needs them.
// The order is C's. Arrays in Fortran's order and files with more bytes than the shape needs are
// refused.
#ifndef FILES_NPY_H
#define FILES_NPY_H

#include "text.h"

enum { NPY_DIMS = 3 };
#define NPY_TYPES     "u1 u2 i1 i2 i4 f4 f8" // that npy_read takes
#define NPY_TYPES_ALL NPY_TYPES " u4 u8 i8"

typedef struct npy {
    char type[3];              // "f4"
    int big;                   // byte order
    unsigned each, dims;       // bytes of a value, and 1 to NPY_DIMS
    input_u64 shape[NPY_DIMS]; // 1 beyond dims
    input_u64 count;           // the product of the shape
    const unsigned char *data; // inside of the input
} npy;

// Value i, exactly.
static inline double npy_value(const npy *a, input_u64 i) {
    const unsigned char *at = a->data + i * a->each;
    if (a->type[0] == 'f') return a->each == 4 ? input_f32(at, a->big) : input_f64(at, a->big);
    if (a->each == 4) return input_i32(at, a->big);
    if (a->each == 2) return a->type[0] == 'i' ? input_i16(at, a->big) : (int)input_u16(at, a->big);
    return a->type[0] == 'i' ? (*at ^ 0x80) - 0x80 : *at;
}

// Bytes of a value of a type; 0 if `types`, words of two letters, does not have it.
static inline unsigned npy_bytes(const char *types, const char *type) {
    if (strlen(type) != 2 || !text_is_digit(type[1]) || !strstr(types, type)) return 0;
    return (unsigned)(type[1] - '0');
}

// ---- the head: {'descr': '<f4', 'fortran_order': False, 'shape': (5, 3), } ----------------------

static inline void npy_blanks(text *rest) {
    while (rest->size && (text_is_blank(rest->at[0]) || rest->at[0] == '\n'))
        ++rest->at, --rest->size;
}

// Takes a letter. Returns 1, or 0 where the next letter is another one.
static inline int npy_letter(text *rest, char letter) {
    npy_blanks(rest);
    if (!rest->size || rest->at[0] != letter) return 0;
    ++rest->at, --rest->size;
    return 1;
}

// Takes a string between quotes of either kind. Returns 1, or 0 where there is none.
static inline int npy_string(text *rest, text *string) {
    const char *end;
    npy_blanks(rest);
    if (rest->size < 2 || (rest->at[0] != '\'' && rest->at[0] != '"')) return 0;
    end = (const char *)memchr(rest->at + 1, rest->at[0], (size_t)rest->size - 1);
    if (!end) return 0;
    string->at = rest->at + 1, string->size = (input_u64)(end - string->at);
    rest->at += string->size + 2, rest->size -= string->size + 2;
    return 1;
}

// Takes letters and digits.
static inline text npy_word(text *rest) {
    text word;
    npy_blanks(rest);
    word.at = rest->at, word.size = 0;
    while (word.size < rest->size && !strchr(",:(){} \n", word.at[word.size])) ++word.size;
    rest->at += word.size, rest->size -= word.size;
    return word;
}

static inline int npy_read_type(const input *in, text *rest, const char *types, npy *a) {
    text type = {NULL, 0};
    if (npy_string(rest, &type) && type.size == 3) {
        memcpy(a->type, type.at + 1, 2), a->type[2] = 0;
        a->each = npy_bytes(types, a->type), a->big = type.at[0] == '>';
        if (a->each && (type.at[0] == '<' || a->big || (type.at[0] == '|' && a->each == 1)))
            return 0;
    }
    return input_bad(in, "has values of another type than %s", types);
}

static inline int npy_read_shape(const input *in, text *rest, npy *a) {
    int more = npy_letter(rest, '(');
    if (!more) return input_bad(in, "its shape is no tuple of whole numbers");
    for (a->dims = 0; more && !npy_letter(rest, ')');) {
        if (a->dims == NPY_DIMS) return input_bad(in, "has more than %d dimensions", NPY_DIMS);
        const int wrong = text_whole(npy_word(rest), ~0ull, &a->shape[a->dims++]);
        more = npy_letter(rest, ',');
        if (wrong || (!more && !npy_letter(rest, ')')))
            return input_bad(in, "its shape is no tuple of whole numbers");
    }
    if (!a->dims) return input_bad(in, "is a single value, no array");
    for (unsigned d = a->dims; d < NPY_DIMS; ++d) a->shape[d] = 1;
    return 0;
}

static inline int npy_read_keys(const input *in, text rest, const char *types, npy *a) {
    static const char *const keys[3] = {"descr", "fortran_order", "shape"};
    int seen[3] = {0, 0, 0}, key, more = npy_letter(&rest, '{');
    while (more && !npy_letter(&rest, '}')) {
        text name = {NULL, 0};
        npy_string(&rest, &name);
        for (key = 0; key < 3 && !text_is(name, keys[key]); ++key) {
        }
        if (key == 3 || seen[key]++ || !npy_letter(&rest, ':'))
            return input_bad(in, "its head has other keys than descr, fortran_order and shape");
        if (key == 0 && npy_read_type(in, &rest, types, a)) return -1;
        if (key == 1 && !text_is(npy_word(&rest), "false"))
            return input_bad(in, "is in Fortran's order (numpy.ascontiguousarray changes it)");
        if (key == 2 && npy_read_shape(in, &rest, a)) return -1;
        more = npy_letter(&rest, ',');
        if (!more && !npy_letter(&rest, '}')) return input_bad(in, "its head does not end");
    }
    npy_blanks(&rest);
    if (!seen[0] || !seen[1] || !seen[2] || rest.size)
        return input_bad(in, "its head is not {'descr': ..., 'fortran_order': ..., 'shape': ...}");
    return 0;
}

// The head alone, which counts as read; a->data is null. bytes: of the values that follow, whether
// they are there or not. types: the types that values may have. Returns 0, or -1 with the line in
// in->error (a is untouched).
static inline int npy_head(input *in, const char *types, npy *a, input_u64 *bytes) {
    const unsigned char *head = input_take(in, 8), *length = NULL;
    text keys = {NULL, 0};
    npy b;
    memset(&b, 0, sizeof b);
    if (!head || memcmp(head, "\x93NUMPY", 6)) return input_bad(in, "no .npy file");
    if (head[6] < 1 || head[6] > 3 || head[7])
        return input_bad(in, "is of version %d.%d of .npy, not 1.0, 2.0 or 3.0", head[6], head[7]);
    length = input_take(in, head[6] == 1 ? 2 : 4);
    if (length) keys.size = head[6] == 1 ? input_u16(length, 0) : input_u32(length, 0);
    keys.at = (const char *)input_take(in, keys.size);
    if (!length || !keys.at) return input_bad(in, "ends inside its head");
    if (npy_read_keys(in, keys, types, &b)) return -1;
    if (input_product(b.shape[0], b.shape[1], &b.count) ||
        input_product(b.count, b.shape[2], &b.count) || input_product(b.count, b.each, bytes))
        return input_bad(in, "its shape has more values than 2^64");
    *a = b;
    return 0;
}

// Returns 0, or -1 with the line in in->error (a is untouched). The values stay in the input.
static inline int npy_read(input *in, npy *a) {
    input_u64 bytes = 0;
    npy b;
    if (npy_head(in, NPY_TYPES, &b, &bytes)) return -1;
    if (bytes != input_left(in))
        return input_bad(in, "its shape needs %llu bytes, but %llu are there", bytes,
                         input_left(in));
    b.data = input_take(in, bytes);
    *a = b;
    return 0;
}

// ---- writing ------------------------------------------------------------------------------------

// Writes the head of an array of this machine's byte order, 128 bytes long. Returns 0, or -1 where
// the file does not take it or the type or dims are not known (nothing is written then).
static inline int npy_write_head(FILE *file, const char *type, unsigned dims,
                                 const input_u64 *shape) {
    const unsigned one = 1, each = npy_bytes(NPY_TYPES_ALL, type);
    char head[128] = "\x93NUMPY\1", sizes[80] = "";
    unsigned char little;
    memcpy(&little, &one, 1);
    if (!each || dims < 1 || dims > NPY_DIMS) return -1;
    for (unsigned d = 0; d < dims; ++d)
        snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes), "%s%llu%s", d ? ", " : "",
                 shape[d], dims == 1 ? "," : "");
    // The text is 118 long, blanks and a line feed at its end, so that values begin at a multiple
    // of 64.
    const int length = snprintf(head + 10, sizeof head - 10,
                                "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }",
                                each == 1 ? '|'
                                : little  ? '<'
                                          : '>',
                                type, sizes);
    if (length < 0 || length > 116) return -1;
    memset(head + 10 + length, ' ', (size_t)(117 - length));
    head[8] = 118, head[9] = 0, head[127] = '\n';
    return fwrite(head, 128, 1, file) == 1 ? 0 : -1;
}

// Writes values of a type, in this machine's byte order; shape: dims sizes, 1 to NPY_DIMS of them.
// Returns 0, or -1 where the file does not take it or the type or dims are not known (nothing is
// written then).
//
//     const input_u64 shape[2] = {rows, columns};
//     npy_write(file, "f4", 2, shape, values);
static inline int npy_write(FILE *file, const char *type, unsigned dims, const input_u64 *shape,
                            const void *values) {
    const unsigned each = npy_bytes(NPY_TYPES_ALL, type);
    input_u64 count = 1, bytes = 0;
    if (!each || dims < 1 || dims > NPY_DIMS) return -1;
    for (unsigned d = 0; d < dims; ++d)
        if (input_product(count, shape[d], &count)) return -1;
    if (input_product(count, each, &bytes) || bytes > (size_t)-1 / 2) return -1;
    if (npy_write_head(file, type, dims, shape)) return -1;
    return !count || fwrite(values, each, (size_t)count, file) == count ? 0 : -1;
}

#endif
