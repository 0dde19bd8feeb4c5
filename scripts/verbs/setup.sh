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
[[ $mode =~ ^(--needed|--ranks|--tests)?$ ]] || die 2 "$mode: no such option"

# look: sets missing to what is not here, packages to what brings it, and cannot_build to whether every build needs some
# of it. Without Python there are no guides in the terminal, no charts and no merged tables; without git a clone does not
# know how its exercises were handed out; without MPI the steps on several GPUs are skipped, without GoogleTest the unit
# tests, and without cmark-gfm the test of `make site`.
look() {
  local who name command package
  missing=() packages=() cannot_build=0
  while IFS='|' read -r who name command package; do
    if [[ $mode == --needed && $who != build || $mode != --tests && $who == tests ]]; then continue; fi
    if command -v "${command%% *}" >/dev/null; then continue; fi
    missing+=("$name") packages+=("$package")
    if [[ $who == build ]]; then cannot_build=1; fi
  done <<END
build|a C++ compiler${CXX:+ (CXX=$CXX)}|${CXX:-c++}|g++
build|cmake|cmake|cmake
build|make|make|make
run|python3|python3|python3
run|git|git|git
run|MPI|mpicxx|libopenmpi-dev
run|mpirun|mpirun|openmpi-bin
tests|cmark-gfm|cmark-gfm|cmark-gfm
END
  if [[ ($mode == --tests || -z $mode) && ! -e /usr/include/gtest/gtest.h && -z ${GTest_DIR:-}${GTest_ROOT:-} ]]; then
    missing+=(GoogleTest) packages+=(libgtest-dev)
  fi
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
version=$(cmake --version | awk 'NR == 1 { print $3 }')
if ! version_at_least "$version" 3.25; then
  die 1 "CMake 3.25 or newer is needed, this is $version: load a newer module, or python3 -m pip install --user cmake"
fi
if [[ -z $mode ]]; then
  say "all there: C++ compiler, CMake, make, Python, git, GoogleTest, MPI"
  if ! command -v nvcc >/dev/null && [[ ! -x /usr/local/cuda/bin/nvcc ]]; then
    say "no nvcc: the CPU runs the kernels; a GPU needs the CUDA Toolkit 12 or 13 (such as: module load cuda)"
  fi
fi
