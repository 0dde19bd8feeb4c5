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
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/look.sh
source "$(dirname "${BASH_SOURCE[0]}")/look.sh"

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
  local status=$? verdict=wrong where=$backend
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
backend=gpu watched=""
if [[ $step_needs == cuda ]]; then
  choose_backend
  if [[ $backend == cpu ]]; then target+=_cpu; fi
  if [[ $backend == cpu && $step_source == *.cu ]] && ((races + asan == 0)); then watched=${target}_watched; fi
  if ((asan)); then target+=_asan; fi
  if ((races)); then target+=_watched; fi
fi
if ! have_target "$target"; then
  say "$step: cannot be built here for a GPU: no nvcc was found"
  say "  Load your site's CUDA module, or leave BACKEND=gpu away."
  exit $exit_no_gpu
fi
if ! build_program validate goals; then die 1 "the validator does not build"; fi
if [[ $which == exercise ]]; then
  sum=$(sha256sum <"$lab_root/$source_file")
  sum=${sum%% *}
  trap note_verdict EXIT
fi
log=$build_dir/check_$target.log # two checks may run at a time

# nvcc_of_build: the CUDA compiler that CMake found, or nothing.
nvcc_of_build() {
  sed -n 's/^set(CMAKE_CUDA_COMPILER "\(.*\)")$/\1/p' "$build_dir"/CMakeFiles/*/CMakeCUDACompiler.cmake 2>/dev/null |
    head -n 1 || true
}

# nvcc_takes NVCC PTX: whether it compiles the learner's file. The build's own include folders are the step's.
nvcc_takes() {
  "$1" -std=c++17 -ptx "-I$lab_root/lab/include" "-DLAB_STEP_NAME=\"$step\"" "$lab_root/$source_file" -o "$2"
}
nvcc_takes_it=0
doing building
if ! locked cmake --build "$build_dir" --parallel "$(nproc)" \
  --target "$target" ${watched:+"$watched"} >"$log" 2>&1; then
  # Where nvcc takes it, the CPU in place of a GPU lacks something: no mistake of the learner's.
  nvcc=$(nvcc_of_build)
  if [[ $backend == cpu && $step_source == *.cu && -x $nvcc ]] && nvcc_takes "$nvcc" "$build_dir/$target.ptx" >"$log.nvcc" 2>&1; then
    nvcc_takes_it=1
  fi
  # One program's log: of two that are built of the same file, each would tell the same.
  if [[ -n $watched ]] && ! locked cmake --build "$build_dir" --target "$target" >"$log.1" 2>&1; then
    mv "$log.1" "$log"
  fi
  doing
  compiler_words "$log"
  if ((nvcc_takes_it)); then
    say "$step: nvcc compiles it; the CPU in place of a GPU lacks what the first"
    say "  error above names (lab/cpu/README.md). On a GPU: make check STEP=$step_number."
    exit $exit_no_gpu
  fi
  say "$step: does not compile; begin with the first error above"
  exit 1
fi
built=1
doing
# Warnings are worth reading, too.
grep -E 'warning' "$log" | sed "s#$lab_root/##g" | awk '!seen[$0]++' || true

# A GPU does not say which line is to blame, and a race may do no harm there: the CPU looks, too. A program that
# it cannot run is no mistake.
looks=""
if [[ $backend == gpu && $step_needs == cuda ]]; then
  looks=${build_dir#"$lab_root"/}/bin/${target}_cpu_watched
  if ! build_targets "${target}_cpu_watched" >"$build_dir/looks_$target.log" 2>&1 ||
    [[ ! -x $build_dir/bin/${looks##*/} ]]; then
    looks=""
  fi
fi

cd "$lab_root" # so that files are named as the learner knows them
program=${build_dir#"$lab_root"/}/bin/$target
arguments=(--name "$step")
if [[ $which == exercise ]]; then
  arguments+=(--exercise "$source_file")
  # The first step has no task: there is nothing that it could be unchanged from.
  if [[ -n $step_before ]]; then
    before=solutions/$step_before/$step_before_source
    # A handout has no solutions, but the exercises as they were handed out.
    if [[ -f .start/$step/$step_source ]]; then before=.start/$step/$step_source; fi
    arguments+=(--before "$before")
  fi
fi
if [[ -n ${N:-} ]]; then arguments+=(--n "$N"); fi
if [[ -n ${TIME_LIMIT:-} ]]; then arguments+=(--time-limit "$TIME_LIMIT"); fi
# Once with each number of ranks; then one number will do.
ranks=() one_number_of_ranks=()
one_process="" # of a step for several GPUs that has no ranks yet
if ((step_ranks)) && ! has_ranks "$lab_root/$source_file"; then
  one_process="It is a program of one process so far: lab::Ranks makes it one of several."
elif ((step_ranks)); then
  ranks=(--ranks "${RANKS:-1,2,3,4}")
  one_number_of_ranks=(--ranks "${RANKS:-3}")
fi

# Ranks that wait for each other for ever are to say so before the check takes them for slow. And kernels whose loops
# never end are mostly tried here: the usual grids are small.
if [[ $backend == cpu ]]; then
  export LAB_EXCHANGE_SECONDS=${LAB_EXCHANGE_SECONDS:-60}
  if [[ -z ${TIME_LIMIT:-} && -z ${N:-} ]]; then arguments+=(--time-limit 120); fi
fi

# judge PROGRAM [OPTION...]: sets said and status: what the validator says.
judge() {
  local program=$1
  shift
  status=0
  said=$("$build_dir/bin/validate" "${arguments[@]}" "$@" "$program") || status=$?
}

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
  local before=solution_$step_before found log=$build_dir/goals_$target.log
  if ! have_target "$before"; then before=exercise_$step_before; fi
  # To count needs no GPU, either.
  if [[ -n $looks ]]; then
    options+=(--watched "$looks")
  elif [[ $step_source == *.cu ]] && build_targets "${which}_${step}_cpu_watched" >"$log" 2>&1; then
    options+=(--watched "${build_dir#"$lab_root"/}/bin/${which}_${step}_cpu_watched")
  fi
  if grep -q "^-- CUDA " "$build_dir/configure.log" && build_targets lab_trace >"$log" 2>&1; then
    options+=(--tracer "$build_dir/lib/liblab_trace.so")
  fi
  if ((step_ranks)); then options+=(--ranks "${RANKS:-1,2,3,4}"); fi
  if [[ $backend == gpu && $step_needs == cuda ]]; then
    options+=(--gpu)
    if build_targets bandwidth >"$log" 2>&1; then options+=(--bandwidth "$build_dir/bin/bandwidth"); fi
    if have_target "$before" && build_targets "$before" >"$log" 2>&1; then
      options+=(--before "$build_dir/bin/$before")
    fi
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
few=(--iterations "$look_sweeps" "${one_number_of_ranks[@]}")
if [[ -z ${N:-} ]]; then few+=(--n "$look_points"); fi
nothing_found="  No race, no access out of bounds, no read of memory that nothing wrote."

if [[ $backend == gpu ]]; then
  judge "$program" "${ranks[@]}" ${looks:+--watched "$looks"}
  verdict=$said
  if ((status == 0)) && [[ -n $looks ]]; then
    judge "$looks" "${few[@]}" --quiet
    case $status in
      0) if [[ $step_source == *.cu ]]; then verdict+=$'\n'$nothing_found; fi ;;
      1) verdict=$said$'\n'"  The GPU was right by luck: the CPU, which looks at every access, finds this." ;;
      *) status=0 said=$verdict ;; # it could not look
    esac
  fi
  if [[ -n $verdict ]]; then say_wrapped "$verdict"; fi
  if ((status == 0)); then measure_goals; fi
  exit "$status"
fi

# Where it is wrong, a look at every access may tell why.
if [[ -n $watched ]]; then arguments+=(--watched "${program}_watched"); fi

if ((races)); then
  judge "$program" "${few[@]}"
  say_wrapped "$said"
  if ((status == 0)); then
    say "$nothing_found"
    short_look RACES=1
  fi
  exit "$status"
fi

judge "$program" "${ranks[@]}"
if ((status != 0)) || [[ $step_source != *.cu ]]; then
  say_wrapped "$said"
  if ((status == 0)) && ((asan == 0)); then measure_goals; fi
  if ((status == 1)) && ((asan)); then
    # AddressSanitizer's own words say where.
    "$program" --n 100 --iterations 3 --problem probe --quiet 2>&1 |
      sed -n "s#$lab_root/##g; /ERROR: AddressSanitizer/,/^\$/p" | head -n 25 || true
  fi
  exit "$status"
fi
verdict=$said

# Right so far. Threads may run in any order, and a race may do no harm today.
for order in reverse shuffled; do
  export LAB_CPU_ORDER=$order
  judge "$program" "${one_number_of_ranks[@]}" --quiet
  if ((status != 0)); then
    say_wrapped "$said"
    why="forward it is right: a race?"
    if [[ $said == *" bytes that cuda"* ]]; then why="forward it does not show."; fi
    say "  That is with the threads run in $order order; $why"
    exit "$status"
  fi
done
unset LAB_CPU_ORDER
if [[ -n $watched ]]; then
  judge "${program}_watched" "${few[@]}" --quiet
  if ((status != 0)); then
    say_wrapped "$said"
    exit "$status"
  fi
fi
# What g++ takes nvcc may refuse: a function of the host's called from a kernel. Where nvcc is here, it is asked.
nvcc=$(nvcc_of_build)
if [[ -x $nvcc ]] && ! nvcc_takes "$nvcc" "$build_dir/$target.ptx" >"$log" 2>&1; then
  sed "s#$lab_root/##g" "$log" | head -n 20
  say_wrapped "$step: right where the CPU runs the kernels, but nvcc refuses it; begin with the first error above"
  exit 1
fi

say_wrapped "$verdict"
say "  The same with blocks and threads run in reverse, and in shuffled order."
if [[ -n $watched ]]; then say "$nothing_found"; fi
if ((asan == 0)); then measure_goals; fi
