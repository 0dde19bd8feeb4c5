#!/usr/bin/env bash
# Builds the learner's exercise and says how it stands: unchanged, wrong (and why), right but not at its
# goal, done, or right with goals that cannot be measured here. `make check STEP=NN` calls it.
#
#   STEP=NN                    the step
#   WHICH=exercise|solution    which of the two (default: exercise)
#   N=N,N,...                  sizes to run at (default: 100,250)
#   RANKS=R,R,...              of a step for several GPUs: run it as jobs of so many ranks (default: 1,2,3,4)
#   TIME_LIMIT=S               seconds for one run of the program (default 300; where the CPU runs kernels 120)
#   BACKEND=gpu|cpu            where the kernels run (default: the GPU, with the CPU beside it to look at every access;
#                              or the CPU alone, where there is no GPU)
#   RACES=1                    on the CPU: look at every access of every thread, for races, for accesses
#                              out of bounds and for reads of what nothing wrote; needs no GPU
#   ASAN=1                     on the CPU, with AddressSanitizer
set -euo pipefail
# shellcheck source=scripts/lib/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"
# shellcheck source=scripts/lib/look.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/look.sh"

read_step "${STEP-}"
read_which
read_ranks
read_backend
IFS=, read -r -a sizes <<<"${N:-100}"
for size in "${sizes[@]}"; do
  if ! [[ $size =~ ^[0-9]{1,7}$ ]] || ((10#$size < 3 || 10#$size > 1048576)); then
    die $exit_bad_usage "N=$N: must be a whole number from 3 to 1048576, or several with commas"
  fi
done
if ! [[ ${TIME_LIMIT:-1} =~ ^[1-9][0-9]{0,4}$ ]] || ((${TIME_LIMIT:-1} > 86400)); then
  die $exit_bad_usage "TIME_LIMIT=$TIME_LIMIT: must be a whole number of seconds, from 1 to 86400"
fi
source_file=${which}s/$step/$step_source
[[ -f $lab_root/$source_file ]] || die_not_there "$source_file"
for switch in RACES ASAN; do
  case ${!switch:-0} in
    0 | 1) ;;
    *) die $exit_bad_usage "$switch=${!switch}: must be 1 or 0" ;;
  esac
done
races=${RACES:-0} asan=${ASAN:-0}
((races + asan < 2)) || die $exit_bad_usage "RACES=1 and ASAN=1: one at a time"
if ((races + asan)); then
  [[ $step_needs == cuda ]] || die $exit_bad_usage "$step has no kernels: RACES and ASAN are for steps from 02 on"
  [[ ${BACKEND:-cpu} == cpu ]] || die $exit_bad_usage "RACES and ASAN run on the CPU, not with BACKEND=$BACKEND"
  BACKEND=cpu
fi

# What `make progress` shows. A short look (N, RACES, ASAN) that finds nothing wrong leaves no verdict.
built=0 said="" goal=""
note_verdict() {
  local status=$1 verdict=wrong where=$backend
  if [[ $goal == missed ]]; then
    verdict="goal missed"
  elif ((status == 0)); then
    verdict=${goal:-right}
    if [[ -z $said || -n ${N:-} ]] || ((races + asan)); then return; fi
  elif ((status != 1)); then
    return
  elif ((!built)); then
    verdict="does not compile"
  elif [[ $said == "$step: unchanged"* ]]; then
    verdict=unchanged
  fi
  if [[ $step_needs == cpu ]]; then where=cpu; fi
  local -a line=("$step" "$verdict" "$sum" "$(date '+%Y-%m-%d %H:%M')" "$where")
  remember progress.tsv "${line[@]}"
  # Who breaks it on purpose and puts it back need not check again.
  if [[ ! -f $lab_root/results/local/progress.tsv ]]; then return; fi
  if [[ $verdict == right || $verdict == "done" ]]; then
    remember progress_right.tsv "${line[@]}"
  elif [[ $(recall progress_right.tsv "$step" | cut -f 2) == "$sum" ]]; then
    remember progress_right.tsv "$step" "$verdict" -
  fi
}

configure >/dev/null
target=${which}_$step
backend=gpu
on_cpu="" watched="" # the same program on the CPU, and with every access looked at
if [[ $step_needs == cuda ]]; then
  choose_backend
  if [[ $backend == cpu ]]; then target+=_cpu; fi
  if ((asan)); then
    target+=_asan
  elif ((races)); then
    target+=_watched
  elif [[ $backend == gpu ]]; then
    on_cpu=${target}_cpu watched=${target}_cpu_watched
  elif [[ $step_source == *.cu ]]; then
    watched=${target}_watched
  fi
fi
if ! have_target "$target"; then
  say "$step: cannot be built here for a GPU: no nvcc was found"
  say "  Load your site's CUDA module, or leave BACKEND=gpu away."
  exit $exit_no_gpu
fi
scratch=$build_dir/check_$target.$$ # two checks may run at a time
log=$build_dir/check_$target.log
nvcc_job=""
on_exit() {
  local status=$?
  if [[ -n $nvcc_job ]]; then kill "$nvcc_job" 2>/dev/null || true; fi
  rm -rf "$scratch"
  if [[ $which == exercise ]]; then note_verdict "$status"; fi
}
if [[ $which == exercise ]]; then
  sum=$(sha256sum <"$lab_root/$source_file")
  sum=${sum%% *}
fi
trap on_exit EXIT
mkdir -p "$scratch"
cd "$lab_root" # so that files are named as the learner knows them

# To say that an exercise is as it was handed out nothing has to be built. (Other comments or blanks: the validator.)
if [[ $which == exercise && -n $step_before ]] && scripts/lib/start.sh "$step" 2>/dev/null | cmp -s - "$source_file"; then
  built=1 said="$step: unchanged"
  say "$said"
  say "  Its code is still that of the step before."
  say "  Look for TODO($step_number) in $source_file."
  exit 1
fi
if ! build_program validate goals; then die 1 "the validator does not build"; fi

# cannot_run_here REASON: the machine's trouble, and not the learner's.
cannot_run_here() {
  say "$step: cannot run here"
  say_wrapped "  $1"
  exit $exit_no_gpu
}

# nvcc_of_build: the CUDA compiler that CMake found, or nothing.
nvcc_of_build() {
  if ! grep -q '^-- CUDA ' "$build_dir/configure.log"; then return; fi
  sed -n 's/^set(CMAKE_CUDA_COMPILER "\(.*\)")$/\1/p' "$build_dir"/CMakeFiles/*/CMakeCUDACompiler.cmake 2>/dev/null |
    head -n 1 || true
}

# nvcc_takes FILE: whether nvcc compiles it. Names without the lab's own folder: nvcc mistakes some characters.
nvcc_takes() {
  "$nvcc" -x cu -std=c++17 -ptx -Ilab/include "-DLAB_STEP_NAME=\"$step\"" "$1" -o "$scratch/ptx"
}

# known_good: a file that nvcc compiles if it works at all: what the exercise began with.
known_good() {
  if [[ -f .start/$step/$step_source ]]; then
    echo ".start/$step/$step_source"
  else
    echo "solutions/$step_before/$step_before_source"
  fi
}

# why_not_built: says why the program is not there, by the log of its build, and ends the check.
why_not_built() {
  local trouble
  trouble=$(grep -m 1 -oiE "$troubles" "$log" || true)
  if [[ -n $trouble ]]; then cannot_run_here "the compiler says: $trouble"; fi
  compiler_words "$log"
  if grep -q 'CUDA on the CPU does not cover' "$log"; then
    cannot_run_here "The program may well be right. On a GPU: make check STEP=$step_number"
  fi
  if grep -qE 'undefined reference|undefined symbol|ld returned' "$log"; then
    say "$step: does not link: what is named above is declared or called, and defined nowhere"
    exit 1
  fi
  # If nvcc takes it, the CPU in place of a GPU lacks something: no mistake of the learner's.
  nvcc=$(nvcc_of_build)
  if [[ $backend == cpu && $step_source == *.cu && -x $nvcc ]] && nvcc_takes "$source_file" >"$scratch/nvcc" 2>&1; then
    cannot_run_here "nvcc compiles it. CUDA on the CPU lacks what the first error above names (lab/cpu/README.md). On a GPU: make check STEP=$step_number"
  fi
  say "$step: does not compile; begin with the first error above"
  exit 1
}
troubles='[^:]*No space left on device|Disk quota exceeded|File size limit exceeded|CPU time limit exceeded'
troubles+='|virtual memory exhausted|out of memory allocating.*|Killed signal terminated.*|unsupported GNU version.*'

# What the check needs, side by side. Each of them may fail without the others.
wanted=("$target" ${on_cpu:+"$on_cpu"} ${watched:+"$watched"})
before=solution_$step_before
have_target "$before" || before=exercise_$step_before
tracer="" # for a program that CUDA's own tools see
if [[ $backend == gpu ]] && grep -q "^-- CUDA " "$build_dir/configure.log"; then
  tracer=$build_dir/lib/liblab_trace.so
  wanted+=(lab_trace)
fi
if [[ $backend == gpu && $step_needs == cuda ]]; then
  wanted+=(bandwidth)
  if have_target "$before"; then wanted+=("$before"); fi
fi
keep_going=-k
if [[ -f $build_dir/build.ninja ]]; then keep_going=-k0; fi
# is_built TARGET: whether it is, without a word.
is_built() { locked cmake --build "$build_dir" --target "$1" >"$scratch/log" 2>&1; }
if ! build_watched "$log" "${wanted[@]}" -- "$keep_going"; then
  if ! is_built "$target"; then
    mv "$scratch/log" "$log"
    doing
    why_not_built
  fi
  # A program that the CPU cannot run is no mistake.
  if [[ -n $watched ]] && ! is_built "$watched"; then watched=""; fi
  if [[ -n $on_cpu ]] && ! is_built "$on_cpu"; then on_cpu=""; fi
fi
for program in watched on_cpu; do
  [[ -x $build_dir/bin/${!program} ]] || declare "$program="
done
built=1
doing
# Warnings are worth reading, too.
grep -E 'warning' "$log" | sed "s#$lab_root/##g" |
  awk -v log_file="${log#"$lab_root"/}" '
    !seen[$0]++ && ++count <= 20
    END { if (count > 20) print count - 20 " more warnings: " log_file }' || true

program=${build_dir#"$lab_root"/}/bin/$target
arguments=(--name "$step" --source "$source_file")
if [[ $which == exercise ]]; then
  arguments+=(--exercise "$source_file")
  # The first step has no task: there is nothing that it could be unchanged from.
  if [[ -n $step_before ]]; then arguments+=(--before "$(known_good)"); fi
fi
if [[ -n ${N:-} ]]; then arguments+=(--n "$N"); fi
if [[ -n ${TIME_LIMIT:-} ]]; then arguments+=(--time-limit "$TIME_LIMIT"); fi
# Once with each number of ranks; then one number will do.
one_process="" # of a step for several GPUs that has no ranks yet
if ((step_ranks)) && ! has_ranks "$source_file"; then
  one_process="It is a program of one process so far: lab::Ranks makes it one of several."
elif ((step_ranks)); then
  ranks=${RANKS:-1,2,3,4}
  if ((races)); then ranks=${RANKS:-3}; fi
  arguments+=(--ranks "$ranks")
fi

# Ranks that wait for each other for ever are to say so before the check takes them for slow. And kernels whose loops
# never end are mostly tried here: the usual grids are small.
export LAB_EXCHANGE_SECONDS=${LAB_EXCHANGE_SECONDS:-60}
if [[ $backend == cpu && -z ${TIME_LIMIT:-} && -z ${N:-} ]]; then arguments+=(--time-limit 120); fi

# short_look SETTING: what was not asked, and how to ask it.
short_look() {
  if [[ -n $step_before ]]; then say_wrapped "  A short look: without $1 the check also measures the step's goal."; fi
}

# measure_goals: the results are right; does the program also do what the step is for? Sets goal, and
# ends the check. A short look does not ask.
measure_goals() {
  if [[ -n $one_process ]]; then
    say "  $one_process"
    say "$step: right, but the step's goal is not reached"
    goal=missed
    exit 1
  fi
  if [[ -z $step_before ]]; then exit 0; fi
  if [[ -n ${N:-} ]]; then
    short_look "N=$N"
    exit 0
  fi
  local -a options=(--name "$step" --time-limit "${TIME_LIMIT:-300}")
  local found
  # To count needs no GPU, either.
  if [[ -n $watched ]]; then options+=(--watched "${build_dir#"$lab_root"/}/bin/$watched"); fi
  if [[ -n $on_cpu ]]; then options+=(--on-cpu "${build_dir#"$lab_root"/}/bin/$on_cpu"); fi
  if [[ -n $tracer ]] && is_built lab_trace; then options+=(--tracer "$tracer"); fi
  if ((step_ranks)); then options+=(--ranks "${RANKS:-1,2,3,4}"); fi
  if [[ $backend == gpu && $step_needs == cuda ]]; then
    options+=(--gpu)
    if is_built bandwidth; then options+=(--bandwidth "$build_dir/bin/bandwidth"); fi
    if have_target "$before" && is_built "$before"; then options+=(--before "$build_dir/bin/$before"); fi
    if found=$(command -v ncu); then options+=(--ncu "$found"); fi
  fi
  local left="" # TODOs: `make progress` counts no such step as done
  local next="Next: run $program, compare with your prediction"
  # Where the CPU stands in, the program prints no times.
  if [[ $backend == cpu && $step_needs == cuda ]]; then
    next="Next: compare your prediction with what was measured, at the end of exercises/$step/README.md"
  fi
  # A handout has no solutions.
  if [[ $which == solution ]]; then
    next=""
  elif grep -qF "TODO($step_number)" "$source_file"; then
    left=1
    next="Next: the TODO($step_number) that are left."
  elif [[ -d solutions ]]; then
    next+=", and see how the solution does it: make diff STEP=$step_number."
  else
    next+="."
  fi
  doing "measuring the goal"
  status=0
  found=$("$build_dir/bin/goals" "${options[@]}" --next "$next" "$program") || status=$?
  doing
  case $status in
    0) if [[ $found == *"$step: done"* ]]; then goal="done"; fi ;;
    1) goal=missed ;;
  esac
  if [[ -n $left ]]; then found=${found/"$step: done"/"$step: right so far, and its goals are reached"}; fi
  say_wrapped "$found"
  exit "$status"
}

# Looking at every access takes time: fewer points and sweeps.
read_look "$step_number" "$step_ranks"
if ((races)); then
  arguments+=(--iterations "$look_sweeps")
  if [[ -z ${N:-} ]]; then arguments+=(--n "$look_points"); fi
elif [[ $backend == gpu ]]; then
  if [[ $step_needs == cuda ]]; then arguments+=(--gpu); fi
  if [[ -n $on_cpu ]]; then arguments+=(--on-cpu "${build_dir#"$lab_root"/}/bin/$on_cpu"); fi
elif [[ $step_source == *.cu ]]; then
  arguments+=(--every-order)
fi
if [[ -n $watched ]]; then
  arguments+=(--watched "${build_dir#"$lab_root"/}/bin/$watched" --look-at "${N:-$look_points}" --look-sweeps "$look_sweeps")
fi

# What g++ takes nvcc may refuse: a function of the host's called from a kernel. If it is here, it is asked meanwhile.
nvcc=""
if [[ $backend == cpu && $step_source == *.cu ]] && ((races + asan == 0)); then nvcc=$(nvcc_of_build); fi
if [[ -x $nvcc ]]; then
  nvcc_takes "$source_file" >"$scratch/nvcc" 2>&1 &
  nvcc_job=$!
fi
status=0
said=$("$build_dir/bin/validate" "${arguments[@]}" "$program") || status=$?
if ((status == 0)) && [[ -n $nvcc_job ]]; then
  doing "asking nvcc"
  wait "$nvcc_job" || status=1
  nvcc_job=""
  doing
  if ((status)) && nvcc_takes "$(known_good)" >/dev/null 2>&1; then
    sed "s#$lab_root/##g" "$scratch/nvcc" | head -n 20
    say_wrapped "$step: right where the CPU runs the kernels, but nvcc refuses it; begin with the first error above"
    exit 1
  elif ((status)); then
    said+=$'\n'"  nvcc does not work here, so it was not asked: $(head -n 1 "$scratch/nvcc")"
    status=0
  fi
fi
if [[ -n $said ]]; then say_wrapped "$said"; fi
if ((status == 1 && asan)); then
  # AddressSanitizer's own words say where.
  "$program" --n 100 --iterations 3 --problem probe --quiet 2>&1 |
    sed -n "s#$lab_root/##g; /ERROR: AddressSanitizer/,/^\$/p" | head -n 25 || true
fi
if ((status)); then exit "$status"; fi
if ((races)); then short_look RACES=1; fi
if ((races + asan == 0)); then measure_goals; fi
