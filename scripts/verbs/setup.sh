#!/usr/bin/env bash
# Makes sure that the tools are there that the lab is built with. As root it installs what is missing
# with apt; otherwise it names the command that does (make setup), or the modules to load.
#
#   setup.sh            install what `make run` and `make test` need, with sudo if not root
#   setup.sh --needed   what every build needs: says and does nothing if all of it is there
#   setup.sh --ranks    the same and, if available, MPI: for `make run`
#   setup.sh --tests    the same and, if available, MPI, GoogleTest and cmark-gfm: for `make test`
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/words.sh"

mode=${1:-}
case $mode in
  "" | --needed | --ranks | --tests) ;;
  *) die 2 "$mode: no such option" ;;
esac

min_cmake=3.25
missing=() packages=() # what is not there, and the packages that bring it
cannot_build=0         # whether something of it is needed for every build

# lacks NAME PACKAGE...: notes that it is missing.
lacks() {
  missing+=("$1")
  packages+=("${@:2}")
}

# builds_need NAME PACKAGE COMMAND
builds_need() {
  if ! command -v "$3" >/dev/null; then
    lacks "$1" "$2"
    cannot_build=1
  fi
}

cmake_is_old() {
  command -v cmake >/dev/null &&
    [[ $(printf '%s\n%s\n' $min_cmake "$(cmake --version | awk 'NR == 1 { print $3 }')" |
      sort -V | head -n 1) != "$min_cmake" ]]
}

look() {
  missing=() packages=() cannot_build=0
  if [[ -z ${CXX:-} ]]; then builds_need "a C++ compiler" g++ c++; fi
  builds_need cmake cmake cmake
  builds_need make make make
  if [[ $mode == --needed ]]; then return; fi
  # What follows is no reason to stop. Without Python there are no guides in the terminal, no charts and no merged tables,
  command -v python3 >/dev/null || lacks python3 python3
  # without git a clone does not know how its exercises were handed out,
  command -v git >/dev/null || lacks git git
  # without MPI the steps on several GPUs are skipped,
  command -v mpicxx >/dev/null || command -v mpic++ >/dev/null || lacks MPI libopenmpi-dev openmpi-bin
  if [[ $mode == --ranks ]]; then return; fi
  # without GoogleTest the unit tests are,
  [[ -e /usr/include/gtest/gtest.h || -n ${GTest_DIR:-}${GTest_ROOT:-} ]] || lacks GoogleTest libgtest-dev
  # and without cmark-gfm the test of `make site`.
  if [[ $mode == --tests ]] && ! command -v cmark-gfm >/dev/null; then lacks cmark-gfm cmark-gfm; fi
}

look
if ((${#missing[@]} > 0)) && command -v apt-get >/dev/null; then
  as_root=()
  if ((EUID != 0)) && [[ -z $mode ]] && command -v sudo >/dev/null; then as_root=(sudo); fi
  if ((EUID == 0)) || ((${#as_root[@]} > 0)); then
    say "installing ${packages[*]} with apt ..."
    if ! { "${as_root[@]}" apt-get update -qq &&
      DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq "${packages[@]}"; } \
      >/dev/null 2>&1; then
      printf '%s\n' "setup.sh: apt could not install ${packages[*]}" >&2
    fi
    look
  fi
fi

if ((${#missing[@]} > 0)) && { ((cannot_build)) || [[ -z $mode ]]; }; then
  list=$(printf '%s, ' "${missing[@]}")
  die 1 "missing: ${list%, }. Run \`make setup\` (it uses sudo and apt), or load your site's modules for
them (such as: module load gcc cmake). Packages of Debian and Ubuntu: ${packages[*]}"
fi
if cmake_is_old; then
  version=$(cmake --version | awk 'NR == 1 { print $3 }')
  die 1 "CMake $min_cmake or newer is needed, this is $version: load a newer module, or python3 -m pip install --user cmake"
fi
if [[ -z $mode ]]; then
  say "all there: C++ compiler, CMake, make, Python, git, GoogleTest, MPI"
  if ! command -v nvcc >/dev/null && [[ ! -x /usr/local/cuda/bin/nvcc ]]; then
    say "no nvcc: the CPU runs the kernels; a GPU needs the CUDA Toolkit 12 or 13 (such as: module load cuda)"
  fi
fi
