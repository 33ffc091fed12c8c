// SPDX-License-Identifier: MIT
// cxx.h: the engines with C++ lambdas, captures included, and typed points and accumulators.
// Optional; C++17; near pairs are in cxx_near.h. Each call becomes one call of the C form at
// compile time. A lambda's captures are its job, a copy in registers: the machine code is that of
// the C form with the address of a local copy of the job. With the address of a kernel's parameter,
// which a C kernel may pass as well, nvcc allots registers differently (docs/porting.md).
//
//     __global__ void dab(tmap_each_plan plan, int *out, int colour) {
//         tmap::each(plan, [=](tmap_cell cell) { out[cell.at] = colour; });
//     }
//
// A lambda must not contain a barrier or a collective. All threads of all blocks make a call, in
// blocks of the plan's size, as with the C form, whose header describes it: plans, workspaces and
// launches are the same. An accumulator, an element or a value has a type that can be copied byte
// by byte; an accumulator has 4 to 64 bytes, a multiple of 4, one of a point up to 256. Other types
// are compile errors.
#ifndef TMAP_CXX_H
#define TMAP_CXX_H

#include "fractal.h"
#include "triangle.h"

#if TMAP_CUDA && defined(__cplusplus)

namespace tmap {

// ---- types --------------------------------------------------------------------------------------

template <class Type>
__device__ __forceinline__ void tmapi_check_copied() {
    static_assert(__is_trivially_copyable(Type), "the type cannot be copied byte by byte");
}
template <class Sum>
__device__ __forceinline__ void tmapi_check_sum() {
    tmapi_check_copied<Sum>();
    static_assert(sizeof(Sum) % 4 == 0 && sizeof(Sum) <= TMAP_FOLD_BYTES_MAX,
                  "an accumulator has 4 to 64 bytes, a multiple of 4");
}
template <class Sum>
__device__ __forceinline__ void tmapi_check_row() {
    tmapi_check_copied<Sum>();
    static_assert(sizeof(Sum) % 4 == 0 && sizeof(Sum) <= TMAP_PAIRS_ROWS_BYTES_MAX,
                  "an accumulator of a point has 4 to 256 bytes, a multiple of 4");
}
template <class Real>
__device__ __forceinline__ void tmapi_check_element() {
    tmapi_check_copied<Real>();
    static_assert((sizeof(Real) & (sizeof(Real) - 1)) == 0 && sizeof(Real) <= 16,
                  "an element has 1, 2, 4, 8 or 16 bytes");
}
// Of a coordinate, or of a value of a pair.
template <class Real>
__device__ __forceinline__ void tmapi_check_number() {
    tmapi_check_copied<Real>();
    static_assert(sizeof(Real) == 4 || sizeof(Real) == 8,
                  "a coordinate or a value of a pair has 4 or 8 bytes");
}

// ---- cells of a fractal -------------------------------------------------------------------------

// Calls visit(tmap_cell) once for every cell of the plan's share.
template <class Visit>
__device__ __forceinline__ void each(const tmap_each_plan &plan, Visit visit) {
    tmap_each(
        &plan, [](void *job, tmap_cell cell) { (*(Visit *)job)(cell); }, &visit);
}

// Calls use(cell, read(cell)) once for every cell of the plan's share, with the reads of up to
// eight cells in flight. read returns at most 16 bytes.
template <class Read, class Use>
__device__ __forceinline__ void update(const tmap_each_plan &plan, Read read, Use use) {
    struct calls {
        Read read;
        Use use;
    } job = {read, use};
    using value = decltype(read(tmap_cell{}));
    tmapi_check_copied<value>();
    static_assert(sizeof(value) <= 16, "read returns at most 16 bytes");
    tmap_each_update(
        &plan, [](void *j, tmap_cell cell, void *to) { *(value *)to = ((calls *)j)->read(cell); },
        [](void *j, tmap_cell cell, const void *from) {
            ((calls *)j)->use(cell, *(const value *)from);
        },
        &job);
}

// Folds the elements of `in` at all cells of the plan's share into one accumulator, which begins
// with zero: add(sum, cell, value), join(sum, other). plan: for TMAP_EACH_FOLD.
template <class Real, class Sum, class Add, class Join>
__device__ __forceinline__ void fold(const tmap_each_plan &plan, const Real *in, Sum zero, Add add,
                                     Join join, tmap_fold_to to) {
    tmapi_check_element<Real>();
    static_assert(sizeof(Real) <= 8, "an element of a fold has at most 8 bytes");
    tmapi_check_sum<Sum>();
    struct calls {
        Add add;
        Join join;
    } job = {add, join};
    const tmap_fold how = {&zero, sizeof zero, [](void *j, void *sum, const void *other) {
                               ((calls *)j)->join(*(Sum *)sum, *(const Sum *)other);
                           }};
    const tmap_array array = {in, sizeof(Real)};
    tmap_each_fold(
        &plan, array,
        [](void *j, void *sum, tmap_cell cell, const void *value) {
            ((calls *)j)->add(*(Sum *)sum, cell, *(const Real *)value);
        },
        how, to, &job);
}

// Sets out[cell] = rule(cell, around, nine) for every cell of the plan's share. around: one bit for
// each of the nine places that is a cell of the fractal. nine: the values there, 0 where there is
// no cell. plan: for TMAP_EACH_STENCIL.
template <class Real, class Rule>
__device__ __forceinline__ void stencil(const tmap_each_plan &plan, const Real *in, Real *out,
                                        Rule rule) {
    tmapi_check_element<Real>();
    const tmap_array array = {in, sizeof(Real)};
    tmap_each_stencil(
        &plan, array,
        [](void *job, tmap_cell cell, tmap_u32 around, const void *nine, void *next) {
            *(Real *)next = (*(Rule *)job)(cell, around, (const Real *)nine);
        },
        out, &rule);
}

// ---- pairs of points (triangle/pairs.h and the files beside it) ---------------------------------
//
// Real: float, double or an integer of 4 or 8 bytes; Dims: coordinates of a point, the plan's d.
// Lambdas get pointers to the coordinates of both points. points.b: the second set, for a plan
// that has one.

template <class Real, int Dims>
struct points {
    static_assert(sizeof(Real) == 4 || sizeof(Real) == 8, "a coordinate has 4 or 8 bytes");
    const Real *a;
    const Real *b = nullptr;
    __device__ __forceinline__ operator tmap_points() const { return {a, b, sizeof(Real), Dims}; }
};

// Calls visit(pair, a, b) once for every pair of the plan's share.
template <class Real, int Dims, class Visit>
__device__ __forceinline__ void pairs_each(const tmap_pairs_plan &plan, points<Real, Dims> p,
                                           Visit visit) {
    tmap_pairs_each(
        &plan, p,
        [](void *job, void *, tmap_pair pair, const void *a, const void *b) {
            (*(Visit *)job)(pair, (const Real *)a, (const Real *)b);
        },
        &visit);
}

// Folds all pairs of the plan's share into one accumulator per set, which begins with zero:
// add(sum, pair, a, b), join(sum, other).
template <class Real, int Dims, class Sum, class Add, class Join>
__device__ __forceinline__ void pairs_fold(const tmap_pairs_plan &plan, points<Real, Dims> p,
                                           Sum zero, Add add, Join join, tmap_fold_to to) {
    tmapi_check_sum<Sum>();
    struct calls {
        Add add;
        Join join;
    } job = {add, join};
    const tmap_fold how = {&zero, sizeof zero, [](void *j, void *sum, const void *other) {
                               ((calls *)j)->join(*(Sum *)sum, *(const Sum *)other);
                           }};
    tmap_pairs_fold(
        &plan, p,
        [](void *j, void *sum, tmap_pair pair, const void *a, const void *b) {
            ((calls *)j)->add(*(Sum *)sum, pair, (const Real *)a, (const Real *)b);
        },
        how, to, &job);
}

// Makes an accumulator for each point: give(pair, a, b, to_i, to_j), join(sum, other). plan: of
// tmap_pairs_rows_plan_make with sizeof(Sum).
template <class Real, int Dims, class Sum, class Give, class Join>
__device__ __forceinline__ void pairs_rows(const tmap_pairs_plan &plan, points<Real, Dims> p,
                                           Sum zero, Give give, Join join, tmap_pairs_rows_to to) {
    tmapi_check_row<Sum>();
    struct calls {
        Give give;
        Join join;
    } job = {give, join};
    const tmap_fold how = {&zero, sizeof zero, [](void *j, void *sum, const void *other) {
                               ((calls *)j)->join(*(Sum *)sum, *(const Sum *)other);
                           }};
    tmap_pairs_rows(
        &plan, p,
        [](void *j, tmap_pair pair, const void *a, const void *b, void *to_i, void *to_j) {
            ((calls *)j)->give(pair, (const Real *)a, (const Real *)b, *(Sum *)to_i, *(Sum *)to_j);
        },
        how, to, &job);
}

// Lists the pairs for which choose(pair, a, b, value) is true, with their values. order:
// TMAP_PAIRS_ANY_ORDER or TMAP_PAIRS_FIXED_ORDER. Value: a type of 4 or 8 bytes.
template <class Value, class Real, int Dims, class Choose>
__device__ __forceinline__ void pairs_select(const tmap_pairs_plan &plan, points<Real, Dims> p,
                                             Choose choose, int order,
                                             const tmap_pairs_list &list) {
    static_assert(sizeof(Value) == 4 || sizeof(Value) == 8, "a value has 4 or 8 bytes");
    const tmap_pairs_choice choice = {
        [](void *job, tmap_pair pair, const void *a, const void *b, void *value) -> int {
            return (*(Choose *)job)(pair, (const Real *)a, (const Real *)b, *(Value *)value);
        },
        sizeof(Value), order};
    tmap_pairs_select(&plan, p, choice, &list, &choose);
}

// The same without values: pairs_select(plan, p, choose, order, list), choose(pair, a, b).
template <class Choose, class Real, int Dims>
__device__ __forceinline__ void pairs_select(const tmap_pairs_plan &plan, points<Real, Dims> p,
                                             Choose choose, int order,
                                             const tmap_pairs_list &list) {
    const tmap_pairs_choice choice = {
        [](void *job, tmap_pair pair, const void *a, const void *b, void *) -> int {
            return (*(Choose *)job)(pair, (const Real *)a, (const Real *)b);
        },
        0, order};
    tmap_pairs_select(&plan, p, choice, &list, &choose);
}

// Stores value(pair, a, b) for every pair, in the layout of the plan (tmap_pairs_store_plan_make).
template <class Real, int Dims, class Out, class Value>
__device__ __forceinline__ void pairs_store(const tmap_pairs_plan &plan, points<Real, Dims> p,
                                            Out *out, Value value) {
    tmapi_check_number<Out>();
    tmap_pairs_store(
        &plan, p,
        [](void *job, tmap_pair pair, const void *a, const void *b, void *to) {
            *(Out *)to = (*(Value *)job)(pair, (const Real *)a, (const Real *)b);
        },
        sizeof(Out), out, &value);
}

} // namespace tmap

#endif // TMAP_CUDA
#endif
