// SPDX-License-Identifier: MIT
// json.h: one flat JSON object of known keys, whose values are whole numbers and short texts.
//
// It describes the file beside it. The reader refuses nested objects, repeated keys, numbers that
// would be rounded, unknown keys, and texts with escapes or letters beyond ASCII, although JSON
// libraries may accept them. It does not recurse.
#ifndef FILES_JSON_H
#define FILES_JSON_H

#include "text.h"

enum { JSON_KEYS = 32 };

// A key, and where its value goes: a text with its zero byte, of `room` bytes at most; or, where
// text is null, a whole number below 2^64.
typedef struct json_key {
    const char *name;
    char *text;
    size_t room;
    input_u64 *number;
} json_key;

static inline void json_blanks(input *in) {
    for (; in->at < in->size && strchr(" \t\r\n", in->data[in->at]) && in->data[in->at]; ++in->at)
        in->line += in->data[in->at] == '\n';
}

// Takes a letter after blanks. Returns 1, or 0 where the next letter is another one.
static inline int json_letter(input *in, char letter) {
    json_blanks(in);
    if (in->at == in->size || in->data[in->at] != (unsigned char)letter) return 0;
    ++in->at;
    return 1;
}

// Takes a text between quotes. Returns 1, or 0 where there is none, or one of other letters.
static inline int json_text(input *in, text *t) {
    if (!json_letter(in, '"')) return 0;
    t->at = (const char *)in->data + in->at, t->size = 0;
    for (; in->at < in->size; ++in->at, ++t->size) {
        const unsigned char c = in->data[in->at];
        if (c == '"') return ++in->at, 1;
        if (c < ' ' || c > '~' || c == '\\') return 0;
    }
    return 0;
}

static inline int json_value(input *in, const json_key *key) {
    const char *name = key->name;
    text t = {NULL, 0};
    json_blanks(in);
    if (key->text) {
        if (!json_text(in, &t))
            return input_bad(in, "line %llu: its %s is no text of ASCII letters without escapes",
                             in->line, name);
        if (t.size >= key->room)
            return input_bad(in, "line %llu: its %s has %llu letters, more than %u", in->line, name,
                             t.size, (unsigned)key->room - 1);
        memcpy(key->text, t.at, (size_t)t.size);
        key->text[t.size] = 0;
        return 0;
    }
    t.at = (const char *)in->data + in->at;
    while (in->at < in->size && !strchr(" \t\r\n,}", in->data[in->at])) ++in->at, ++t.size;
    if (text_whole(t, ~0ull, key->number) || (t.size > 1 && t.at[0] == '0'))
        return input_bad(in, "line %llu: its %s is no whole number below 2^64", in->line, name);
    return 0;
}

// Reads an input that is such an object, with every key once, in any order, and nothing else.
// count: JSON_KEYS at most. Returns 0, or -1 with the line in in->error; values may be changed
// then.
static inline int json_read(input *in, const json_key *keys, unsigned count) {
    int seen[JSON_KEYS] = {0}, more;
    in->line = 1;
    if (!json_letter(in, '{')) return input_bad(in, "is no JSON object");
    for (more = !json_letter(in, '}'); more;) {
        text name = {NULL, 0};
        unsigned key = 0;
        if (!json_text(in, &name))
            return input_bad(in, "line %llu: no key between quotes", in->line);
        while (key < count && (strlen(keys[key].name) != name.size ||
                               memcmp(keys[key].name, name.at, (size_t)name.size)))
            ++key;
        if (key == count) return input_bad(in, "line %llu: not a key that is known", in->line);
        if (seen[key]++)
            return input_bad(in, "line %llu: its %s is there twice", in->line, keys[key].name);
        if (!json_letter(in, ':'))
            return input_bad(in, "line %llu: no colon behind %s", in->line, keys[key].name);
        if (json_value(in, &keys[key])) return -1;
        more = json_letter(in, ',');
        if (!more && !json_letter(in, '}'))
            return input_bad(in, "line %llu: no comma and no end behind %s", in->line,
                             keys[key].name);
    }
    json_blanks(in);
    if (in->at != in->size) return input_bad(in, "line %llu: more behind its object", in->line);
    for (unsigned key = 0; key < count; ++key)
        if (!seen[key]) return input_bad(in, "has no %s", keys[key].name);
    return 0;
}

#endif
