// SPDX-License-Identifier: MIT
// cxx_near.h: tmap_near_each, tmap_near_fold, tmap_near_rows and tmap_near_select (triangle/) with
// C++ lambdas, as cxx.h has the other engines. Optional; C++17.
//
//     const auto reach = [=](const tmap_near_box &a, const tmap_near_box &b) {
//         return tmap_near_within(&a, &b, 3, radius);
//     };
//     tmap::near_fold(
//         plan, tmap::near_points{tmap::near_sets<float, 3>{set}, reach}, tmap_u64(0),
//         [=](tmap_u64 &sum, tmap_pair, const float *a, const float *b) { sum += near(a, b); },
//         [](tmap_u64 &sum, tmap_u64 other) { sum += other; }, to);
//
// What cxx.h says of lambdas and types holds here. A fold has no `bulk`.
#ifndef TMAP_CXX_NEAR_H
#define TMAP_CXX_NEAR_H

#include "cxx.h"
#include "triangle/near_rows.h"
#include "triangle/near_select.h"

#if TMAP_CUDA && defined(__cplusplus)

namespace tmap {

// Sets of tmap_near_prepare; b: the second one, for a plan that has one. Real, Dims: as in points.
template <class Real, int Dims>
struct near_sets {
    static_assert(sizeof(Real) == 4 || sizeof(Real) == 8, "a coordinate has 4 or 8 bytes");
    const void *a;
    const void *b = nullptr;
    __device__ __forceinline__ operator tmap_points() const { return {a, b, sizeof(Real), Dims}; }
};

// Sets, and reach(a, b) for two boxes.
template <class Real, int Dims, class Reach>
struct near_points {
    near_sets<Real, Dims> sets;
    Reach reach;
};
template <class Real, int Dims, class Reach>
near_points(near_sets<Real, Dims>, Reach) -> near_points<Real, Dims, Reach>;

// The points of an engine whose job has a member `reach`.
template <class Calls>
__device__ __forceinline__ tmap_near tmapi_near_of(tmap_points sets) {
    return {sets,
            [](void *job, const tmap_near_box *a, const tmap_near_box *b) -> int {
                return ((Calls *)job)->reach(*a, *b);
            },
            0};
}

// Calls visit(pair, a, b) once for every pair of the plan's share that reach does not rule out.
template <class Real, int Dims, class Reach, class Visit>
__device__ __forceinline__ void near_each(const tmap_near_plan &plan,
                                          near_points<Real, Dims, Reach> p, Visit visit) {
    struct calls {
        Reach reach;
        Visit visit;
    } job = {p.reach, visit};
    tmap_near_each(
        &plan, tmapi_near_of<calls>(p.sets),
        [](void *j, void *, tmap_pair pair, const void *a, const void *b) {
            ((calls *)j)->visit(pair, (const Real *)a, (const Real *)b);
        },
        &job);
}

// Folds these pairs into one accumulator, which begins with zero: add(sum, pair, a, b),
// join(sum, other).
template <class Real, int Dims, class Reach, class Sum, class Add, class Join>
__device__ __forceinline__ void near_fold(const tmap_near_plan &plan,
                                          near_points<Real, Dims, Reach> p, Sum zero, Add add,
                                          Join join, tmap_fold_to to) {
    tmapi_check_sum<Sum>();
    struct calls {
        Reach reach;
        Add add;
        Join join;
    } job = {p.reach, add, join};
    const tmap_fold how = {&zero, sizeof zero, [](void *j, void *sum, const void *other) {
                               ((calls *)j)->join(*(Sum *)sum, *(const Sum *)other);
                           }};
    tmap_near_fold(
        &plan, tmapi_near_of<calls>(p.sets),
        [](void *j, void *sum, tmap_pair pair, const void *a, const void *b) {
            ((calls *)j)->add(*(Sum *)sum, pair, (const Real *)a, (const Real *)b);
        },
        how, to, &job);
}

// Makes an accumulator for each point i: give(pair, a, b, to_i), join(sum, other). plan: of
// tmap_near_rows_plan_make with sizeof(Sum).
template <class Real, int Dims, class Reach, class Sum, class Give, class Join>
__device__ __forceinline__ void near_rows(const tmap_near_plan &plan,
                                          near_points<Real, Dims, Reach> p, Sum zero, Give give,
                                          Join join, Sum *result) {
    tmapi_check_row<Sum>();
    struct calls {
        Reach reach;
        Give give;
        Join join;
    } job = {p.reach, give, join};
    const tmap_fold how = {&zero, sizeof zero, [](void *j, void *sum, const void *other) {
                               ((calls *)j)->join(*(Sum *)sum, *(const Sum *)other);
                           }};
    tmap_near_rows(
        &plan, tmapi_near_of<calls>(p.sets),
        [](void *j, tmap_pair pair, const void *a, const void *b, void *to, void *) {
            ((calls *)j)->give(pair, (const Real *)a, (const Real *)b, *(Sum *)to);
        },
        how, result, &job);
}

// Lists the pairs for which choose(pair, a, b, value) is true, with their values. Value, Number:
// types of 4 or 8 bytes. both: as in tmap_near_choice.
template <class Value, class Number, class Real, int Dims, class Reach, class Choose>
__device__ __forceinline__ void near_select(const tmap_near_plan &plan,
                                            near_points<Real, Dims, Reach> p, Choose choose,
                                            int both, const tmap_near_list &list) {
    tmapi_check_number<Value>();
    tmapi_check_number<Number>();
    struct calls {
        Reach reach;
        Choose choose;
    } job = {p.reach, choose};
    const tmap_near_choice choice = {
        [](void *j, tmap_pair pair, const void *a, const void *b, void *value) -> int {
            return ((calls *)j)->choose(pair, (const Real *)a, (const Real *)b, *(Value *)value);
        },
        sizeof(Value), sizeof(Number), both};
    tmap_near_select(&plan, tmapi_near_of<calls>(p.sets), choice, &list, &job);
}

} // namespace tmap

#endif // TMAP_CUDA
#endif
