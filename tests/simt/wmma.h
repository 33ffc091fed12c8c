// SPDX-License-Identifier: MIT
// mma.h: nvcuda::wmma fragments of 16x16x16, 32x8x16 and 8x32x16. Which lane holds which element
// is scattered on purpose: CUDA does not say, and code that counts on the hardware must fail.
#ifndef SIMT_WMMA_H
#define SIMT_WMMA_H

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };

} // namespace wmma
} // namespace nvcuda

namespace simt {

using namespace nvcuda::wmma;

// Rows, columns and slots of a fragment. Half operands have 16 slots in every lane, as in CUDA,
// so each element may be held by several lanes.
template <class Use, int M, int N, int K, class T> struct Shape {
    static_assert((M == 16 && N == 16 && K == 16) || (M == 32 && N == 8 && K == 16) ||
                      (M == 8 && N == 32 && K == 16), "a shape that wmma has");
    static constexpr bool a = std::is_same<Use, matrix_a>::value;
    static constexpr bool b = std::is_same<Use, matrix_b>::value;
    static_assert(a || b ? one_of<T, __half, __nv_bfloat16, signed char, unsigned char>
                         : one_of<T, __half, float, int>, "an element type that wmma has");
    static constexpr int rows = b ? K : M, columns = a ? K : N, size = rows * columns;
    static constexpr int slots = (a || b) && one_of<T, __half> ? 16 : size / 32;

    // The element, row * columns + column, in a slot of a lane: odd factors permute 2^n numbers.
    static int element(int lane, int slot) {
        int factor = a ? 45 : b ? 109 : 77, shift = a ? 19 : b ? 7 : 101;
        return ((lane * slots + slot) * factor + shift) % size;
    }
};

// All lanes must name the same matrix.
struct MatrixOperand {
    const void *p;
    unsigned ld;
};
inline void finish_operand(Thread *warp, unsigned lanes) {
    bool same = lanes == ~0u;
    MatrixOperand first = get<MatrixOperand>(warp[0].in);
    for (unsigned l = 0; same && l < warp_lanes; l++) {
        MatrixOperand o = get<MatrixOperand>(warp[l].in);
        same = o.p == first.p && o.ld == first.ld;
    }
    for (unsigned l = 0; l < warp_lanes; l++) put(warp[l].out, same);
}
template <class T> void check_operand(const T *p, unsigned ld, const Site &site) {
    if ((uintptr_t)p % 32)
        fail("%s at %s:%d: the address is not a multiple of 32", site.what, site.file, site.line);
    if (ld % (sizeof(T) == 4 ? 4 : 8))
        fail("%s at %s:%d: a row length of %u is not a multiple of 8, or of 4 for float and int",
             site.what, site.file, site.line, ld);
    if (!exchange<bool>(~0u, MatrixOperand{p, ld}, 0, site, finish_operand))
        fail("%s at %s:%d: not called by 32 lanes with one address and row length", site.what,
             site.file, site.line);
}

// The operands of the running mma_sync of each warp.
template <class T> inline T matrix_a_of[max_warps][512];
template <class T> inline T matrix_b_of[max_warps][512];

} // namespace simt

namespace nvcuda {
namespace wmma {

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    using element_type = T;
    static constexpr int num_elements = simt::Shape<Use, M, N, K, T>::slots;
    T x[num_elements];
};

template <class Use, int M, int N, int K, class T, class L>
void fill_fragment(fragment<Use, M, N, K, T, L> &f, simt::Value<T> v) {
    for (T &x : f.x) x = v;
}

template <class Use, int M, int N, int K, class T, class L>
void load_matrix_sync(fragment<Use, M, N, K, T, L> &f, const T *p, unsigned ld, SIMT_CALLER) {
    static_assert(!std::is_void<L>::value, "an accumulator is loaded with a layout_t");
    using Shape = simt::Shape<Use, M, N, K, T>;
    simt::check_operand(p, ld, SIMT_SITE("load_matrix_sync"));
    for (int i = 0; i < f.num_elements; i++) {
        int e = Shape::element(simt::lane(), i), r = e / Shape::columns, c = e % Shape::columns;
        f.x[i] = std::is_same<L, row_major>::value ? p[(size_t)r * ld + c] : p[(size_t)c * ld + r];
    }
}
template <int M, int N, int K, class T>
void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *p, unsigned ld,
                      layout_t layout, SIMT_CALLER) {
    using Shape = simt::Shape<accumulator, M, N, K, T>;
    simt::check_operand(p, ld, SIMT_SITE("load_matrix_sync"));
    for (int i = 0; i < f.num_elements; i++) {
        int e = Shape::element(simt::lane(), i), r = e / N, c = e % N;
        f.x[i] = layout == mem_row_major ? p[(size_t)r * ld + c] : p[(size_t)c * ld + r];
    }
}
template <int M, int N, int K, class T>
void store_matrix_sync(T *p, const fragment<accumulator, M, N, K, T> &f, unsigned ld,
                       layout_t layout, SIMT_CALLER) {
    using Shape = simt::Shape<accumulator, M, N, K, T>;
    simt::check_operand(p, ld, SIMT_SITE("store_matrix_sync"));
    for (int i = 0; i < f.num_elements; i++) {
        int e = Shape::element(simt::lane(), i), r = e / N, c = e % N;
        p[layout == mem_row_major ? (size_t)r * ld + c : (size_t)c * ld + r] = f.x[i];
    }
}

// d = a * b + c. Products of half and bfloat16 are exact in float, sums are rounded in float, and a half
// result once at the end; tensor cores round sums in their own way.
template <int M, int N, int K, class D, class C, class T, class LA, class LB>
void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, T, LA> &a,
              const fragment<matrix_b, M, N, K, T, LB> &b,
              const fragment<accumulator, M, N, K, C> &c, bool saturate = false, SIMT_CALLER) {
    using Sum = std::conditional_t<std::is_integral<T>::value, int, float>;
    static_assert(std::is_integral<T>::value == std::is_same<D, int>::value, "int8 gives int");
    static_assert(std::is_integral<D>::value == std::is_integral<C>::value, "d and c disagree");
    static_assert(!std::is_same<T, __nv_bfloat16>::value || simt::one_of<D, float>, "gives float");
    int lane = simt::lane();
    auto &ma = simt::matrix_a_of<Sum>[simt::machine.current->linear / 32];
    auto &mb = simt::matrix_b_of<Sum>[simt::machine.current->linear / 32];
    for (int i = 0; i < a.num_elements; i++)
        ma[simt::Shape<matrix_a, M, N, K, T>::element(lane, i)] = (Sum)a.x[i];
    for (int i = 0; i < b.num_elements; i++)
        mb[simt::Shape<matrix_b, M, N, K, T>::element(lane, i)] = (Sum)b.x[i];
    if (simt::vote(~0u, true, SIMT_SITE("mma_sync")).y != ~0u)
        simt::fail("mma_sync at %s:%d: not called by 32 lanes", file, line);
    D result[simt::Shape<accumulator, M, N, K, D>::slots];
    static_assert(sizeof(D) == sizeof(C) || !std::is_integral<T>::value, "");
    for (int i = 0; i < d.num_elements; i++) {
        int e = simt::Shape<accumulator, M, N, K, D>::element(lane, i), r = e / N, q = e % N;
        Sum sum = 0;
        for (int k = 0; k < K; k++) sum += ma[r * K + k] * mb[k * N + q];
        if constexpr (std::is_integral<T>::value) {
            long long s = (long long)sum + c.x[i];
            if (saturate) s = s < INT_MIN ? INT_MIN : s > INT_MAX ? INT_MAX : s;
            result[i] = (int)(unsigned)s;
        } else {
            result[i] = (D)(sum + (float)c.x[i]);
        }
    }
    // The next mma_sync overwrites the operands.
    simt::vote(~0u, true, SIMT_SITE("mma_sync"));
    for (int i = 0; i < d.num_elements; i++) d.x[i] = result[i];
}

} // namespace wmma
} // namespace nvcuda

#endif
