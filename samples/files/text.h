// SPDX-License-Identifier: MIT
// text.h: lines, words, columns and numbers of a text in memory. Lines may have any length, numbers
// have a point in every locale, and no length is trusted.
#ifndef FILES_TEXT_H
#define FILES_TEXT_H

#include "input.h"

// A piece of a text. It does not end with a zero byte.
typedef struct text {
    const char *at;
    input_u64 size;
} text;

static inline int text_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static inline int text_is_digit(char c) { return c >= '0' && c <= '9'; }

static inline char text_lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

// 1 if a text is a word, in small or capital letters. word: in small ones.
static inline int text_is(text t, const char *word) {
    input_u64 i = 0;
    while (i < t.size && word[i] && text_lower(t.at[i]) == word[i]) ++i;
    return i == t.size && !word[i];
}

// Without the blanks at both ends.
static inline text text_trim(text t) {
    while (t.size && text_is_blank(t.at[0])) ++t.at, --t.size;
    while (t.size && text_is_blank(t.at[t.size - 1])) --t.size;
    return t;
}

// The columns `first` to `last` of a line, counted from 1, without blanks at their ends. A line
// that is shorter has less, or nothing, there.
static inline text text_columns(text line, input_u64 first, input_u64 last) {
    text t = {line.at, 0};
    if (line.size < first) return t;
    t.at += first - 1, t.size = (line.size < last ? line.size : last) - (first - 1);
    return text_trim(t);
}

// Removes the first word from a text and returns it; empty if there is none.
static inline text text_word(text *rest) {
    text word;
    while (rest->size && text_is_blank(rest->at[0])) ++rest->at, --rest->size;
    word.at = rest->at, word.size = 0;
    while (word.size < rest->size && !text_is_blank(rest->at[word.size])) ++word.size;
    rest->at += word.size, rest->size -= word.size;
    return word;
}

// The text after the last point of a file's name; empty if there is none.
static inline text text_ending(const char *path) {
    const char *slash = strrchr(path, '/'), *point = strrchr(slash ? slash : path, '.');
    text t = {path, 0};
    if (point) t.at = point + 1, t.size = strlen(point + 1);
    return t;
}

// ---- of an input --------------------------------------------------------------------------------

// The next line, without "\n" or "\r\n". Returns 1, or 0 at the end.
static inline int text_line(input *in, text *line) {
    const input_u64 left = input_left(in);
    const char *at = (const char *)in->data + in->at;
    const char *end = left ? (const char *)memchr(at, '\n', (size_t)left) : NULL;
    if (!left) return 0;
    line->at = at, line->size = end ? (input_u64)(end - at) : left;
    in->at += line->size + (end != NULL);
    ++in->line;
    if (line->size && at[line->size - 1] == '\r') --line->size;
    return 1;
}

// The next word, over ends of lines. Returns 1, or 0 at the end.
static inline int text_next(input *in, text *word) {
    const char *data = (const char *)in->data;
    if (!in->line) in->line = 1;
    while (in->at < in->size && (text_is_blank(data[in->at]) || data[in->at] == '\n'))
        in->line += data[in->at++] == '\n';
    word->at = data + in->at, word->size = 0;
    while (in->at < in->size && !text_is_blank(data[in->at]) && data[in->at] != '\n')
        ++in->at, ++word->size;
    return word->size != 0;
}

// ---- numbers ------------------------------------------------------------------------------------

// A whole number from 0 to `most`, all of the text. Returns 0, or -1 (value is untouched).
static inline int text_whole(text t, input_u64 most, input_u64 *value) {
    input_u64 v = 0;
    if (!t.size) return -1;
    for (input_u64 i = 0; i < t.size; ++i) {
        const unsigned digit = (unsigned)(t.at[i] - '0');
        if (!text_is_digit(t.at[i]) || v > (most - digit) / 10 || digit > most) return -1;
        v = 10 * v + digit;
    }
    *value = v;
    return 0;
}

// mantissa * 10^power. Below 2^53 and 10^22 both are exact, so their product or quotient, rounded
// once, is the nearest double (Clinger, PLDI 1990). Otherwise libc converts a text without a point,
// because locales differ in the point.
static inline double text_scale(input_u64 mantissa, long long power) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    char plain[64];
    if (mantissa <= 1ull << 53 && power >= -22 && power <= 22)
        return power < 0 ? (double)mantissa / tens[-power] : (double)mantissa * tens[power];
    snprintf(plain, sizeof plain, "%llue%lld", mantissa, power);
    return strtod(plain, NULL);
}

// A decimal number, all of the text: [+-] digits [. digits] [e|E|d|D [+-] digits], where digits may
// be missing on one side of the point; or nan, inf, infinity, in any letters. Beyond 19 significant
// digits it is cut. Returns 0, or -1 (value is untouched).
static inline int text_number(text t, double *value) {
    const int minus = t.size && t.at[0] == '-';
    input_u64 mantissa = 0, i = 0;
    long long power = 0, exponent = 0, sign = 1;
    int digits = 0, point = 0;
    if (t.size && (minus || t.at[0] == '+')) ++t.at, --t.size;
    if (text_is(t, "nan") || text_is(t, "inf") || text_is(t, "infinity")) {
        const uint32_t bits = text_is(t, "nan") ? 0x7fc00000u : 0x7f800000u;
        float special;
        memcpy(&special, &bits, sizeof special);
        *value = minus ? -special : special;
        return 0;
    }
    for (; i < t.size && (text_is_digit(t.at[i]) || (t.at[i] == '.' && !point)); ++i) {
        if (t.at[i] == '.') {
            point = 1;
            continue;
        }
        digits = 1;
        if (mantissa < 1000000000000000000ull)
            mantissa = 10 * mantissa + (unsigned)(t.at[i] - '0'), power -= point;
        else
            power += !point;
    }
    if (!digits) return -1;
    if (i < t.size && (text_lower(t.at[i]) == 'e' || text_lower(t.at[i]) == 'd')) {
        if (++i < t.size && (t.at[i] == '-' || t.at[i] == '+')) sign = t.at[i++] == '-' ? -1 : 1;
        if (i == t.size) return -1;
        for (; i < t.size && text_is_digit(t.at[i]); ++i)
            if (exponent < 1000000) exponent = 10 * exponent + (t.at[i] - '0');
    }
    if (i != t.size) return -1;
    *value = mantissa ? text_scale(mantissa, power + sign * exponent) : 0;
    if (minus) *value = -*value;
    return 0;
}

#endif
