# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # its variables are those of the scripts
# What nsys.sh, ncu.sh, sanitize.sh and doctor.sh share: where NVIDIA's tools are, and the messages for when they cannot run.
# Source it; it brings lib.sh with it.
#
#   LAB_NSYS, LAB_NCU        the program, if it is in none of the usual places
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
  local root named=${1^^} nsight
  named=LAB_${named//-/_}
  printf '%s\n' "${!named:-}"
  type -aP "$1" || true
  {
    printf '%s\n' "${CUDA_HOME:-}" "${NVHPC_ROOT:-}" "$system_root"/{usr/local,opt}/cuda
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

# cannot FIRST-LINE TEXT...: why the tool cannot run, what to do, what a learner can do here instead. On stderr; ends
# the script, with exit code 77.
cannot() {
  local kept
  exec >&2
  say_wrapped "${0##*/}: $1"
  advise "${*:2}"
  if [[ $tool == ncu ]]; then
    say "  Without it: make count $step_words (sectors, conflicts, atomics; needs no GPU)"
  else
    say "  Without it: make trace $step_words (ranges and kernels; on the CPU their number)"
  fi
  for kept in "$lab_root"/results/*/profiles/"${tool}_$step_number.csv"; do
    [[ -f $kept ]] || continue
    advise "Or a report that was kept:|make $tool STEP=$step_number REPORT=${kept#"$lab_root"/}"
  done
  exit $exit_no_gpu
}

# ready_profiler: sets tool_path, tool_version and options, which this step needs. Ends the script if there is no GPU or
# no such tool.
ready_profiler() {
  local name=Systems
  [[ $step_needs != cuda ]] || gpu_here || cannot "$tool: there is no NVIDIA GPU here (nvidia-smi sees none)" \
    "On a cluster, ask for one: scripts/slurm/submit.sh $tool $step_words (or srun --gpus=1 make ...)"
  if [[ $tool == ncu ]]; then name=Compute; fi
  tool_path=$(find_tool "$tool") ||
    cannot "$tool (Nsight $name) was not found, neither on the PATH nor where toolkits and modules put it" \
      "Load your site's module (module avail nsight; module load cuda), or install the package" \
      "nsight-${name,} of NVIDIA's repository. Elsewhere: make $tool LAB_${tool^^}=/path/to/$tool"
  tool_version=$(profiler_version "$tool_path")
  read -r -a options <<<"$(labtool profilers.profile_tables options --tool "$tool" --step "$step_number")"
}

# explain_failure LOG: looks in what the tool said for the causes that have a name. If there is one,
# ends the script with exit code 77; else returns.
explain_failure() {
  local regex what help
  while IFS=$'\t' read -r regex what help; do
    if grep -qiE -- "$regex" "$1"; then cannot "${what//TOOL/$tool}" "${help//TOOL/$tool}"; fi
  done < <(grep -v '^#' "$lab_root/scripts/lib/profile_troubles.tsv")
}

# read_baseline: sets baseline to the previous step if $BASELINE says so, and baseline_which to solution or exercise.
read_baseline() {
  baseline="" baseline_which=exercise # a handout has no solutions
  if [[ -z ${BASELINE:-} ]]; then return; fi
  [[ $BASELINE == previous && -z ${CLINIC:-} ]] || die $exit_bad_usage "BASELINE=$BASELINE: must be previous, with STEP=NN"
  [[ -n $step_before ]] || die $exit_bad_usage "BASELINE=previous: there is no step before $step"
  if [[ $tool == ncu && $step_before_source != *.cu ]]; then
    die $exit_bad_usage "BASELINE=previous: $step_before has no kernel that ncu could look at"
  fi
  baseline=$step_before
  if [[ -d $lab_root/solutions ]]; then baseline_which=solution; fi
}

# head_of_report STEP WHICH KERNELS: the lines that say what a report is of. n and iterations are the script's.
head_of_report() {
  local gpu
  gpu=$(timeout 30 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader --id=0 2>/dev/null | head -n 1) || true
  printf '# %s\t%s\n' step "$1" which "$2" n "$n" iterations "$iterations" tool "$tool $tool_version" \
    gpu "${gpu%%, *}" driver "${gpu##*, }" kernels "$3" date "$(date +%F)"
}

# start_profile TOOL: reads the variables of make that both have; n is $N, or else that of lab/steps.tsv. With $REPORT it
# shows that, and ends the script.
start_profile() {
  tool=$1
  if [[ $tool == ncu ]]; then read_step_or_kernel; else read_step "${STEP-}"; fi
  read_which
  n=${N:-$step_n}
  check_n "$n"
  check_iterations "${ITERATIONS:-1}"
  read_baseline
  need_python
  if [[ -n ${REPORT:-} ]]; then show_report; fi
}

# show_report: the tables of $REPORT, next to those of the previous step in the same folder if $BASELINE says so; ends the
# script.
show_report() {
  local report before="" of_n status=0
  report=$(kept_report "REPORT=$REPORT" "$REPORT") || exit
  if [[ -n $baseline ]]; then
    # One at this report's n, where it was kept.
    before=$(dirname "$report")/${tool}_${baseline%%_*}
    of_n=$(sed -n 's/^# n\t//p' "$report" | head -n 1)
    if [[ -f ${before}_n$of_n.csv ]]; then before+=_n$of_n; fi
    before=$(kept_report "BASELINE=$BASELINE" "$before.csv") || exit
  fi
  print_tables "$report" "$before" || status=$?
  exit "$status"
}

# print_tables REPORT [BASELINE'S REPORT]: what matters of them for this step.
print_tables() { labtool profilers.profile_tables "$tool" "$1" --step "${CLINIC:-$step_number}" ${2:+--baseline "$2"}; }

# kept_report NAME FILE: prints where the file is, from here or from the lab's root.
kept_report() {
  local file=$2
  [[ -f $file || $file == /* ]] || file=$lab_root/$2
  [[ -f $file && -r $file ]] || die $exit_bad_usage "$1: ${file#"$lab_root"/} cannot be read"
  [[ $file == *.csv ]] || die $exit_bad_usage "$1: must be a .csv, as make $tool writes next to its report"
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
  build_targets "${targets[@]}" || die 1 "the build failed; the compiler's messages are above"
  { mkdir -p "$profiles_dir" && work=$(mktemp -d "$profiles_dir/.work-XXXXXX"); } 2>/dev/null ||
    die 1 "$profiles_dir: cannot be written"
  trap 'rm -rf "$work"' EXIT
}

# judge_run STATUS LOG REPORT PROGRAM: ends the script and says why, if there is no report or the
# program failed. (Exit code 1 of a program: it has not converged.)
judge_run() {
  local status=$1 log=$2 report=$3 name=${4##*/} line
  if [[ -f $report ]] && ((status <= 1)); then return; fi
  explain_failure "$log"
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
  if [[ -n $baseline ]]; then profile "$baseline" "$baseline_which"; fi
  profile "$step_target" "$which"
  say ""
  print_tables "$profiles_dir/${tool}_${which}_$step_target.csv" \
    "${baseline:+$profiles_dir/${tool}_${baseline_which}_$baseline.csv}"
}
