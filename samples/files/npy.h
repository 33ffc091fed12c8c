// SPDX-License-Identifier: MIT
// npy.h: arrays of one to three dimensions in numpy's .npy format, versions 1 to 3, of either byte
// order, and a writer that numpy.load understands.
//
// Types are named as in numpy: u1 u2 u4 u8 (without sign), i1 i2 i4 i8 (with one), f4 f8. Files
// with more bytes than the shape needs are refused. The name of numpy's structured type of one
// field, [('NAME', '<u4')], is for a user's text (state.h).
#ifndef FILES_NPY_H
#define FILES_NPY_H

#include "input.h"

enum { NPY_DIMS = 3 };
#define NPY_TYPES "u1 u2 u4 u8 i1 i2 i4 i8 f4 f8"

typedef struct npy {
    text name;                 // of a structured type of one field; else of size 0
    char type[3];              // "f4"
    int big;                   // byte order
    int fortran;               // the first index changes fastest, not the last one
    unsigned each, dims;       // bytes of a value, and 1 to NPY_DIMS
    input_u64 shape[NPY_DIMS]; // 1 beyond dims
    input_u64 count;           // the product of the shape
    const unsigned char *data; // inside of the input
} npy;

// Value i in the order in which the last index changes fastest: exactly, but for integers beyond
// 2^53, which are rounded.
static inline double npy_value(const npy *a, input_u64 i) {
    const input_u64 *n = a->shape;
    if (a->fortran) i = (i % n[2] * n[1] + i / n[2] % n[1]) * n[0] + i / n[2] / n[1];
    const unsigned char *at = a->data + i * a->each;
    if (a->type[0] == 'f') return a->each == 4 ? input_f32(at, a->big) : input_f64(at, a->big);
    const uint64_t value = a->each == 8   ? input_u64_of(at, a->big)
                           : a->each == 4 ? input_u32(at, a->big)
                           : a->each == 2 ? input_u16(at, a->big)
                                          : *at;
    const uint64_t sign = (uint64_t)1 << (8 * a->each - 1);
    return a->type[0] == 'i' ? (double)(int64_t)((value ^ sign) - sign) : (double)value;
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
    const int named = npy_letter(rest, '[');
    if (named && !(npy_letter(rest, '(') && npy_string(rest, &a->name) && npy_letter(rest, ',')))
        return input_bad(in, "has values of another type than %s", types);
    if (npy_string(rest, &type) && type.size == 3) {
        memcpy(a->type, type.at + 1, 2), a->type[2] = 0;
        a->each = npy_bytes(types, a->type), a->big = type.at[0] == '>';
        if (a->each && (type.at[0] == '<' || a->big || (type.at[0] == '|' && a->each == 1)) &&
            (!named || (npy_letter(rest, ')') && npy_letter(rest, ']'))))
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
        if (key == 1) {
            const text fortran = npy_word(&rest);
            a->fortran = text_is(fortran, "true");
            if (!a->fortran && !text_is(fortran, "false"))
                return input_bad(in, "its fortran_order is neither True nor False");
        }
        if (key == 2 && npy_read_shape(in, &rest, a)) return -1;
        more = npy_letter(&rest, ',');
        if (!more && !npy_letter(&rest, '}')) return input_bad(in, "its head does not end");
    }
    npy_blanks(&rest);
    if (!seen[0] || !seen[1] || !seen[2] || rest.size)
        return input_bad(in, "its head is not {'descr': ..., 'fortran_order': ..., 'shape': ...}");
    return 0;
}

// Reads an array of one of these types. named: 1 for a structured type of one field, 0 for values
// alone. Values stay in the input. Returns 0, or -1 with the line in in->error (a is untouched).
static inline int npy_read_as(input *in, const char *types, int named, npy *a) {
    const unsigned char *head = input_take(in, 8), *length = NULL;
    text keys = {NULL, 0};
    input_u64 bytes = 0;
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
    if (named && !b.name.at) return input_bad(in, "its values have no name");
    if (!named && b.name.at) return input_bad(in, "has values of another type than %s", types);
    if (input_product(b.shape[0], b.shape[1], &b.count) ||
        input_product(b.count, b.shape[2], &b.count) || input_product(b.count, b.each, &bytes))
        return input_bad(in, "its shape has more values than 2^64");
    if (bytes != input_left(in))
        return input_bad(in, "its shape needs %llu bytes, but %llu are there", bytes,
                         input_left(in));
    b.data = input_take(in, bytes);
    *a = b;
    return 0;
}

static inline int npy_read(input *in, npy *a) { return npy_read_as(in, NPY_TYPES, 0, a); }

// ---- writing ------------------------------------------------------------------------------------

// 1 if this machine stores numbers from the lowest byte on.
static inline int npy_little(void) {
    const unsigned one = 1;
    return *(const unsigned char *)&one;
}

// Writes the head of an array of this machine's byte order, a multiple of 64 bytes long. name: of
// the values, without quotes; null: none. Returns 0, or -1 where the file does not take it or the
// type or dims are not known (nothing is written then).
static inline int npy_write_head(FILE *file, const char *name, const char *type, unsigned dims,
                                 const input_u64 *shape) {
    const unsigned each = npy_bytes(NPY_TYPES, type);
    char head[1024] = "\x93NUMPY\1", sizes[80] = "";
    if (!each || dims < 1 || dims > NPY_DIMS) return -1;
    for (unsigned d = 0; d < dims; ++d)
        snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes), "%s%llu%s", d ? ", " : "",
                 shape[d], dims == 1 ? "," : "");
    const char order = each == 1 ? '|' : npy_little() ? '<' : '>';
    const int length = snprintf(
        head + 10, 900, "{'descr': %s%s%s'%c%s'%s, 'fortran_order': False, 'shape': (%s), }",
        name ? "[('" : "", name ? name : "", name ? "', " : "", order, type, name ? ")]" : "",
        sizes);
    if (length < 0 || length >= 900) return -1;
    const int all = (10 + length + 1 + 63) / 64 * 64; // blanks and a line feed at the end
    memset(head + 10 + length, ' ', (size_t)(all - 10 - length));
    head[8] = (char)((all - 10) & 255), head[9] = (char)((all - 10) >> 8), head[all - 1] = '\n';
    return fwrite(head, (size_t)all, 1, file) == 1 ? 0 : -1;
}

// Writes values of a type; returns as npy_write_head, or -1 for a shape that 64 bits do not hold.
// Example: npy_write(file, "f4", 2, shape, values), where shape is {rows, columns}.
static inline int npy_write(FILE *file, const char *type, unsigned dims, const input_u64 *shape,
                            const void *values) {
    const unsigned each = npy_bytes(NPY_TYPES, type);
    input_u64 count = 1, bytes = 0;
    for (unsigned d = 0; d < dims && dims <= NPY_DIMS; ++d)
        if (input_product(count, shape[d], &count)) return -1;
    if (input_product(count, each, &bytes) || bytes > (size_t)-1 / 2) return -1;
    if (npy_write_head(file, NULL, type, dims, shape)) return -1;
    return !count || fwrite(values, each, (size_t)count, file) == count ? 0 : -1;
}

#endif
