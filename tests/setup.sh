# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Set-up shared by tests/run, tests/sanitize, samples/run and bench/run, which source it.
#
# What is on PATH and new enough is used; only what is missing is installed: system packages through
# apt when root, everything else from pinned PyPI wheels into .venv of this checkout. When nothing
# is missing, nothing touches the network.
#
# Variables it reads: CC, CXX, MESON (a command, may have arguments), NINJA, CUDA_HOME;
# TMAP_OFFLINE=1 installs nothing.
#
# tmap_folder DIR      takes DIR as the build folder, or exits with 2 if it holds something else;
#   TMAP_BUILD           is then its absolute path
# tmap_setup           finds and installs; then these are set:
#   TMAP_ROOT            the checkout
#   TMAP_GPU             1 if there is an NVIDIA GPU
#   TMAP_GPU_NAME        its name, if nvidia-smi can tell
#   TMAP_NVCC_PATH       nvcc, or empty
#   TMAP_MESON           the Meson command, an array
#   NINJA                Ninja
#   TMAP_TMP             a scratch folder, removed at exit
# tmap_configure [OPTION...]  makes TMAP_BUILD a build folder of this checkout, if it is none yet
# tmap_has_cuda               true if GPU targets are built there
# tmap_target PROGRAM         prints where PROGRAM is built, as samples/01_first_map; 1 if nowhere
# tmap_build [TARGET...]      builds, with progress
# tmap_say, tmap_die          a line of progress; a line of error and exit 1
# tmap_bad                    a line of error and exit 2: bad input

TMAP_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

tmapi_meson_min=1.4
tmapi_ninja_min=1.8.2
tmapi_venv=$TMAP_ROOT/.venv
tmapi_cuda_wheels=(
  nvidia-cuda-nvcc==13.0.88
  nvidia-cuda-crt==13.0.88
  nvidia-nvvm==13.0.88
  nvidia-cuda-runtime==13.0.96
  nvidia-cuda-cccl==13.0.85
)
tmapi_cuda_driver_min=580 # the driver that CUDA 13.0 needs
tmapi_cuda_cc_min=75      # the oldest compute capability that CUDA 13.0 compiles for

tmap_say() { printf '%s: %s\n' "${0##*/}" "$*"; }
tmap_warn() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
tmap_die() {
  tmap_warn "$*"
  exit 1
}
tmap_bad() {
  tmap_warn "$*"
  exit 2
}

# tmapi_at_least HAVE WANTED: compares dotted version numbers
tmapi_at_least() {
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# --- system packages ---------------------------------------------------------------------------

tmapi_is_root() { [ "$(id -u)" = 0 ]; }

tmapi_apt_get() {
  # Short time limits: a machine without network must not wait for minutes.
  DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=1 -o Acquire::http::Timeout=15 \
    -o Acquire::https::Timeout=15 "$@" >"$TMAP_TMP/apt" 2>&1
}

# tmapi_apt PACKAGE...: installs, or fails where that cannot be done
tmapi_apt() {
  [ -z "${TMAP_OFFLINE:-}" ] && tmapi_is_root && command -v apt-get >/dev/null || return 1
  tmap_say "installing with apt: $*"
  # The package lists may be there and fresh; only if that fails are they fetched.
  tmapi_apt_get install -y --no-install-recommends "$@" && return
  tmapi_apt_get update && tmapi_apt_get install -y --no-install-recommends "$@" && return
  tail -n 5 "$TMAP_TMP/apt" >&2
  return 1
}

# tmapi_first COMMAND...: the first one that there is
tmapi_first() {
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null && echo "$command" && return
  done
  return 1
}

tmapi_works_cc() {
  echo 'int main(void) { return 0; }' | ${CC:-cc} -x c -o "$TMAP_TMP/a" - 2>/dev/null
}
tmapi_works_cxx() {
  printf '#include <vector>\nint main() { return (int)std::vector<int>().size(); }\n' |
    ${CXX:-c++} -x c++ -std=c++17 -o "$TMAP_TMP/a" - 2>/dev/null
}
tmapi_works_python() { python3 -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2>/dev/null; }
tmapi_works_png() {
  # Meson finds libpng through pkg-config.
  command -v pkg-config >/dev/null && pkg-config --exists libpng
}

tmapi_system() {
  local missing=() wanted=() tried=$tmapi_venv/tried-libpng
  # Debian names them cc and c++; a machine with clang alone may not have these names.
  if [ -z "${CC:-}" ] && ! command -v cc >/dev/null; then
    CC=$(tmapi_first gcc clang) && export CC
  fi
  if [ -z "${CXX:-}" ] && ! command -v c++ >/dev/null; then
    CXX=$(tmapi_first g++ clang++) && export CXX
  fi
  if ! tmapi_works_cc || ! tmapi_works_cxx; then missing+=(build-essential); fi
  tmapi_works_python || missing+=(python3 python3-venv)
  tmapi_works_png || wanted=(libpng-dev pkg-config)
  [ ${#missing[@]} -gt 0 ] || [ ${#wanted[@]} -gt 0 ] || return 0

  if [ ${#missing[@]} -gt 0 ]; then tmapi_apt "${missing[@]}" || :; fi
  # What is only nice to have is tried once a day, so that a second run stays quick.
  if [ ${#wanted[@]} -gt 0 ] && [ -z "$(find "$tried" -mtime -1 2>/dev/null)" ]; then
    if ! tmapi_apt "${wanted[@]}" && [ -e "$TMAP_TMP/apt" ]; then
      [ -e "$tmapi_venv" ] || tmapi_empty_venv
      touch "$tried"
    fi
  fi
  if ! tmapi_works_cc || ! tmapi_works_cxx || ! tmapi_works_python; then
    tmap_die "a C and C++17 compiler and Python 3.7 are needed; install the packages ${missing[*]}"
  fi
  tmapi_works_png ||
    tmap_say "without libpng samples write PPM instead of PNG (install the packages ${wanted[*]})"
}

# --- Python packages ---------------------------------------------------------------------------

# An empty .venv, with an empty note that says whose it is.
tmapi_empty_venv() {
  rm -rf "$tmapi_venv"
  mkdir -p "$tmapi_venv" && : >"$tmapi_venv/threadmap-pip"
}

# tmapi_pip REQUIREMENT...: installs into .venv, with whatever pip this machine has
tmapi_pip() {
  local log=$TMAP_TMP/pip
  [ -z "${TMAP_OFFLINE:-}" ] || return 1
  if [ ! -x "$tmapi_venv/bin/python" ] || [ ! -s "$tmapi_venv/threadmap-pip" ]; then
    if [ ! -e "$tmapi_venv/threadmap-pip" ] && [ -n "$(ls -A "$tmapi_venv" 2>/dev/null)" ]; then
      tmap_warn "$tmapi_venv was not made here, so nothing is installed there: $*"
      return 1
    fi
    tmapi_empty_venv
    # Debian's Python comes without ensurepip; python3-venv brings it.
    if python3 -m venv "$tmapi_venv" >"$log" 2>&1 ||
      { tmapi_empty_venv && ! python3 -m pip --version >/dev/null 2>&1 &&
        tmapi_apt python3-venv && python3 -m venv "$tmapi_venv" >"$log" 2>&1; }; then
      echo venv >"$tmapi_venv/threadmap-pip"
    elif python3 -m pip --version >/dev/null 2>&1; then
      tmapi_empty_venv
      python3 -m venv --without-pip "$tmapi_venv" >"$log" 2>&1 || return 1
      echo target >"$tmapi_venv/threadmap-pip"
    else
      rm -rf "$tmapi_venv"
      tmap_warn "python3 has neither venv nor pip to install $*; install the package python3-venv"
      return 1
    fi
  fi
  tmap_say "installing into .venv: $*"
  local pip=("$tmapi_venv/bin/python" -m pip install)
  if [ "$(cat "$tmapi_venv/threadmap-pip")" = target ]; then
    # The pip of the machine, writing into the venv's folder: allowed where the system's own Python
    # is externally managed, too.
    pip=(python3 -m pip install --upgrade --target "$(tmapi_site)")
  fi
  if ! "${pip[@]}" --disable-pip-version-check --no-input --retries 2 --timeout 30 -q \
    "$@" >"$log" 2>&1; then
    tail -n 3 "$log" >&2
    return 1
  fi
}

tmapi_site() {
  "$tmapi_venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])'
}

# --- Meson and Ninja ---------------------------------------------------------------------------

# tmapi_is_meson COMMAND...: is it there and new enough? Sets tmapi_meson_version.
tmapi_is_meson() {
  tmapi_meson_version=$("$@" --version 2>/dev/null) &&
    tmapi_at_least "$tmapi_meson_version" $tmapi_meson_min
}

tmapi_find_meson() {
  if [ -n "${MESON:-}" ]; then
    TMAP_MESON=("$MESON")
    command -v "$MESON" >/dev/null || eval "TMAP_MESON=($MESON)"
    tmapi_is_meson "${TMAP_MESON[@]}" || tmap_die "MESON=$MESON is no Meson >= $tmapi_meson_min"
    return
  fi
  TMAP_MESON=(meson)
  tmapi_is_meson "${TMAP_MESON[@]}" && return
  TMAP_MESON=("$tmapi_venv/bin/python" -m mesonbuild.mesonmain)
  tmapi_is_meson "${TMAP_MESON[@]}" && return
  TMAP_MESON=(python3 -m mesonbuild.mesonmain)
  tmapi_is_meson "${TMAP_MESON[@]}" && return
  return 1
}

tmapi_is_ninja() {
  local version
  version=$("$1" --version 2>/dev/null) && tmapi_at_least "$version" $tmapi_ninja_min
}

tmapi_find_ninja() {
  local ninja
  for ninja in "${NINJA:-ninja}" ninja-build samu "$tmapi_venv/bin/ninja" \
    "$tmapi_venv"/lib/python3*/site-packages/bin/ninja; do
    if tmapi_is_ninja "$ninja"; then
      NINJA=$(command -v "$ninja")
      export NINJA
      return
    fi
  done
  return 1
}

tmapi_build_tools() {
  local wheels=()
  if ! tmapi_find_meson; then
    # Meson 1.10 and later need Python 3.10.
    if python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
      wheels+=(meson==1.12.1)
    else
      wheels+=(meson==1.9.2)
    fi
  fi
  if ! tmapi_find_ninja; then
    if python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))'; then
      wheels+=(ninja==1.13.2)
    else
      wheels+=(ninja==1.11.1.4)
    fi
  fi
  if [ ${#wheels[@]} -gt 0 ]; then
    tmapi_pip "${wheels[@]}" ||
      tmap_die "cannot install ${wheels[*]}: put Meson >= $tmapi_meson_min and Ninja on PATH"
    tmapi_find_meson || tmap_die "Meson was installed but does not run"
    tmapi_find_ninja || tmap_die "Ninja was installed but does not run"
  fi
  # Quoted, for the tests that call Meson: this checkout may lie under a name with spaces.
  MESON=$(printf '%q ' "${TMAP_MESON[@]}")
  export MESON
}

# --- GPU and nvcc ------------------------------------------------------------------------------

tmapi_smi() { nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits 2>/dev/null; }

tmapi_gpu() {
  TMAP_GPU=0
  TMAP_GPU_NAME=
  tmapi_gpu_arch=
  command -v nvidia-smi >/dev/null || [ ! -x /usr/lib/wsl/lib/nvidia-smi ] ||
    PATH=$PATH:/usr/lib/wsl/lib
  if command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
    TMAP_GPU=1
    TMAP_GPU_NAME=$(tmapi_smi name | head -n 1)
    tmapi_gpu_arch=$(tmapi_smi compute_cap | tr -d . | grep -x '[0-9]*' | sort -un | paste -sd,)
  elif [ -e /dev/nvidiactl ]; then
    TMAP_GPU=1
  fi
}

# tmapi_knows_gpus NVCC: can it compile for every GPU of this machine?
tmapi_knows_gpus() {
  local known arch
  known=$("$1" --list-gpu-arch 2>/dev/null) || return 1
  for arch in ${tmapi_gpu_arch//,/ }; do
    grep -qx "compute_$arch" <<<"$known" || return 1
  done
}

tmapi_find_nvcc() {
  local dir
  TMAP_NVCC_PATH=$(command -v nvcc) && tmapi_knows_gpus "$TMAP_NVCC_PATH" && return
  for dir in "${CUDA_HOME:-}" /usr/local/cuda \
    "$tmapi_venv"/lib/python3*/site-packages/nvidia/cu13; do
    if [ -n "$dir" ] && [ -x "$dir/bin/nvcc" ] && tmapi_knows_gpus "$dir/bin/nvcc"; then
      TMAP_NVCC_PATH=$dir/bin/nvcc
      export PATH=$dir/bin:$PATH
      # The wheels have their libraries in lib, where nvcc does not look.
      [ -e "$dir/lib64" ] || export LIBRARY_PATH=$dir/lib${LIBRARY_PATH:+:$LIBRARY_PATH}
      return
    fi
  done
  [ -z "$TMAP_NVCC_PATH" ] || tmap_say "$TMAP_NVCC_PATH cannot compile for sm_$tmapi_gpu_arch"
  TMAP_NVCC_PATH=
  return 1
}

tmapi_cuda() {
  local driver arch
  tmapi_gpu
  if ! tmapi_find_nvcc && [ $TMAP_GPU = 1 ]; then
    driver=$(tmapi_smi driver_version | head -n 1)
    arch=${tmapi_gpu_arch%%,*}
    if [ -n "$driver" ] && ! tmapi_at_least "$driver" $tmapi_cuda_driver_min; then
      tmap_say "no nvcc, and driver $driver is too old for CUDA 13.0: going on without the GPU"
    elif [ -n "$arch" ] && [ "$arch" -lt $tmapi_cuda_cc_min ]; then
      tmap_say "no nvcc, and CUDA 13.0 does not know sm_$arch: going on without the GPU"
    elif ! tmapi_pip "${tmapi_cuda_wheels[@]}" || ! tmapi_find_nvcc; then
      tmap_say "there is a GPU but nvcc cannot be installed: going on without the GPU"
    fi
  fi
  [ -n "$TMAP_NVCC_PATH" ] || return 0
  if [ $TMAP_GPU = 1 ] && [ -z "$tmapi_gpu_arch" ]; then
    # A program beside nvcc that prints the compute capabilities of the GPUs.
    tmapi_gpu_arch=$("$(dirname "$(readlink -f "$TMAP_NVCC_PATH")")/__nvcc_device_query" \
      2>/dev/null | tr ',' '\n' | grep -x '[0-9]*' | sort -un | paste -sd,)
  fi
  if [ -z "$tmapi_gpu_arch" ]; then
    # Nothing will run, but everything is compiled, for sm_90 or the newest that this nvcc knows.
    tmapi_gpu_arch=$("$TMAP_NVCC_PATH" --list-gpu-arch | sed -n 's/^compute_//p' |
      grep -x '[0-9]*' | sort -n | awk '$1 <= 90' | tail -n 1)
  fi
}

# --- what the scripts call ---------------------------------------------------------------------

tmap_setup() {
  TMAP_TMP=$(mktemp -d) || tmap_die "cannot make a scratch folder in ${TMPDIR:-/tmp}"
  trap 'rm -rf "$TMAP_TMP"' EXIT
  tmapi_system
  tmapi_build_tools
  tmapi_cuda
  local nvcc='no nvcc' gpu='no GPU'
  if [ -n "$TMAP_NVCC_PATH" ]; then
    nvcc="nvcc $(tmap_nvcc_version) for sm_$tmapi_gpu_arch"
  fi
  if [ $TMAP_GPU = 1 ]; then gpu="GPU ${TMAP_GPU_NAME:-of unknown name}"; fi
  local cxx
  cxx=$(${CXX:-c++} --version | head -n 1)
  tmap_say "meson $tmapi_meson_version, $cxx, $nvcc, $gpu"
}

tmap_nvcc_version() { "$TMAP_NVCC_PATH" --version | sed -n 's/.*release .*, V//p'; }

# tmapi_is_ours DIR: is there nothing, or a build folder of this checkout?
tmapi_is_ours() {
  local source
  [ -e "$1" ] || return 0
  [ -d "$1" ] && [ -r "$1" ] || return 1
  [ -n "$(ls -A "$1")" ] || return 0
  [ "$(head -n 1 "$1/threadmap-state" 2>/dev/null)" -ef "$TMAP_ROOT" ] && return
  # One that was configured by hand has no note of ours, but Meson's.
  source=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["directories"]["source"])' \
    "$1/meson-info/meson-info.json" 2>/dev/null) && [ "$source" -ef "$TMAP_ROOT" ]
}

tmap_folder() {
  [ -n "$1" ] || tmap_bad "--build needs the name of a folder"
  tmapi_is_ours "$1" ||
    tmap_bad "$1 is no build folder of $TMAP_ROOT and not empty: it is left alone, name another"
  case $1 in /*) TMAP_BUILD=$1 ;; *) TMAP_BUILD=$PWD/$1 ;; esac
}

tmap_configure() {
  local options=("-Dgpu_arch=${tmapi_gpu_arch:-90}" "$@")
  # Without a GPU nvcc only has to accept the kernels; tests of what it makes call it themselves.
  [ "$TMAP_GPU" = 1 ] || options+=(-Dgpu_check=true)
  # What a configured folder hangs on; if any of it has changed, it is made anew.
  local state="${TMAP_MESON[*]}|$NINJA|$TMAP_NVCC_PATH|${CC:-}|${CXX:-}|${options[*]}"
  if tmapi_works_png; then state+='|png'; fi
  local log=$TMAP_TMP/setup note=$TMAP_BUILD/threadmap-state
  # The first line tells whose folder it is, even where Meson does not get to its end.
  state=$TMAP_ROOT$'\n'$state
  if [ -f "$TMAP_BUILD/build.ninja" ]; then
    # One without our note was configured by hand: it is used as it is.
    if [ ! -f "$note" ] || [ "$(cat "$note")" = "$state" ]; then
      # Targets are looked up in this file, which may be older than a meson.build.
      tmap_build build.ninja >"$log" && return
      cat "$log" >&2
      tmap_die "cannot configure $TMAP_BUILD"
    fi
    tmap_say "the set-up has changed: configuring $TMAP_BUILD anew"
  else
    tmap_say "configuring $TMAP_BUILD"
  fi
  (
    mkdir -p "$TMAP_BUILD" && cd "$TMAP_BUILD" || exit
    # Compilers cannot be changed in a configured folder. What Meson and Ninja know of it goes, and
    # nothing else: a file that someone put here stays, and what was built is built over.
    rm -rf meson-private meson-info meson-logs build.ninja compile_commands.json \
      .ninja_log .ninja_deps
    printf '%s\n' "$state" >"$note" || exit
    # Meson ignores its folder itself only if it finds it empty.
    [ -e .gitignore ] || echo '*' >.gitignore
  ) || tmap_die "cannot write to $TMAP_BUILD"
  if ! "${TMAP_MESON[@]}" setup "${options[@]}" "$TMAP_BUILD" "$TMAP_ROOT" >"$log" 2>&1; then
    cat "$log" >&2
    tmap_die "cannot configure $TMAP_BUILD"
  fi
  if [ -n "$TMAP_NVCC_PATH" ] && ! tmap_has_cuda; then
    tmap_say "nvcc does not work, so nothing is built for the GPU;" \
      "see $TMAP_BUILD/meson-logs/meson-log.txt"
  fi
}

tmap_has_cuda() { grep -qs '^#define cuda 1$' "$TMAP_BUILD/threadmap-build.txt"; }

tmap_target() {
  sed -n "s#^build \(\([^ :]*/\)\{0,1\}$1\):.*#\1#p" "$TMAP_BUILD/build.ninja" | grep . ||
    tmap_die "$TMAP_BUILD does not build $1"
}

tmap_build() {
  local status
  if [ -t 1 ]; then
    "$NINJA" -C "$TMAP_BUILD" "$@"
    return
  fi
  # Without a terminal: every 20th step, and whatever a compiler says.
  NINJA_STATUS='[%f/%t] ' "$NINJA" -C "$TMAP_BUILD" "$@" 2>&1 | awk '
    /^ninja: (Entering|no work)/ { next }
    /^\[[0-9]+\/[0-9]+\] / { if (++steps % 20 == 0) { print; fflush() } next }
    { print; fflush() }'
  status=${PIPESTATUS[0]}
  return "$status"
}
