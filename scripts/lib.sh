# shellcheck shell=bash
# What the scripts share. Source it; it sets lab_root and defines the functions below.

lab_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034  # used by the scripts
steps_file=$lab_root/lab/steps.tsv
build_dir=${LAB_BUILD_DIR:-$lab_root/build}
[[ $build_dir == /* ]] || build_dir=$PWD/$build_dir
# shellcheck disable=SC2034
readonly exit_bad_usage=2 exit_no_gpu=77

# die CODE MESSAGE: one clear line, and out.
die() {
  printf '%s\n' "${0##*/}: $2" >&2
  exit "$1"
}

say() { printf '%s\n' "$*"; }

# step_line STEP: the line of lab/steps.tsv that STEP (04, 4 or 04_jacobi_kernel) names.
step_line() {
  local wanted=$1 first last
  [[ $wanted =~ ^[0-9]$ ]] && wanted=0$wanted
  first=$(awk '/^[0-9]/ { print substr($1, 1, 2); exit }' "$steps_file")
  last=$(awk '/^[0-9]/ { n = substr($1, 1, 2) } END { print n }' "$steps_file")
  if [[ -z $wanted ]]; then
    die $exit_bad_usage "which step? Say STEP=NN, from $first to $last"
  fi
  awk -F '\t' -v wanted="$wanted" \
    '/^[0-9]/ && ($1 == wanted || substr($1, 1, 2) == wanted) { print; found = 1 } END { exit !found }' \
    "$steps_file" || die $exit_bad_usage "STEP=$1: there is no such step; they go from $first to $last"
}

# read_step STEP: sets step, step_number, step_source, step_needs, and step_before with
# step_before_source (empty for the first step).
read_step() {
  local line
  line=$(step_line "${1-}") || exit $?
  IFS=$'\t' read -r step step_source step_needs _ <<<"$line"
  step_number=${step%%_*}
  line=$(awk -F '\t' -v step="$step" '/^[0-9]/ { if ($1 == step) { print before; exit } before = $0 }' \
    "$steps_file")
  IFS=$'\t' read -r step_before step_before_source _ <<<"$line" || true
  export step step_number step_source step_needs step_before step_before_source
}

# read_which: sets which to "exercise" or "solution", from $WHICH.
read_which() {
  which=${WHICH:-exercise}
  case $which in
    exercise | solution) ;;
    *) die $exit_bad_usage "WHICH=$which: must be exercise or solution" ;;
  esac
}

# version_at_least HAVE WANTED
version_at_least() {
  [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]
}

# configure: makes the build folder ready. What CMake says is shown only where it fails.
configure() {
  "$lab_root/scripts/setup.sh" --needed
  local -a generator=() extra=()
  if [[ ! -f $build_dir/CMakeCache.txt ]] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
  # For sites and CI: further arguments to CMake, separated by blanks.
  if [[ -n ${LAB_CMAKE_ARGS:-} ]]; then read -r -a extra <<<"$LAB_CMAKE_ARGS"; fi
  mkdir -p "$build_dir"
  local log=$build_dir/configure.log
  if ! cmake -S "$lab_root" -B "$build_dir" "${generator[@]}" "${extra[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    die 1 "CMake could not configure the build; its words stand above"
  fi
  grep -E '^-- (CUDA |No CUDA)' "$log" | sed 's/^-- //' || true
}

# build_targets TARGET...: builds them on all cores. On a terminal the compiler's progress is shown,
# elsewhere only what goes wrong.
build_targets() {
  local log=$build_dir/build.log
  if [[ -t 1 ]]; then
    cmake --build "$build_dir" --parallel "$(nproc)" --target "$@"
  elif ! cmake --build "$build_dir" --parallel "$(nproc)" --target "$@" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
}

# have_target NAME: whether this build has the step's program (without CUDA it lacks some).
have_target() {
  grep -qx "$1" "$build_dir/step_targets.txt"
}
