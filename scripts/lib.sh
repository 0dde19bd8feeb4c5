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

# say_wrapped LINES: the same, with lines of more than 80 characters broken at blanks.
say_wrapped() {
  printf '%s\n' "$*" | awk '
    {
      match($0, /^ */)
      indent = substr($0, 1, RLENGTH) "  " # of the lines that follow
      while (length($0) > 80) {
        at = 81
        while (at > length(indent) && substr($0, at, 1) != " ") --at
        if (at <= length(indent)) break # one long word
        print substr($0, 1, at - 1)
        $0 = indent substr($0, at + 1)
      }
      print
    }'
}

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

# read_step STEP: sets step, step_number, step_source, step_needs, step_ranks (1: a job of several ranks, which
# need CUDA each), and step_before with step_before_source (empty for the first step).
read_step() {
  local line
  line=$(step_line "${1-}") || exit $?
  IFS=$'\t' read -r step step_source step_needs _ <<<"$line"
  step_number=${step%%_*} step_ranks=0
  if [[ $step_needs == ranks ]]; then step_needs=cuda step_ranks=1; fi
  line=$(awk -F '\t' -v step="$step" '/^[0-9]/ { if ($1 == step) { print before; exit } before = $0 }' \
    "$steps_file")
  IFS=$'\t' read -r step_before step_before_source _ <<<"$line" || true
  export step step_number step_source step_needs step_ranks step_before step_before_source
}

# read_ranks: checks $RANKS, which is for steps that are jobs of several ranks.
read_ranks() {
  if [[ -z ${RANKS:-} ]]; then return; fi
  ((step_ranks)) || die $exit_bad_usage "RANKS=$RANKS: $step is a program of one process"
  [[ $RANKS =~ ^[1-9][0-9]{0,4}(,[1-9][0-9]{0,4})*$ ]] ||
    die $exit_bad_usage "RANKS=$RANKS: must be a number of ranks, such as 4 (for a check also several: 1,2,4)"
}

# ranks_of_run FILE: sets ranks to how many ranks a run of the step's FILE has: $RANKS, or one for each GPU, or with
# the CPU in their place two. Empty where the program is of one process. After choose_backend.
ranks_of_run() {
  ranks=""
  if ! ((step_ranks)); then return; fi
  [[ ${RANKS:-} != *,* ]] || die $exit_bad_usage "RANKS=$RANKS: one number of ranks"
  if ! grep -q 'lab::Ranks ' "$lab_root/$1"; then
    [[ ${RANKS:-1} == 1 ]] ||
      die $exit_bad_usage "RANKS=$RANKS: $1 is a program of one process so far (it has no lab::Ranks)"
    return
  fi
  ranks=${RANKS:-}
  if [[ -z $ranks ]]; then
    ranks=2
    if [[ $backend == gpu ]]; then ranks=$(timeout 30 nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU ' || true); fi
    if ((ranks < 1)); then ranks=1; fi
  fi
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
  grep -E '^-- CUDA ' "$log" | sed 's/^-- //' || true
  if ((${step_ranks:-0})) && ! grep -qE '^-- MPI [0-9]' "$log"; then
    die $exit_no_gpu "$step: skipped: it needs MPI, and none was found: make setup, or your site's module (such as: module load openmpi)"
  fi
}

# gpu_here: whether this machine has an NVIDIA GPU, as far as can be told before a program runs on it.
gpu_here() {
  if command -v nvidia-smi >/dev/null; then
    timeout 30 nvidia-smi --list-gpus 2>/dev/null | grep -q '^GPU '
  else
    [[ -e /dev/nvidia0 ]]
  fi
}

# choose_backend: sets backend to "gpu", or to "cpu" where the step's kernels run on the CPU in place of
# a GPU (lab/cpu): where there is no GPU, or no nvcc, or BACKEND says so. Says which. After configure.
choose_backend() {
  backend=${BACKEND:-auto}
  case $backend in
    gpu | cpu) return ;;
    auto) ;;
    *) die $exit_bad_usage "BACKEND=$backend: must be gpu or cpu" ;;
  esac
  if ! grep -q '^-- CUDA ' "$build_dir/configure.log"; then
    backend=cpu
    say "No nvcc here: the CPU runs the kernels in place of a GPU (results, no times)"
  elif ! gpu_here; then
    backend=cpu
    say "No GPU here: the CPU runs the kernels in its place (results, no times)"
  else
    backend=gpu
  fi
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

# remember FILE STEP FIELD...: the line of STEP in results/local/FILE, which git ignores, is now these fields.
remember() {
  local file=$lab_root/results/local/$1 line rest=""
  shift
  line=$(printf '%s\t' "$@")
  if [[ -f $file ]]; then rest=$(awk -F '\t' -v step="$1" '$1 != step' "$file"); fi
  # Written aside first: no reader sees half of it.
  { mkdir -p "${file%/*}" && printf '%s\n' ${rest:+"$rest"} "${line%$'\t'}" >"$file.$$" &&
    mv -f "$file.$$" "$file"; } 2>/dev/null ||
    printf '%s\n' "${0##*/}: ${file#"$lab_root"/}: cannot be written, so this is not remembered" >&2
}

# recall FILE STEP: the fields after STEP that were remembered last; nothing where there are none.
recall() {
  if [[ -f $lab_root/results/local/$1 ]]; then
    awk -F '\t' -v OFS='\t' -v step="$2" \
      '$1 == step { sub(/^[^\t]*\t/, ""); line = $0 } END { if (line != "") print line }' "$lab_root/results/local/$1"
  fi
}
