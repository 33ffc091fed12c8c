#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs threadmap into an empty folder, moves that folder, and builds a program against it
# through pkg-config and through CMake's find_package; then builds a project that has it as a
# subproject.
set -eu

root=${TMAP_ROOT:?}
# $MESON may be several words: python3 -m mesonbuild.mesonmain
run_meson() { eval "${MESON:-meson} \"\$@\""; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

skip() { echo "SKIP: $*"; exit 77; }
run_meson --version >/dev/null 2>&1 || skip "no meson command (set MESON)"

echo "install"
run_meson setup "$tmp/b" "$root" --prefix "$tmp/p" -Dcuda=disabled -Dpng=disabled -Dtests=false \
  -Dsamples=false -Dbench=false -Dpkgconfig.relocatable=true >log 2>&1 || { cat log; exit 1; }
run_meson install -C "$tmp/b" >log 2>&1 || { cat log; exit 1; }
mv p moved
test -f moved/include/threadmap/version.h

cat >user.c <<'END'
#include <stdio.h>
#include <threadmap/version.h>
int main(void) { return puts(TMAP_VERSION_STRING) < 0; }
END
version=$(sed -n 's/^#define TMAP_VERSION_[A-Z]* \([0-9]*\)$/\1/p' \
  "$root/include/threadmap/version.h" | paste -sd. -)
same() { [ "$1" = "$version" ] || { echo "$2 gives version $1, not $version"; exit 1; }; }
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
