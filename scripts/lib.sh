# shellcheck shell=bash
# What the scripts share. Source it; it sets lab_root and defines the functions below.

lab_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034  # used by the scripts
steps_file=$lab_root/lab/steps.tsv
build_dir=${LAB_BUILD_DIR:-$lab_root/build}
[[ $build_dir == /* ]] || build_dir=$PWD/$build_dir
# shellcheck disable=SC2034
readonly exit_bad_usage=2 exit_cannot_write=4 exit_no_gpu=77

# A point in numbers, and messages in English, whatever the locale: awk and bash read and write 1,5 in some. What
# stands in LC_ALL stays for the characters.
if [[ -n ${LC_ALL:-} ]]; then
  { export LC_CTYPE=$LC_ALL; } 2>/dev/null
  unset LC_ALL
fi
export LC_NUMERIC=C LC_MESSAGES=C LC_COLLATE=C

# Ctrl-C ends a script, too, where the program that runs at that moment takes it for itself.
trap 'exit 130' INT

# die CODE MESSAGE: one clear line, and out.
die() {
  printf '%s\n' "${0##*/}: $2" >&2
  exit "$1"
}

say() { printf '%s\n' "$*"; }

# say_wrapped LINES: the same, with lines of more than 80 characters broken at blanks. Nothing, where there are none.
say_wrapped() {
  if [[ -z $* ]]; then return; fi
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

# doing WHAT: on a terminal a line that says what goes on, until the next one; without WHAT it is gone.
doing() { if [[ -t 2 ]]; then printf '\r\033[K%s' "${1:+  $1 ...}" >&2; fi; }

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
    die $exit_bad_usage "RANKS=$RANKS: must be a number of ranks, such as 4 (for a check, also 1,2,4)"
}

# has_ranks FILE...: whether one of the files makes a lab::Ranks; its name in a comment (a TODO) is none.
has_ranks() { grep -qs '^[^/]*lab::Ranks ' "$@"; }

# ranks_of_run FILE: sets ranks to how many ranks a run of the step's FILE has: $RANKS, or one for each GPU, or with
# the CPU in their place two. Empty where the program is of one process. After choose_backend.
ranks_of_run() {
  ranks=""
  if ! ((step_ranks)); then return; fi
  [[ ${RANKS:-} != *,* ]] || die $exit_bad_usage "RANKS=$RANKS: one number of ranks"
  if ! has_ranks "$lab_root/$1"; then
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

# die_not_there FILE: the step's file is gone, or never was: a handout has no solutions.
die_not_there() {
  local way_back=""
  if [[ $which == exercise ]]; then way_back=" (make reset STEP=$step_number puts it back)"; fi
  die $exit_bad_usage "$1 is not there$way_back"
}

# version_at_least HAVE WANTED
version_at_least() {
  [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]
}

# make_scratch: sets temp to a folder that is gone when the script is.
make_scratch() {
  temp=$(mktemp -d "${TMPDIR:-/tmp}/jacobi-XXXXXX" 2>/dev/null) ||
    die $exit_cannot_write "${TMPDIR:-/tmp}: cannot be written; TMPDIR names a folder for what is temporary"
  trap 'rm -rf "$temp"' EXIT
}

# many COUNT WHAT: "1 rank", "2 ranks".
many() { printf '%s\n' "$1 $2$( (($1 == 1)) || printf s)"; }

# locked COMMAND...: runs it while no other verb configures or builds in this build folder.
locked() {
  # Where there is no flock, or the file system has no locks, it has to go without.
  if ! command -v flock >/dev/null; then
    "$@"
    return
  fi
  (
    exec 9>"$build_dir/.lock"
    status=0
    flock --nonblock 9 2>/dev/null || status=$?
    if ((status == 1)); then
      doing
      printf '%s\n' "${0##*/}: another make builds in ${build_dir#"$lab_root"/}: waiting for it" >&2
      flock 9 2>/dev/null || true
    fi
    # The lock is this shell's alone: what a compiler leaves running holds none.
    "$@" 9>&-
  )
}

# logged LOG COMMAND...: what it says goes to LOG, and is shown where it fails.
logged() {
  local log=$1
  shift
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
}

# compiler_words LOG: what the compiler said there, without what the build tool says around it.
compiler_words() {
  grep -vE '^(\[|ninja: |FAILED: |gmake|make)|^cd .* && |^/.*(nvcc|c\+\+|g\+\+|cuda_to_cpp) ' "$1" |
    sed "s#$lab_root/##g" || true
}

# worded LOG COMMAND...: logged, and what is shown is the compiler's words alone.
worded() {
  local log=$1
  shift
  if ! "$@" >"$log" 2>&1; then
    doing
    compiler_words "$log" >&2
    return 1
  fi
}

# forget_moved: CMake keeps absolute paths. Where the build folder or the lab was moved, all is built anew.
forget_moved() {
  local cache=$build_dir/CMakeCache.txt of here
  grep -qsx 'CMAKE_PROJECT_NAME:STATIC=jacobi_porting_lab' "$cache" || return 0
  of=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
  here=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$cache")
  if [[ -z $of || -z $here ]] || [[ $of -ef $lab_root && $here -ef $build_dir ]]; then return 0; fi
  say "The lab or its build folder was moved since it was built (in $here): all of it is built anew" >&2
  find "$build_dir" -name CMakeFiles -type d -prune -exec rm -rf {} +
  rm -f "$cache"
}

# run_cmake ARGUMENT...: for configure, locked. Its log is there whole or not at all: other verbs read it.
run_cmake() {
  local log=$build_dir/configure.log status=0
  local -a generator=()
  forget_moved
  if [[ ! -f $build_dir/CMakeCache.txt ]] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
  logged "$log.new" cmake -S "$lab_root" -B "$build_dir" "${generator[@]}" "$@" || status=$?
  mv -f "$log.new" "$log"
  return "$status"
}

# configure: makes the build folder ready. What CMake says is shown only where it fails.
configure() {
  "$lab_root/scripts/setup.sh" --needed
  local -a extra=()
  # For sites and CI: further arguments to CMake, separated by blanks.
  if [[ -n ${LAB_CMAKE_ARGS:-} ]]; then read -r -a extra <<<"$LAB_CMAKE_ARGS"; fi
  { mkdir -p "$build_dir" && [[ -w $build_dir ]]; } 2>/dev/null ||
    die $exit_cannot_write "$build_dir: cannot be written; LAB_BUILD_DIR names another folder to build in"
  local log=$build_dir/configure.log
  locked run_cmake "${extra[@]}" || die 1 "CMake could not configure the build; its words stand above"
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
# a GPU (lab/cpu): where there is no GPU, or no nvcc, and says so; or where BACKEND asks for it. After configure.
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
  local -a build=(cmake --build "$build_dir" --parallel "$(nproc)" --target "$@")
  if [[ -t 1 ]]; then
    locked "${build[@]}"
  else
    locked logged "$build_dir/build.log" "${build[@]}"
  fi
}

# build_program TARGET...: builds a learner's program, or what looks at it. Where it does not compile, the compiler's
# words are shown, without the build tool's.
build_program() {
  doing building
  locked worded "$build_dir/build_$1.log" cmake --build "$build_dir" --parallel "$(nproc)" --target "$@" || return
  doing
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
  {
    mkdir -p "${file%/*}" && (
      # Two checks may end at the same time; a reader must not see half of it.
      exec 9<"${file%/*}"
      flock 9 || true
      if [[ -f $file ]]; then rest=$(awk -F '\t' -v step="$1" '$1 != step' "$file"); fi
      printf '%s\n' ${rest:+"$rest"} "${line%$'\t'}" >"$file.$BASHPID" && mv -f "$file.$BASHPID" "$file"
    )
  } 2>/dev/null ||
    printf '%s\n' "${0##*/}: ${file#"$lab_root"/}: cannot be written, so this is not remembered" >&2
}

# recall FILE STEP: the fields after STEP that were remembered last; nothing where there are none.
recall() {
  if [[ -f $lab_root/results/local/$1 ]]; then
    awk -F '\t' -v OFS='\t' -v step="$2" \
      '$1 == step { sub(/^[^\t]*\t/, ""); line = $0 } END { if (line != "") print line }' "$lab_root/results/local/$1"
  fi
}
