#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares the version in the files that repeat it, installs threadmap into an empty folder, compares the headers there with those of include/, moves
# that folder, and builds a program against it through pkg-config, through CMake's find_package,
# add_subdirectory and FetchContent, and a kernel of each wing with nvcc, from the folders and from
# single files; then builds a project that has it as a subproject.
set -eu

root=${TMAP_ROOT:?}
# $MESON may be several words: python3 -m mesonbuild.mesonmain
run_meson() { eval "${MESON:-meson} \"\$@\""; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

skip() { echo "SKIP: $*"; exit 77; }
version=$(sed -n 's/^#define TMAP_VERSION_[A-Z]* \([0-9]*\)$/\1/p' \
  "$root/include/threadmap/version.h" | paste -sd. -)
same() { [ "$1" = "$version" ] || { echo "$2 gives version $1, not $version"; exit 1; }; }
first() { sed -n "s/$2/\\1/p" "$root/$1" | head -n 1; } # what \(...\) matches first
echo "version"
for file in "CITATION.cff:^version: \(.*\)" 'packaging/vcpkg/vcpkg.json:.*"version": "\([^"]*\)".*' \
  'packaging/spack/package.py:.*version("\([0-9.]*\)", tag="v.*' \
  'packaging/spack/package.py:.*version("[0-9.]*", tag="v\([0-9.]*\)".*' \
  'CHANGELOG.md:^## \([0-9.]*\) (.*)$'; do
  same "$(first "${file%%:*}" "${file#*:}")" "${file%%:*}"
done
[ "$(first CHANGELOG.md '^## [0-9.]* (\(.*\))$')" = "$(first CITATION.cff '^date-released: \(.*\)')" ] ||
  { echo "CHANGELOG.md and CITATION.cff give different dates"; exit 1; }
if command -v python3 >/dev/null; then
  same "$(PYTHONPATH=$root/python python3 -c 'import threadmap; print(threadmap.version())')" Python
fi

run_meson --version >/dev/null 2>&1 || skip "no meson command (set MESON)"

echo "install"
run_meson setup "$tmp/b" "$root" --prefix "$tmp/p" -Dcuda=disabled -Dpng=disabled -Dtests=false \
  -Dsamples=false -Dbench=false -Dpkgconfig.relocatable=true >log 2>&1 || { cat log; exit 1; }
run_meson install -C "$tmp/b" >log 2>&1 || { cat log; exit 1; }
mv p moved
# Every header, in its wing, and nothing else.
diff -r "$root/include/threadmap" moved/include/threadmap
[ -f moved/include/threadmap-all.h ]

cat >user.c <<'END'
#include <stdio.h>
#include <threadmap/version.h>
int main(void) { return puts(TMAP_VERSION_STRING) < 0; }
END
cc=${CC:-cc}

if command -v pkg-config >/dev/null; then
  echo "pkg-config"
  PKG_CONFIG_PATH=$tmp/moved/share/pkgconfig; export PKG_CONFIG_PATH
  same "$(pkg-config --modversion threadmap)" pkg-config
  # shellcheck disable=SC2046,SC2086
  $cc -o user user.c $(pkg-config --cflags threadmap)
  same "$(./user)" "a program built with pkg-config"
else
  echo "without pkg-config: not tried"
fi

if command -v cmake >/dev/null; then
  echo "CMake"
  cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.10...3.30)
project(user C)
find_package(threadmap ${WANT} REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE threadmap::threadmap)
END
  cmake -B c -DCMAKE_PREFIX_PATH="$tmp/moved" -DWANT="${version%.*}" >log 2>&1 ||
    { cat log; exit 1; }
  cmake --build c >log 2>&1 || { cat log; exit 1; }
  same "$(c/user)" "a program built with CMake"
  # The same program by the other ways of CMake, which take the source tree.
  printf 'cmake_minimum_required(VERSION 3.19)\nproject(tree C)\n%s\n%s\n%s\n' \
    'include(${WAY}.cmake)' 'add_executable(user user.c)' \
    'target_link_libraries(user PRIVATE threadmap::threadmap)' >tree.txt
  echo 'add_subdirectory(${ROOT} threadmap)' >add_subdirectory.cmake
  cat >FetchContent.cmake <<'END'
include(FetchContent)
FetchContent_Declare(threadmap SOURCE_DIR ${ROOT})
FetchContent_MakeAvailable(threadmap)
END
  for way in add_subdirectory FetchContent; do
    mkdir "$way"
    cp user.c "$way.cmake" "$way"
    cp tree.txt "$way/CMakeLists.txt"
    { cmake -S "$way" -B "$way/b" -DROOT="$root" -DWAY="$way" && cmake --build "$way/b"; } \
      >log 2>&1 || { cat log; exit 1; }
    same "$("$way/b/user")" "a program built with $way"
  done
  # Installed by CMake: the same headers, and a package that is found.
  { cmake -S "$root" -B i -DCMAKE_INSTALL_PREFIX="$tmp/by-cmake" && cmake --install i; } \
    >log 2>&1 || { cat log; exit 1; }
  diff -r "$root/include/threadmap" by-cmake/include/threadmap
  mv by-cmake moved-too
  { cmake -B c3 -DCMAKE_PREFIX_PATH="$tmp/moved-too" -DWANT="${version%.*}" &&
    cmake --build c3; } >log 2>&1 || { cat log; exit 1; }
  same "$(c3/user)" "a program built with what CMake installed"
  for want in 99 "${version%%.*}.999"; do
    if cmake -B c2 -DCMAKE_PREFIX_PATH="$tmp/moved" -DWANT="$want" >log 2>&1; then
      echo "find_package(threadmap $want) accepted version $version"
      exit 1
    fi
    rm -rf c2
  done
else
  echo "without CMake: not tried"
fi

if command -v nvcc >/dev/null; then
  echo "kernels"
  cat >kernels.cu <<'END'
#include <threadmap/adaptive.h>
#include <threadmap/fractal.h>
#include <threadmap/triangle.h>
typedef struct job { char *out; } job;
static __device__ void draw(void *j, tmap_cell cell) { ((job *)j)->out[cell.at] = '#'; }
__global__ void draw_cells(tmap_each_plan plan, job j) { tmap_each(&plan, draw, &j); }
__global__ void pairs(uint2 *out) {
    tmap_pair p = tmap_triangle_map(blockIdx.x * blockDim.x + threadIdx.x);
    out[tmap_triangle_index(p.i, p.j)] = make_uint2(p.i, p.j);
}
__global__ void levels(tmap_u64 n, tmap_u32 *out) { *out = tmap_region_levels(n, 2, 2, 1); }
int main(void) {
    const tmap_facts facts = {{90, 132, 2048, 32, 65536, 65536, 233472, 232448, 1024, 2, 1},
                              {32, 0, 1024, 90}}; // of a GPU that need not be here
    tmap_each_plan plan;
    return tmap_each_plan_of(TMAP_EACH_VISIT, tmap_fractal_gasket(), 99, 0, &facts, &plan) != TMAP_ERANGE ||
           tmap_each_plan_of(TMAP_EACH_VISIT, tmap_fractal_gasket(), 9, 0, &facts, &plan) != TMAP_OK;
}
END
  quick= # optimizes less, where nvcc can
  if nvcc --help | grep -q Ofast-compile; then quick=-Ofc=max; fi
  nvcc -std=c++17 -arch=sm_90 $quick -Werror all-warnings -I moved/include kernels.cu -o kernels
  ./kernels # plans without a GPU
  echo "single files"
  mkdir alone
  cp moved/include/threadmap-*.h alone
  sed 's#<threadmap/\(.*\).h>#"threadmap-\1.h"#' kernels.cu >alone/kernels.cu
  printf '#include "threadmap-all.h"\n' | cat - alone/kernels.cu >alone/all.cu
  (cd alone && for file in kernels all; do
    nvcc -std=c++17 -arch=sm_90 $quick -Werror all-warnings "$file.cu" -o "$file" && "./$file"
  done)
else
  echo "without nvcc: kernels not tried"
fi

echo "subproject"
mkdir -p sub/subprojects
ln -s "$root" sub/subprojects/threadmap
cp user.c sub
cat >sub/meson.build <<'END'
project('sub', 'c')
executable('user', 'user.c', dependencies: dependency('threadmap', fallback: 'threadmap'))
END
{ run_meson setup sub/b sub && run_meson compile -C sub/b; } >log 2>&1 || { cat log; exit 1; }
same "$(sub/b/user)" "a program built with the subproject"
