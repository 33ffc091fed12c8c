// SPDX-License-Identifier: MIT
// device_radix_sort.cuh: CUB's sort of pairs between two buffers each, for the CPU machine. Like
// CUB's it turns the buffers over once for each 8 bits, and once where there are few pairs.
#ifndef SIMT_CUB_DEVICE_RADIX_SORT_CUH
#define SIMT_CUB_DEVICE_RADIX_SORT_CUH

#include <algorithm>
#include <numeric>
#include <vector>

namespace cub {

template <class Type>
struct DoubleBuffer {
    Type *d_buffers[2];
    int selector = 0;
    DoubleBuffer(Type *current, Type *alternate) : d_buffers{current, alternate} {}
    Type *Current() { return d_buffers[selector]; }
    Type *Alternate() { return d_buffers[selector ^ 1]; }
};

struct DeviceRadixSort {
    template <class Key, class Value, class Number>
    static cudaError_t SortPairs(void *temporary, size_t &bytes, DoubleBuffer<Key> &keys,
                                 DoubleBuffer<Value> &values, Number n, int begin, int end,
                                 cudaStream_t = 0) {
        const size_t need = 1000;
        if (!temporary) return bytes = need, cudaSuccess;
        if (bytes < need) return cudaErrorInvalidValue;
        memset(temporary, 0, need);
        const Key mask = ~(Key)0 >> (8 * sizeof(Key) - (size_t)(end - begin));
        const auto part = [&](size_t i) { return keys.Current()[i] >> begin & mask; };
        std::vector<size_t> order(n);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](size_t a, size_t b) { return part(a) < part(b); });
        for (size_t i = 0; i < n; ++i) {
            keys.Alternate()[i] = keys.Current()[order[i]];
            values.Alternate()[i] = values.Current()[order[i]];
        }
        keys.selector ^= 1, values.selector ^= 1;
        if (n <= 500 || (end - begin + 7) / 8 % 2) return cudaSuccess;
        std::copy_n(keys.Current(), n, keys.Alternate());
        std::copy_n(values.Current(), n, values.Alternate());
        keys.selector ^= 1, values.selector ^= 1;
        return cudaSuccess;
    }
};

} // namespace cub

#endif
