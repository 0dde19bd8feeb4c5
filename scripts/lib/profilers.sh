# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # its variables are those of the scripts
# What nsys.sh, ncu.sh, sanitize.sh and doctor.sh share: where NVIDIA's tools are, and the messages for when they cannot run.
# Source it; it brings lib.sh with it.
#
#   LAB_NSYS, LAB_NCU        the program, if it is in none of the usual places
#   LAB_PROFILE_TIME_LIMIT   seconds for one profile (default: 1200)
#   LAB_SYSTEM_ROOT          what stands before /opt, /usr and /proc (default: nothing); for tests

source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

system_root=${LAB_SYSTEM_ROOT:-}
profiles_dir=$build_dir/profiles

# newest PATTERN...: the paths that the patterns match, the highest version first.
newest() {
  local path
  for path in "$@"; do
    if [[ -e $path ]]; then printf '%s\n' "$path"; fi
  done | sort -rV
}

# tool_places TOOL: where toolkits, packages and clusters put nsys, ncu or another tool, one path a line.
tool_places() {
  local root name named=${1^^} nsight
  named=LAB_${named//-/_}
  printf '%s\n' "${!named:-}"
  type -aP "$1" || true
  {
    # Modules set variables, of many names: CUDA_HOME, NVHPC_ROOT, NSIGHT_COMPUTE_HOME, EBROOTCUDA ...
    while IFS= read -r name; do printf '%s\n' "${!name%%$'\n'*}"; done < <(
      compgen -e | grep -E '^(CUDA|NVHPC|NSIGHT|EBROOT|NSYS|NCU)|_(NSIGHT|NSYS|NCU)' || true)
    printf '%s\n' "$system_root"/{usr/local,opt}/cuda
    newest "$system_root"/usr/local/cuda-* "$system_root"/opt/nvidia/{hpc_sdk/Linux_*/[0-9]*,nsight-systems{,-cli}/*,nsight-compute/*}
  } | while IFS= read -r root; do
    if [[ $root != /* || ! -d $root ]]; then continue; fi
    for nsight in "$root" "$root"/{nsight-{systems,compute}-*,{,Linux_*/*/}profilers/Nsight_{Systems,Compute}}; do
      newest "$nsight"/{,bin/,"$1"/,host/target-linux-*/,target-linux-*/}"$1"
    done
  done
}

# find_tool TOOL: prints the first one that says its version. (A toolkit has a script of this name even if the tool
# itself was not installed.)
find_tool() {
  local candidate
  while IFS= read -r candidate; do
    if [[ -x $candidate && -f $candidate ]] && timeout 30 "$candidate" --version >/dev/null 2>&1 </dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done < <(tool_places "$1")
  return 1
}

# profiler_version PATH
profiler_version() {
  timeout 30 "$1" --version 2>/dev/null </dev/null | sed -n 's/.*[Vv]ersion \([0-9][0-9.]*\).*/\1/p' | head -n 1
}

# advise TEXT: the text in lines of 80 columns, indented. What stands between two | keeps to a line of its own.
advise() { tr '|' '\n' <<<"$1" | sed 's/^ */  /' | wrapped 2; }

# cannot TOOL FIRST-LINE TEXT...: why the tool cannot run, what to do, what a learner can do here instead. On stderr; ends
# the script, with exit code 77.
cannot() {
  local kept
  exec >&2
  say_wrapped "${0##*/}: $2"
  advise "${*:3}"
  if [[ $1 == ncu ]]; then
    say "  Without it: make count $step_words (sectors, conflicts, atomics; needs no GPU)"
  else
    say "  Without it: make trace $step_words (ranges and kernels; on the CPU their number)"
  fi
  for kept in "$lab_root"/results/*/profiles/"$1_$step_number.csv"; do
    [[ -f $kept ]] || continue
    advise "Or a report that was kept:|make $1 STEP=$step_number REPORT=${kept#"$lab_root"/}"
  done
  exit $exit_no_gpu
}

# ready_profiler TOOL: sets tool_path, tool_version and options, which this step needs. Ends the script if there is no GPU
# or no such tool, or if the lab's tracer or another one would also be attached.
ready_profiler() {
  local name=Systems
  [[ $step_needs != cuda ]] || gpu_here || cannot "$1" "$1: there is no NVIDIA GPU here (nvidia-smi sees none)" \
    "On a cluster, ask for one: scripts/slurm/submit.sh $1 $step_words (or srun --gpus=1 make ...)"
  if [[ $1 == ncu ]]; then name=Compute; fi
  tool_path=$(find_tool "$1") || cannot "$1" "$1 (Nsight $name) was not found, neither on the PATH nor where toolkits and modules put it" \
    "Load your site's module (module avail nsight; module load cuda), or install the package" \
    "nsight-${name,} of NVIDIA's repository. Elsewhere: make $1 LAB_${1^^}=/path/to/$1"
  tool_version=$(profiler_version "$tool_path")
  for name in CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH; do
    [[ -z ${!name:-} ]] ||
      cannot "$1" "$name is set (${!name}): another profiler would also be attached" "unset $name, and try again"
  done
  read -r -a options <<<"$(labtool profile_tables options --tool "$1" --step "$step_number")"
}

# explain_failure TOOL LOG: looks in what the tool said for the causes that have a name. If there is one,
# ends the script with exit code 77; else returns.
explain_failure() {
  local regex what help
  while IFS=$'\t' read -r regex what help; do
    if grep -qiE -- "$regex" "$2"; then cannot "$1" "${what//TOOL/$1}" "${help//TOOL/$1}"; fi
  done < <(grep -v '^#' "$lab_root/scripts/lib/profile_troubles.tsv")
}

# run_limited LOG COMMAND...: runs it, in a process group of its own that ends after the time limit, or when
# this script does. Returns its exit code; 124 or 137 after the limit.
run_limited() {
  local log=$1 limit=${LAB_PROFILE_TIME_LIMIT:-1200} status=0 child
  shift
  timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null &
  child=$!
  # shellcheck disable=SC2064  # the child of now
  trap "kill -TERM $child 2>/dev/null; exit 130" INT TERM HUP
  wait "$child" || status=$?
  trap 'exit 130' INT # as lib.sh has it
  trap - TERM HUP
  return "$status"
}

# read_baseline TOOL: sets baseline to the previous step if $BASELINE says so, and baseline_which to solution or exercise.
read_baseline() {
  baseline="" baseline_which=exercise # a handout has no solutions
  if [[ -z ${BASELINE:-} ]]; then return; fi
  [[ $BASELINE == previous && -z ${CLINIC:-} ]] || die $exit_bad_usage "BASELINE=$BASELINE: must be previous, with STEP=NN"
  [[ -n $step_before ]] || die $exit_bad_usage "BASELINE=previous: there is no step before $step"
  if [[ $1 == ncu && $step_before_source != *.cu ]]; then
    die $exit_bad_usage "BASELINE=previous: $step_before has no kernel that ncu could look at"
  fi
  baseline=$step_before
  if [[ -d $lab_root/solutions ]]; then baseline_which=solution; fi
}

# head_of_report TOOL STEP WHICH KERNELS: the lines that say what a report is of. tool_version, n and iterations
# are the script's.
head_of_report() {
  local gpu
  gpu=$(timeout 30 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader --id=0 2>/dev/null | head -n 1) || true
  printf '# %s\t%s\n' step "$2" which "$3" n "$n" iterations "$iterations" tool "$1 $tool_version" \
    gpu "${gpu%%, *}" driver "${gpu##*, }" kernels "$4" date "$(date +%F)"
}

# start_profile TOOL: reads the variables of make that both have; n is $N, or else that of lab/steps.tsv.
start_profile() {
  if [[ $1 == ncu ]]; then read_step_or_kernel; else read_step "${STEP-}"; fi
  read_which
  n=${N:-$step_n}
  check_n "$n"
  check_iterations "${ITERATIONS:-1}"
  [[ ${LAB_PROFILE_TIME_LIMIT:-1200} =~ ^[1-9][0-9]*$ ]] ||
    die $exit_bad_usage "LAB_PROFILE_TIME_LIMIT=$LAB_PROFILE_TIME_LIMIT: must be a whole number of seconds"
  read_baseline "$1"
  need_python
}

# show_report TOOL: the tables of $REPORT, next to those of the previous step in the same folder if $BASELINE says so;
# ends the script.
show_report() {
  local report before="" of_n status=0
  report=$(kept_report "$1" "REPORT=${REPORT-}" "${REPORT-}") || exit $?
  if [[ -n $baseline ]]; then
    # One at this report's n, where it was kept.
    before=$(dirname "$report")/${1}_${baseline%%_*}
    of_n=$(sed -n 's/^# n\t//p' "$report" | head -n 1)
    if [[ -f ${before}_n$of_n.csv ]]; then before+=_n$of_n; fi
    before=$(kept_report "$1" "BASELINE=$BASELINE" "$before.csv") || exit $?
  fi
  print_tables "$1" "$report" "$before" || status=$?
  exit "$status"
}

# print_tables TOOL REPORT [BASELINE'S REPORT]: what matters of them for this step.
print_tables() { labtool profile_tables "$1" "$2" --step "${CLINIC:-$step_number}" ${3:+--baseline "$3"}; }

# kept_report TOOL NAME FILE: prints where the file is, from here or from the lab's root.
kept_report() {
  local file=$3
  [[ -f $file || $file == /* ]] || file=$lab_root/$3
  [[ -f $file && -r $file ]] || die $exit_bad_usage "$2: ${file#"$lab_root"/} cannot be read"
  [[ $file == *.csv ]] || die $exit_bad_usage "$2: must be a .csv, as make $1 writes next to its report"
  printf '%s\n' "$file"
}

# build_for_profile: builds the step's program and the baseline's, and makes the folder work, which is gone at the
# script's end: reports are moved from there when they are whole.
build_for_profile() {
  local targets=("${which}_$step_target") target
  need_source
  configure >/dev/null
  if [[ -n $baseline ]]; then targets+=("${baseline_which}_$baseline"); fi
  for target in "${targets[@]}"; do
    have_target "$target" || die $exit_no_gpu "$target cannot be built here for a GPU: no nvcc was found"
  done
  build_program "${targets[@]}" || die 1 "the build failed; the compiler's messages are above"
  mkdir -p "$profiles_dir" 2>/dev/null || die 1 "$profiles_dir: cannot be created"
  work=$(mktemp -d "$profiles_dir/.work-XXXXXX") || die 1 "$profiles_dir: cannot be written"
  trap 'rm -rf "$work"' EXIT
}

# judge_run TOOL STATUS LOG REPORT PROGRAM: ends the script and says why, if there is no report or the
# program failed. (Exit code 1 of a program: it has not converged.)
judge_run() {
  local tool=$1 status=$2 log=$3 report=$4 name=${5##*/} line
  if [[ -f $report ]] && ((status <= 1)); then return; fi
  if ((status == 124 || status == 137)); then
    die 1 "$tool took longer than ${LAB_PROFILE_TIME_LIMIT:-1200} s (LAB_PROFILE_TIME_LIMIT): try a smaller N"
  fi
  explain_failure "$tool" "$log"
  # The program's own words, without what the profiler says.
  line=$(grep -E "^${name#*_}: " "$log" | tail -n 1 || true)
  if [[ -n $line ]]; then
    printf '%s\n' "$line" >&2
    if ((status == exit_no_gpu)) || grep -qi 'no usable GPU' <<<"$line"; then exit $exit_no_gpu; fi
    die 1 "the program itself failed; run it without $tool: build/bin/$name"
  fi
  if [[ -f $report ]] && ((status < 128)); then
    say "  (a report was written, although $tool ended with exit code $status)"
    return
  fi
  tail -n 15 "$log" | cut -c 1-300 >&2
  if ((status > 128)); then die 1 "$name died of signal $((status - 128)) under $tool; run it without $tool"; fi
  die 1 "$tool wrote no report (exit code $status); its last messages are above"
}

# profile_both: the baseline, then the step; then the tables.
profile_both() {
  local tool=${0##*/}
  tool=${tool%.sh}
  if [[ -n $baseline ]]; then profile "$baseline" "$baseline_which"; fi
  profile "$step_target" "$which"
  say ""
  print_tables "$tool" "$profiles_dir/${tool}_${which}_$step_target.csv" \
    "${baseline:+$profiles_dir/${tool}_${baseline_which}_$baseline.csv}"
}
