#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What delaunch.py writes, case by case, and what --tree leaves alone."""
import os
import subprocess
import sys
import tempfile

DELAUNCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "delaunch.py")

CASES = [
    ("k<<<1, 2>>>(a);", "simt::launch(k, 1, 2)(a);"),
    ("k <<< g(1), b, s, t >>> (a);", "simt::launch(k ,  g(1), b, s, t ) (a);"),
    ("return k<<<1, 1>>>(a);", "return simt::launch(k, 1, 1)(a);"),
    ("a = b; n::k<<<1,1>>>();", "a = b; simt::launch(n::k, 1,1)();"),
    ("x; ::k<<<1,1>>>();", "x; simt::launch(::k, 1,1)();"),
    ("k<int, 4><<<1,1>>>();", "simt::launch(k<int, 4>, 1,1)();"),
    ("k<A<B<int>>><<<1,1>>>();", "simt::launch(k<A<B<int>>>, 1,1)();"),
    ("k<(a > b)><<<1,1>>>();", "simt::launch(k<(a > b)>, 1,1)();"),
    ("n::s<T>::k<2><<<1,1>>>();", "simt::launch(n::s<T>::k<2>, 1,1)();"),
    ("t[i][f(j, 1)]<<<1,1>>>();", "simt::launch(t[i][f(j, 1)], 1,1)();"),
    ("(*t[i])<<<1,1>>>();", "simt::launch((*t[i]), 1,1)();"),
    ("if (x) (*t)<<<1,1>>>();", "if (x) simt::launch((*t), 1,1)();"),
    ("else (*t)<<<1,1>>>();", "else simt::launch((*t), 1,1)();"),
    ("while (f(x)) k<<<1,1>>>();", "while (f(x)) simt::launch(k, 1,1)();"),
    ("pick(a, b)<<<1,1>>>();", "simt::launch(pick(a, b), 1,1)();"),
    ("o->t.k<<<1,1>>>();", "simt::launch(o->t.k, 1,1)();"),
    ("o.t[1]->k[2]<<<1,1>>>();", "simt::launch(o.t[1]->k[2], 1,1)();"),
    ("k<<<f(a >> 2, b[c]), dim3(1,\n 2)>>>();",
     "simt::launch(k, f(a >> 2, b[c]), dim3(1,\n 2))();"),
    ("#define L(k, g) k<<<g, 1>>>", "#define L(k, g) simt::launch(k, g, 1)"),
    ("#define L(k) \\\n  k<<<1, \\\n 1>>>", "#define L(k) \\\n  simt::launch(k, 1, \\\n 1)"),
    ("k<<<1 /* >>> */, 1>>>();", "simt::launch(k, 1 /* >>> */, 1)();"),
    ("// k<<<1,1>>>()\nk;", None), ("/* k<<<1,1>>>() */", None), ("\"k<<<1,1>>>()\"", None),
    ("R\"x(k<<<1,1>>>())x\"", None), ("'<'; \"\\\"<<<\"; '\\''", None), ("1'000 << 2; 'a'", None),
    ("// a \\\n k<<<1,1>>>()\n", None), ("#error don't <\nA<B<C<int>>> x;", None),
    ("extern __shared__ int s[];", "int *s = (int *)simt::machine.dynamic_shared;"),
    ("extern __shared__ __align__(16) unsigned char s[];",
     "unsigned char *s = (unsigned char *)simt::machine.dynamic_shared;"),
    ("extern __shared__ alignas(alignof(T)) T s[];", "T *s = (T *)simt::machine.dynamic_shared;"),
    ("__shared__ extern volatile float s[];",
     "volatile float *s = (volatile float *)simt::machine.dynamic_shared;"),
    ("extern __shared__ float s[][4];",
     "float (*s)[4] = (float (*)[4])simt::machine.dynamic_shared;"),
    ("extern __shared__\n float s[];", "float *s = (float *)simt::machine.dynamic_shared\n;"),
    ("__shared__ int a;", "__shared__ int a; SIMT_POISON(a);"),
    ("__shared__ float a[2][N + 1], b[f(1, 2)];",
     "__shared__ float a[2][N + 1], b[f(1, 2)]; SIMT_POISON(a); SIMT_POISON(b);"),
    ("__shared__ T<int, 3> a[1 << 3], b[x >> 1];",
     "__shared__ T<int, 3> a[1 << 3], b[x >> 1]; SIMT_POISON(a); SIMT_POISON(b);"),
    ("__shared__ struct { int x, y; } a;", "__shared__ struct { int x, y; } a; SIMT_POISON(a);"),
    ("static __shared__ int a;", " __shared__ int a; SIMT_POISON(a);"),
    ("__shared__ static int a;", "__shared__  int a; SIMT_POISON(a);"),
    ("__shared__ alignas(16) int a[2], b;",
     "alignas(16) __shared__  int a[2], b; SIMT_POISON(a); SIMT_POISON(b);"),
    ("x; static volatile __shared__ alignas(T) alignas((2) * f(8)) int a;",
     "x; alignas(T) alignas((2) * f(8))  volatile __shared__     int a; SIMT_POISON(a);"),
    ("__shared__ __align__(16) int a;", "__shared__ __align__(16) int a; SIMT_POISON(a);"),
    ("__shared__ struct alignas(16) { int x; } a;",
     "__shared__ struct alignas(16) { int x; } a; SIMT_POISON(a);"),
    ("#define S __shared__ int /* of */ \\\n    a; b", "#define S __shared__ int /* of */ \\\n"
     "    a; SIMT_POISON(a); b"),
    ("#define S __shared__\nint a;", None),
    # A kernel is listed in its body, or before it if a macro ends there.
    ("__global__ void k(int *p, int n) {}",
     "__global__ void k(int *p, int n) { SIMT_KERNEL((int *p, int n), k);}"),
    ("static __global__ void __launch_bounds__(N, f(2))\nk(int a, // of\n  T<2, 3> b = {1, 2}) {",
     "static __global__ void __launch_bounds__(N, f(2))\nk(int a, // of\n  T<2, 3> b = {1, 2}) "
     "{ SIMT_KERNEL((int a,   T<2, 3> b ), k);"),
    ("__global__ void k() noexcept {", "__global__ void k() noexcept { SIMT_KERNEL((), k);"),
    ("__global__ void JOIN(a, b)(int n) {",
     "__global__ void JOIN(a, b)(int n) { SIMT_KERNEL((int n), JOIN(a, b));"),
    ("#define K(b, n, PARAMS) \\\n  __global__ void b a_##n##_c PARAMS { \\\n  }",
     "#define K(b, n, PARAMS) \\\n  __global__ void b a_##n##_c PARAMS "
     "{ SIMT_KERNEL(PARAMS, a_##n##_c); \\\n  }"),
    ("#define K(n) static __global__ void \\\n  a_##n(int p)\n",
     "#define K(n) static __global__ void a_##n(int p); SIMT_KERNEL((int p), a_##n); "
     "__global__ void \\\n  a_##n(int p)\n"),
    ("template <class T, int N, void (*f)(T), class... A> __global__ void k(T *p) {",
     "template <class T, int N, void (*f)(T), class... A> __global__ void k(T *p) "
     "{ SIMT_KERNEL((T *p), k<T, N, f, A...>);"),
    ("template <> __global__ void k<A<int>, 3>(int *p) {",
     "template <> __global__ void k<A<int>, 3>(int *p) { SIMT_KERNEL((int *p), k<A<int>, 3>);"),
    ("#if A > 3\n__global__ void k() {", "#if A > 3\n__global__ void k() { SIMT_KERNEL((), k);"),
    ("template <class T, int = 3> __global__ void k(T *p) {", None),
    ("template <class T, std::size_t> __global__ void k(T *p) {", None),
    ("__global__ void k(int);\nint a[] = {1};", None), ("// __global__ void k(int) {", None),
    ("#define K __global__ void\nK k(int) {", None), ("#define __global__\nint k(int) {", None),
    ("#define K(n) __global__ void __launch_bounds__(n)\n", None),
    ("#define K(n) __global__ void JOIN(k, n)\nK(2)(int) {", None), ("f(__global__);", None),
    ("__noinline__ void f();", "SIMT_NOINLINE void f();"),
    ("__attribute__((__noinline__)) void f();", None),
]


def run(*arguments):
    subprocess.run([sys.executable, DELAUNCH, *arguments], check=True)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def main():
    bad = 0

    def check(what, got, want):
        nonlocal bad
        if got != want:
            bad += 1
            print(f"{what}\n  gives  {got!r}\n  wanted {want!r}")

    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a.cu"), os.path.join(folder, "a.cpp")
        for text, want in CASES:
            write(source, text)
            run(source, target)
            first, rest = read(target).split("\n", 1)
            check(text, (first, rest), (f'#line 1 "{source}"', text if want is None else want))

        # An include beside the source comes in rewritten, and lines go on as if it had not.
        beside = os.path.join(folder, "b.h")
        write(beside, "k<<<1,1>>>();")
        write(source, "int x;\n#include \"b.h\" // b\n#include <c.h>\n")
        run(source, target)
        check("include", read(target), f'#line 1 "{source}"\nint x;\n #line 1 "{beside}"\n'
              f'simt::launch(k, 1,1)();\n#line 3 "{source}" // b\n#include <c.h>\n')

        for wrong in ("k<<<1, 1;", "+ <<<1>>>()"):
            write(source, wrong)
            p = subprocess.run([sys.executable, DELAUNCH, source, target], stderr=subprocess.PIPE)
            check(wrong, (p.returncode, b"a.cu:1: " in p.stderr), (1, True))

        tree, copy = os.path.join(folder, "include"), os.path.join(folder, "copy")
        stamp = os.path.join(folder, "stamp.h")
        names = [os.path.join("p", "a.h"), os.path.join("p", "k", "b.h")]
        write(os.path.join(tree, names[0]), '#include "k/b.h"\n')
        write(os.path.join(tree, names[1]), "k<<<1,1>>>();\n")

        def mirror():
            """Runs --tree; which of the files and the stamp were written?"""
            paths = [os.path.join(copy, n) for n in names] + [stamp]
            for p in paths:
                if os.path.exists(p):
                    os.utime(p, (1, 1))
            run("--tree", tree, copy, "--stamp", stamp)
            return [os.path.exists(p) and os.path.getmtime(p) > 1 for p in paths]

        check("first mirror", mirror(), [True, True, True])
        check("text", read(os.path.join(copy, names[1])),
              f'#line 1 "{os.path.join(tree, names[1])}"\nsimt::launch(k, 1,1)();\n')
        check("no change", mirror(), [False, False, False])
        write(os.path.join(tree, names[0]), '#include "k/b.h"\n// more\n')
        check("one change", mirror(), [True, False, True])
        os.remove(os.path.join(tree, names[1]))
        check("removed", mirror(), [False, False, True])
        check("gone", os.path.exists(os.path.join(copy, names[1])), False)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
