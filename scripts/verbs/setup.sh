#!/usr/bin/env bash
# Makes sure that the tools are there that the lab is built with. As root it installs what is missing
# with apt; otherwise it names the command that does (make setup), or the modules to load.
#
#   setup.sh            install what `make run` and `make test` need, with sudo if not root
#   setup.sh --needed   what every build needs: says and does nothing if all of it is there
#   setup.sh --ranks    the same and, if available, MPI: for `make run`
#   setup.sh --tests    the same and, if available, MPI, GoogleTest and cmark-gfm: for `make test`
set -euo pipefail

mode=${1:-}
case $mode in
  "" | --needed | --ranks | --tests) ;;
  --help)
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  *)
    printf '%s\n' "setup.sh: $mode: no such option (see --help)" >&2
    exit 2
    ;;
esac

min_cmake=3.25
missing=() packages=()

need() { # need COMMAND PACKAGE
  if ! command -v "$1" >/dev/null; then
    missing+=("$1")
    packages+=("$2")
  fi
}

cmake_is_old() {
  command -v cmake >/dev/null &&
    [[ $(printf '%s\n%s\n' $min_cmake "$(cmake --version | awk 'NR == 1 { print $3 }')" |
      sort -V | head -n 1) != "$min_cmake" ]]
}

look() {
  missing=() packages=()
  if [[ -z ${CXX:-} ]] && ! command -v c++ >/dev/null; then
    missing+=("a C++ compiler")
    packages+=(g++)
  fi
  need cmake cmake
  need make make
  # The unit tests' framework. If it cannot be had, they are reported as skipped.
  if [[ -z $mode || $mode == --tests ]]; then
    if ! [[ -e /usr/include/gtest/gtest.h || -n ${GTest_DIR:-}${GTest_ROOT:-} ]]; then
      missing+=(GoogleTest)
      packages+=(libgtest-dev)
    fi
  fi
  # What `make site` reads Markdown with. If it cannot be had, its test is skipped.
  if [[ $mode == --tests ]]; then need cmark-gfm cmark-gfm; fi
  # For the steps on several GPUs. If it cannot be had, they are skipped.
  if [[ $mode != --needed ]]; then
    if ! command -v mpicxx >/dev/null && ! command -v mpic++ >/dev/null; then
      missing+=(MPI)
      packages+=(libopenmpi-dev openmpi-bin)
    fi
  fi
}

look
if ((${#missing[@]} > 0)) && command -v apt-get >/dev/null; then
  as_root=()
  if ((EUID != 0)) && [[ -z $mode ]] && command -v sudo >/dev/null; then as_root=(sudo); fi
  if ((EUID == 0)) || ((${#as_root[@]} > 0)); then
    printf '%s\n' "installing ${packages[*]} with apt ..."
    if ! { "${as_root[@]}" apt-get update -qq &&
      DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq "${packages[@]}"; } \
      >/dev/null 2>&1; then
      printf '%s\n' "setup.sh: apt could not install ${packages[*]}" >&2
    fi
    look
  fi
fi

# These are no reason to stop: all but the unit tests works without GoogleTest, all but `make site` without cmark-gfm, and
# all but some steps without MPI.
if [[ $mode == --[tr]* && ${missing[*]-} =~ ^(GoogleTest)?\ ?(cmark-gfm)?\ ?(MPI)?$ ]]; then missing=(); fi
if ((${#missing[@]} > 0)); then
  list=$(printf '%s, ' "${missing[@]}")
  printf '%s\n' "setup.sh: missing: ${list%, }. Run \`make setup\` (it uses sudo and apt), or load your" \
    "site's modules for them (such as: module load gcc cmake)" >&2
  exit 1
fi
if cmake_is_old; then
  printf '%s\n' "setup.sh: CMake $min_cmake or newer is needed, this is $(cmake --version |
    awk 'NR == 1 { print $3 }'): load a newer module, or python3 -m pip install --user cmake" >&2
  exit 1
fi
if [[ -z $mode ]]; then
  printf '%s\n' "all there: C++ compiler, CMake, make, GoogleTest, MPI"
  if ! command -v nvcc >/dev/null && [[ ! -x /usr/local/cuda/bin/nvcc ]]; then
    printf '%s\n' "no nvcc: the CPU runs the kernels; a GPU needs the CUDA Toolkit 12 or 13 (such as: module load cuda)"
  fi
fi
