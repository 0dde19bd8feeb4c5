# shellcheck shell=bash
# What the scripts share. Source it; it sets lab_root and defines the functions below.

lab_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
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

# doing WHAT: on a terminal a line that says what goes on, until the next one; without WHAT it is gone.
doing() { if [[ -t 2 ]]; then printf '\r\033[K%s' "${1:+  $1 ...}" >&2; fi; }

# die CODE MESSAGE: one clear line, and out.
die() {
  doing
  printf '%s\n' "${0##*/}: $2" >&2
  exit "$1"
}

say() { printf '%s\n' "$*"; }

# need_commands COMMAND...: ends the script if one of them is not installed.
need_commands() {
  local command
  local -a missing=()
  for command in "$@"; do command -v "$command" >/dev/null || missing+=("$command"); done
  if ((${#missing[@]})); then
    die 1 "missing: ${missing[*]} (on Debian and Ubuntu in the packages coreutils, diffutils, findutils, gawk, grep, gzip, sed, tar)"
  fi
}
need_commands awk cmp cut date df diff find grep head mktemp nproc sed sha256sum sort tail timeout tr wc

# labtool NAME ARGUMENT...: a program of scripts/labtools.
labtool() { PYTHONPATH=$lab_root/scripts PYTHONDONTWRITEBYTECODE=1 python3 -m "labtools.$1" "${@:2}"; }

# check_steps_file: ends the script if lab/steps.tsv, which every verb reads, is not as it should be.
check_steps_file() {
  local problem
  problem=$(awk -F '\t' '
    function bad() { return NF < 6 || $1 !~ /^[0-9][0-9]_[a-z0-9_]+$/ || $2 !~ /^jacobi\.(cpp|cu)$/ ||
      $3 !~ /^(cpu|cuda|ranks)$/ || $4 !~ /^[1-9][0-9]*$/ || $5 !~ /^[1-9][0-9]*$/ }
    /^#/ || /^[ \t\r]*$/ { next }
    bad() { print ":" NR ": not a step in six fields with tabs between them"; exit }
    { ++steps }
    END { if (!steps) print ": lists no step" }' "$steps_file" 2>/dev/null) || problem=": cannot be read"
  if [[ -n $problem ]]; then
    problem=${problem%%$'\n'*}
    die 1 "lab/steps.tsv$problem (git checkout lab/steps.tsv brings it back; without git, unpack the lab anew)"
  fi
}
check_steps_file

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

# step_line STEP [VARIABLE]: the line of lab/steps.tsv that STEP (04, 4 or 04_jacobi_kernel) names. VARIABLE is what
# the user gave it in, if that is not STEP.
step_line() {
  local wanted=$1 variable=${2:-STEP} first last
  [[ $wanted =~ ^[0-9]$ ]] && wanted=0$wanted
  first=$(awk '/^[0-9]/ { print substr($1, 1, 2); exit }' "$steps_file")
  last=$(awk '/^[0-9]/ { n = substr($1, 1, 2) } END { print n }' "$steps_file")
  if [[ -z $wanted ]]; then
    die $exit_bad_usage "which step? Say $variable=NN, from $first to $last"
  fi
  awk -F '\t' -v wanted="$wanted" \
    '/^[0-9]/ && ($1 == wanted || substr($1, 1, 2) == wanted) { print; found = 1 } END { exit !found }' \
    "$steps_file" || die $exit_bad_usage "$variable=$1: there is no such step; they go from $first to $last"
}

# read_step_list: sets step_list to the steps that $STEPS names (04,05_copy_kernel,...), as numbers of two digits.
read_step_list() {
  local wanted line
  local -a names
  step_list=()
  IFS=', ' read -r -a names <<<"${STEPS:-}"
  for wanted in ${names[@]+"${names[@]}"}; do
    if [[ -z $wanted ]]; then continue; fi
    line=$(step_line "$wanted" STEPS) || exit $?
    step_list+=("${line:0:2}")
  done
  if [[ -n ${STEPS:-} ]] && ((${#step_list[@]} == 0)); then die $exit_bad_usage "STEPS=$STEPS: names no step"; fi
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
  local one
  local -a each
  IFS=, read -r -a each <<<"$RANKS"
  # All of them start on this machine, each with threads of its own.
  for one in "${each[@]}"; do
    if ((one > 64)) && [[ -z ${LAB_MPIRUN:-} ]]; then
      die $exit_bad_usage "RANKS=$RANKS: at most 64 on one machine; LAB_MPIRUN says what starts a job of several nodes"
    fi
  done
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

# has_space FOLDER: whether a file of 64 KiB, which is more than any of the texts here, can be written in it.
has_space() {
  local status=0
  head -c 65536 /dev/zero 2>/dev/null >"$1/.space-$BASHPID" || status=$?
  rm -f "$1/.space-$BASHPID"
  return "$status"
} 2>/dev/null

# read_results: sets results to the folder that $RESULTS names, and makes it; or to results/local.
read_results() {
  results=${RESULTS:-$lab_root/results/local}
  { mkdir -p "$results" && [[ -w $results ]] && has_space "$results"; } 2>/dev/null ||
    die $exit_cannot_write "RESULTS=$results: cannot be written; RESULTS names another folder for what is measured"
}

# make_scratch: sets temp to a folder that is gone when the script is.
make_scratch() {
  temp=$(mktemp -d "${TMPDIR:-/tmp}/jacobi-XXXXXX" 2>/dev/null) ||
    die $exit_cannot_write "${TMPDIR:-/tmp}: cannot be written; TMPDIR names a folder for what is temporary"
  trap 'rm -rf "$temp"' EXIT
  has_space "$temp" ||
    die $exit_cannot_write "${TMPDIR:-/tmp}: no space left there; TMPDIR names another folder for what is temporary"
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

# watched LOG COMMAND...: all that it says goes to LOG. On a terminal one line shows how far a build is meanwhile.
watched() {
  local log=$1 status=0 watcher=""
  shift
  if [[ -t 2 ]]; then
    show_progress "$log" >/dev/null &
    watcher=$!
  fi
  "$@" >"$log" 2>&1 || status=$?
  if [[ -n $watcher ]]; then
    { kill "$watcher" && wait "$watcher"; } 2>/dev/null || true
    doing
  fi
  return "$status"
}

# show_progress LOG: shows the newest "[12/84]" or "[ 14%]" that the build tool writes there, until it is ended.
show_progress() {
  local newest
  # Or until the script is gone.
  while sleep 0.3 && kill -0 $$ 2>/dev/null; do
    newest=$(tail -c 4096 "$1" 2>/dev/null | grep -aoE '^\[ *[0-9]+(/[0-9]+|%)\]' | tail -n 1) || true
    if [[ -n $newest ]]; then doing "building $newest"; fi
  done
}

# show_log LOG: what a build or CMake said there, without the progress; and whether it had space to say it.
show_log() {
  { grep -avE '^\[ *[0-9]+(/[0-9]+|%)\]' "$1" || true; } >&2
  has_space "${1%/*}" || printf '%s\n' "${0##*/}: no space left in ${1%/*}" >&2
}

# compiler_words LOG: what the compiler said there, without what the build tool says around it.
compiler_words() {
  grep -vE '^(\[|ninja: |FAILED: |gmake|make)|^(cd .*|:) && |^/.*(nvcc|c\+\+|g\+\+|cuda_to_cpp) ' "$1" |
    sed "s#$lab_root/##g" || true
}

# forget_cmake WHY: says so, and removes what CMake knows of this build folder; what was built stays until then.
forget_cmake() {
  say "$1: all of it is built anew" >&2
  find "$build_dir" -name CMakeFiles -type d -prune -exec rm -rf {} +
  rm -f "$build_dir/CMakeCache.txt"
}

# of_the_lab: whether the build folder has been configured, and for the lab.
of_the_lab() { grep -qsx 'CMAKE_PROJECT_NAME:STATIC=jacobi_porting_lab' "$build_dir/CMakeCache.txt"; }

# forget_moved: CMake keeps absolute paths. If the build folder or the lab was moved, all is built anew.
forget_moved() {
  local cache=$build_dir/CMakeCache.txt of here
  of_the_lab || return 0
  of=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
  here=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$cache")
  if [[ -z $of || -z $here ]] || [[ $of -ef $lab_root && $here -ef $build_dir ]]; then return 0; fi
  doing
  forget_cmake "The lab or its build folder was moved since it was built (in $here)"
}

# gone_since_configured: the first tool, library or folder of the system that CMake found and that is no longer there.
gone_since_configured() {
  local path
  of_the_lab || return 0
  while IFS= read -r path; do
    if [[ ! -e $path ]]; then
      printf '%s\n' "$path"
      return
    fi
  done < <(sed -n '/^CMAKE_INSTALL_/d; s/^[A-Za-z_0-9-]*:\(FILEPATH\|PATH\|STRING\)=\(\/[^;]*\)$/\2/p' "$build_dir/CMakeCache.txt")
}

# run_cmake ARGUMENT...: for configure, locked. Its log is there whole or not at all: other verbs read it.
run_cmake() {
  local log=$build_dir/configure.log status=0 gone
  local -a generator=() command
  forget_moved
  if command -v ninja >/dev/null; then generator=(-G Ninja); fi
  command=(cmake -S "$lab_root" -B "$build_dir" "$@")
  if [[ ! -f $build_dir/CMakeCache.txt ]]; then command+=("${generator[@]}"); fi
  watched "$log.new" "${command[@]}" || status=$?
  # An MPI, a toolkit or a compiler that was found before may be another one today, or none.
  if ((status)) && gone=$(gone_since_configured) && [[ -n $gone ]]; then
    forget_cmake "$gone, which this was built with, is no longer there"
    status=0
    watched "$log.new" cmake -S "$lab_root" -B "$build_dir" "${generator[@]}" "$@" || status=$?
  fi
  if ((status)); then show_log "$log.new"; fi
  mv -f "$log.new" "$log"
  return "$status"
}

# configure: makes the build folder ready. What CMake says is shown only if it fails. all_steps=1: it is for all of them.
configure() {
  local needed=--needed
  if ((${step_ranks:-0} || ${all_steps:-0})); then needed=--ranks; fi
  "$lab_root/scripts/verbs/setup.sh" "$needed"
  # Only now is it known how the exercises were handed out.
  if [[ ! -e $lab_root/.start ]]; then "$lab_root/scripts/lib/start.sh" --keep; fi
  local -a extra=()
  # For sites and CI: further arguments to CMake, separated by blanks.
  if [[ -n ${LAB_CMAKE_ARGS:-} ]]; then read -r -a extra <<<"$LAB_CMAKE_ARGS"; fi
  { mkdir -p "$build_dir" && [[ -w $build_dir ]]; } 2>/dev/null ||
    die $exit_cannot_write "$build_dir: cannot be written; LAB_BUILD_DIR names another folder to build in"
  local log=$build_dir/configure.log
  doing configuring
  locked run_cmake "${extra[@]}" || die 1 "CMake could not configure the build; its words stand above"
  doing
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

# read_backend: sets backend to gpu, cpu or auto, from $BACKEND.
read_backend() {
  backend=${BACKEND:-auto}
  case $backend in
    gpu | cpu | auto) ;;
    *) die $exit_bad_usage "BACKEND=$backend: must be gpu or cpu" ;;
  esac
}

# choose_backend: sets backend to "gpu", or to "cpu" where the step's kernels run on the CPU in place of
# a GPU (lab/cpu): where there is no GPU, or no nvcc, and says so; or where BACKEND asks for it. After configure.
choose_backend() {
  read_backend
  if [[ $backend != auto ]]; then return; fi
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

# build_watched LOG TARGET...: builds them on all cores, with all that the build says in LOG; returns its status. On a
# terminal one line shows how far it is. Elsewhere a first build, which takes long, is announced in one.
build_watched() {
  local log=$1
  shift
  if [[ ! -t 2 && ! -e $build_dir/lab/liblab.a ]]; then
    printf '%s\n' "building ... (the first build takes about a minute)" >&2
  fi
  doing building
  locked watched "$log" cmake --build "$build_dir" --parallel "$(nproc)" --target "$@"
}

# build_targets TARGET...: builds them. If that fails, what the build says is shown.
build_targets() {
  local log=$build_dir/build.log
  if build_watched "$log" "$@"; then return; fi
  show_log "$log"
  return 1
}

# build_program TARGET...: builds a learner's program, or what looks at it. If it does not compile, the compiler's
# words are shown, without the build tool's.
build_program() {
  local log=$build_dir/build_$1.log
  if build_watched "$log" "$@"; then return; fi
  compiler_words "$log" >&2
  return 1
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
      { printf '%s\n' ${rest:+"$rest"} "${line%$'\t'}" >"$file.$BASHPID" && mv -f "$file.$BASHPID" "$file"; } || {
        rm -f "$file.$BASHPID"
        false
      }
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
