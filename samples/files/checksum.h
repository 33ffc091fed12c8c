// SPDX-License-Identifier: MIT
// checksum.h: the CRC-32 of bytes, as in Python's zlib.crc32, zlib, PNG and gzip.
//
// The polynomial is 0xedb88320, lowest bit first; the sum begins with all bits set and ends
// inverted. Eight bytes are taken at a time, by a table for each (Kounavis and Berry, 2005).
// Example: of "123456789" it is 0xcbf43926.
#ifndef FILES_CHECKSUM_H
#define FILES_CHECKSUM_H

#include "input.h"

typedef struct checksum {
    uint32_t value; // of the bytes that were added
    uint32_t table[8][256];
} checksum;

static inline void checksum_begin(checksum *c) {
    c->value = 0;
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t sum = i;
        for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
        c->table[0][i] = sum;
    }
    for (int t = 1; t < 8; ++t)
        for (int i = 0; i < 256; ++i)
            c->table[t][i] = c->table[t - 1][i] >> 8 ^ c->table[0][c->table[t - 1][i] & 255];
}

static inline void checksum_add(checksum *c, const void *bytes, input_u64 size) {
    const unsigned char *p = (const unsigned char *)bytes;
    uint32_t sum = ~c->value;
    for (; size >= 8; size -= 8, p += 8) {
        const uint32_t low = sum ^ input_u32(p, 0), high = input_u32(p + 4, 0);
        sum = c->table[7][low & 255] ^ c->table[6][low >> 8 & 255] ^ c->table[5][low >> 16 & 255] ^
              c->table[4][low >> 24] ^ c->table[3][high & 255] ^ c->table[2][high >> 8 & 255] ^
              c->table[1][high >> 16 & 255] ^ c->table[0][high >> 24];
    }
    for (; size; --size, ++p) sum = sum >> 8 ^ c->table[0][(sum ^ *p) & 255];
    c->value = ~sum;
}

#endif
