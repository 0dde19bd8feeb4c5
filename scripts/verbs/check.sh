#!/usr/bin/env bash
# Builds the learner's exercise and says how it stands: unchanged, wrong (why, and in which lines), right but not at its
# goal, done, or done as far as this machine can tell. `make check STEP=NN` calls it.
#
#   STEP=NN                    the step
#   CLINIC=NAME                or the kernel of the clinic (scripts/lib/check_clinic.sh)
#   WHICH=exercise|solution    which of the two (default: exercise)
#   N=N,N,...                  sizes to run at (default: 33 to 3072, as the step needs)
#   RANKS=R,R,...              how many ranks the jobs of a step for several GPUs have (default: 1,2,3,4)
#   TIME_LIMIT=S               seconds for one run of the program (default 300; 120 if the CPU runs the kernels and N is not
#                              given). One that computes far longer than smaller grids let expect is ended sooner
#   BACKEND=gpu|cpu            where the kernels run (default: the GPU, and the CPU also looks at every access;
#                              or only the CPU, if there is no GPU)
#   RACES=1                    on the CPU: look at every access of every thread, for races, for accesses
#                              out of bounds and for reads of what nothing wrote; needs no GPU
# shellcheck disable=SC2317  # a trap calls on_exit
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"
source "$lab_root/scripts/lib/look.sh"
source "$lab_root/scripts/lib/why_not_built.sh"
source "$lab_root/scripts/lib/which_function.sh"

if ! [[ ${TIME_LIMIT:-1} =~ ^[1-9][0-9]{0,4}$ ]] || ((${TIME_LIMIT:-1} > 86400)); then
  die $exit_bad_usage "TIME_LIMIT=$TIME_LIMIT: must be a whole number of seconds, from 1 to 86400"
fi
if [[ -n ${CLINIC:-} ]]; then exec "$lab_root/scripts/lib/check_clinic.sh"; fi
read_step "${STEP-}"
read_which
read_ranks
read_backend
IFS=, read -r -a sizes <<<"${N:-100}"
for size in "${sizes[@]}"; do
  check_n "$size" "or several with commas"
done
need_source
check_switches RACES
races=${RACES:-0}
if ((races)); then
  [[ $step_needs == cuda ]] || die $exit_bad_usage "$step has no kernels: RACES is for steps from 02 on"
  [[ ${BACKEND:-cpu} == cpu ]] || die $exit_bad_usage "RACES=1 runs on the CPU, not with BACKEND=$BACKEND"
  BACKEND=cpu
fi

# note_verdict STATUS: what `make progress` shows. The programs write it to $scratch/verdict; what cannot be judged has
# none, and a short look (N, RACES) that finds nothing wrong leaves none. (A bare `return` in a trap has the status that
# the script ends with.)
note_verdict() {
  local status=$1 verdict mistake where=$backend
  if [[ $which != exercise || ! -s $scratch/verdict ]] || ((status > 1)); then return 0; fi
  if ((status == 0)) && { [[ -n ${N:-} ]] || ((races)); }; then return 0; fi
  IFS=$'\t' read -r verdict mistake <"$scratch/verdict" || return 0
  if [[ $step_needs == cpu ]]; then where=cpu; fi
  remember progress.tsv "$step" "$verdict" "$sum" "$(date '+%Y-%m-%d %H:%M')" "$where" ${mistake:+"$mistake"}
}

configure >/dev/null
target=${which}_$step
backend=gpu
on_cpu="" watched="" # the same program on the CPU, and with every access looked at
if [[ $step_needs == cuda ]]; then
  choose_backend
  if [[ $backend == cpu ]]; then target+=_cpu; fi
  if ((races)); then
    target+=_watched
  elif [[ $backend == gpu ]]; then
    on_cpu=${target}_cpu watched=${target}_cpu_watched
  elif [[ $step_source == *.cu ]]; then
    watched=${target}_watched
  fi
fi
if ! have_target "$target"; then
  say "$step: cannot be built here for a GPU: no nvcc was found"
  say "  Load your site's CUDA module, or leave out BACKEND=gpu."
  exit $exit_no_gpu
fi
scratch=$build_dir/check_$target.$$ # two checks may run at a time
log=$build_dir/check_$target.log
jobs=() # in the background, each a process group of its own
# in_background COMMAND...: starts it as one.
in_background() {
  set -m
  "$@" </dev/null &
  jobs+=($!)
  set +m
}
on_exit() {
  local status=$? job
  # With all that they have started: a shell alone would leave them running.
  for job in "${jobs[@]}"; do kill -- "-$job" 2>/dev/null || true; done
  note_verdict "$status"
  rm -rf "$scratch"
}
trap on_exit EXIT
mkdir -p "$scratch"
has_space "$scratch" || cannot_run_here "no space left in $build_dir"
cd "$lab_root" # so that files are named as the learner knows them
sum=$(sha256sum <"$source_file")
sum=${sum%% *}

# To say that an exercise is as it was handed out nothing has to be built. (Other comments or blanks: the validator.)
if [[ $which == exercise && -n $step_before ]] && scripts/lib/start.sh "$step" 2>/dev/null | cmp -s - "$source_file"; then
  echo unchanged >"$scratch/verdict"
  say "$step: unchanged"
  say "  Its code is still that of the previous step."
  say "  Look for TODO($step_number) in $source_file."
  exit 1
fi

# What the check needs. Each of them may fail without the others.
before="" tracer="" bandwidth="" # for a program that CUDA's own tools see
if [[ $backend == gpu ]] && cmake_found CUDA; then tracer=lab_trace; fi
if [[ $backend == gpu && $step_needs == cuda ]]; then
  bandwidth=bandwidth
  for before in "solution_$step_before" "exercise_$step_before" ""; do
    if have_target "$before"; then break; fi
  done
fi
wanted=("check_$target")
if ((races)); then wanted=(validate goals "$target"); fi
# is_built TARGET...: whether they are, without a word.
is_built() { locked cmake --build "$build_dir" --target "$@" >"$scratch/log" 2>&1; }
# build_all: builds them. `$scratch/built` says how that ended. Who waits for it must not wait for ever: on a full disk a
# file can still get another name.
echo 0 >"$scratch/success"
echo 1 >"$scratch/failure"
build_all() {
  local ended=success
  build_watched "$log" "${wanted[@]}" || ended=failure
  mv "$scratch/$ended" "$scratch/built"
}
# failed: whether it ended without success. While it goes on that is not known.
failed() { [[ -e $scratch/built && $(<"$scratch/built") != 0 ]]; }
# say_why: why it failed. It returns if the learner's program is there, and forgets those of the others that are not.
say_why() {
  local other
  if ! is_built validate goals; then
    compiler_words "$scratch/log" >&2
    die 1 "the validator does not build"
  fi
  if ! is_built "$target"; then
    mv "$scratch/log" "$log"
    doing
    why_not_built
  fi
  # A program that the CPU cannot run is no mistake.
  for other in on_cpu watched tracer bandwidth before; do
    if [[ -n ${!other} ]] && ! is_built "${!other}"; then printf -v "$other" ""; fi
  done
}
# What the CPU says of a GPU's program needs no nvcc: the check begins as soon as all but that program is there.
beside=$build_dir/content/$target.beside
if [[ -n $on_cpu && -z ${N:-} && -e $build_dir/lab/liblab.a ]]; then
  rm -f "$beside"
  in_background build_all 2> >(cat >&2) # a pipe is no terminal: nothing is drawn there
  until [[ -e $beside || -e $scratch/built ]]; do
    kill -0 "${jobs[0]}" 2>/dev/null || [[ -e $scratch/built ]] ||
      die 1 "the build was ended before it was done: check again"
    show_newest "$log"
    sleep 0.05
  done
else
  build_all
fi
if failed; then
  say_why
  mv "$scratch/success" "$scratch/built" # the learner's program is there
fi
for other in on_cpu watched; do
  [[ -x $build_dir/bin/${!other} ]] || declare "$other="
done
doing

# What the validator and the goals are both told.
bin=${build_dir#"$lab_root"/}/bin
program=$bin/$target
common=(--name "$step" --verdict "$scratch/verdict")
if [[ $which == exercise ]]; then common+=(--exercise "$source_file"); fi
if [[ -n ${TIME_LIMIT:-} ]]; then common+=(--time-limit "$TIME_LIMIT"); fi
if [[ -n $on_cpu ]]; then common+=(--on-cpu "$bin/$on_cpu"); fi
if [[ -n $watched ]]; then common+=(--watched "$bin/$watched"); fi
if [[ $backend == gpu && $step_needs == cuda ]]; then common+=(--gpu); fi
one_process="" # of a step for several GPUs that has no ranks yet
if ((step_ranks)) && ! has_ranks "$source_file"; then
  one_process="It is a program of one process so far. With lab::Ranks it becomes one of several."
elif ((step_ranks)); then
  # Once with each number of ranks; to look at every access one number will do.
  ranks=1,2,3,4
  if ((races)); then ranks=3; fi
  common+=(--ranks "${RANKS:-$ranks}")
fi

# Only for the validator. Looking at every access takes time, so it gets fewer points and sweeps.
arguments=(--source "$source_file")
# The first step has no task: there is nothing that it could be unchanged from.
if [[ $which == exercise && -n $step_before ]]; then arguments+=(--before "$(known_good)"); fi
read_look "$step_number" "$step_ranks"
at=${N:-}
if ((races)); then
  arguments+=(--iterations "$look_sweeps")
  at=${N:-$look_points}
elif [[ $backend == cpu && $step_source == *.cu ]]; then
  arguments+=(--every-order)
fi
if [[ -n $at ]]; then arguments+=(--n "$at"); fi
if [[ -n $watched ]]; then arguments+=(--look-at "${N:-$look_points}" --look-sweeps "$look_sweeps"); fi
# Ranks that wait for each other for ever are to say so before the check takes them for slow. And kernels whose loops
# never end are mostly tried here: the usual grids are small.
export LAB_EXCHANGE_SECONDS=${LAB_EXCHANGE_SECONDS:-60}
if [[ $backend == cpu && -z ${TIME_LIMIT:-} && -z ${N:-} ]]; then arguments+=(--time-limit 120); fi

# What only the goals are told. A short look measures none, nor is there one of the first step.
short=${N:+N=$N}
if ((races)); then short=RACES=1; fi
goals=()
predicted=0 # the learner did, and may now see what was measured
if [[ -n $tracer ]]; then goals+=(--tracer "$build_dir/lib/liblab_trace.so"); fi
if [[ -n $bandwidth ]]; then goals+=(--bandwidth "$bin/$bandwidth"); fi
if [[ -n $before ]]; then goals+=(--before "$bin/$before"); fi
if [[ $which == exercise ]]; then
  next="Next: run $program, compare with your predictions"
  if ((step_ranks)); then next=${next/$program/it (make run STEP=$step_number WHICH=exercise)}; fi
  # Python lays them out.
  if ! grep -q "TODO($step_number)" "$source_file" && command -v python3 >/dev/null &&
    grep -qs "^$step"$'\t' results/local/predictions.tsv; then
    predicted=1 next="Next: compare your predictions (below)"
    if grep -qsE "^$step"$'\t(done|right)\t' results/local/progress.tsv; then # and saw it then
      predicted=0 next="Next: compare your predictions with what was measured: make predict STEP=$step_number"
    fi
  elif [[ $backend == cpu && $step_needs == cuda ]]; then # where the CPU stands in, the program prints no times
    next="Next: compare your predictions with an H200's: make guide STEP=$step_number SHOW=predictions"
  fi
  # A handout has no solutions.
  if [[ -d solutions ]]; then next+=", and see how the solution does it: make diff STEP=$step_number"; fi
  goals+=(--next "$next.")
fi
goals=("$bin/goals" "${common[@]}" "${goals[@]}" --compiled "$scratch/built" --built "$scratch/judged" "$program")

# Beside the validator: the goals, up to what needs a right program; or nvcc, which may refuse what g++ takes: a function
# of the host's called from a kernel.
measured="" nvcc="" asked=""
if [[ $backend == cpu && $step_source == *.cu ]] && ((!races)); then nvcc=$(nvcc_of_build); fi
if [[ -n $on_cpu && -z $short$one_process ]]; then
  in_background "${goals[@]}" >"$scratch/goals" 2>&1
  measured=${jobs[-1]}
elif [[ -x $nvcc ]]; then
  in_background nvcc_takes "$source_file" >"$scratch/nvcc" 2>&1
  asked=${jobs[-1]}
fi
status=0
said=$("$bin/validate" "${common[@]}" "${arguments[@]}" --built "$scratch/built" "$program") || status=$?
if failed; then
  say_why
  die 1 "the build failed, and a second one did not: check again"
fi
show_warnings
if ((status == 0)) && [[ -n $asked ]]; then
  doing "asking nvcc"
  wait "$asked" || status=1
  doing
  if ((status)) && nvcc_takes "$(known_good)" >/dev/null 2>&1; then
    echo wrong >"$scratch/verdict"
    nvcc_errors "$scratch/nvcc"
    say "$step: nvcc refuses it; begin with the first error above"
    advice_on "$scratch/nvcc"
    say "  When the CPU runs the kernels, the results are right."
    exit 1
  elif ((status)); then
    said+=$'\n'"  nvcc does not work here, so it was not tried: $(head -n 1 "$scratch/nvcc")"
    status=0
  fi
fi
solution="" where=""
if [[ $which == exercise && $step_needs != cpu ]]; then solution=$(find_solution); fi
if [[ -n $solution ]] && { ((status == 1)) || [[ $said == *$'\n  diagnosis: '* ]]; }; then
  which_function
  doing
fi
say_wrapped "$said"
if ((status)); then exit "$status"; fi

# The results are right: does the program also do what the step is for?
if [[ -n $one_process ]] && ((!races)); then
  say "  $one_process"
  say "$step: right, but the step's goal is not reached"
  echo "goal missed" >"$scratch/verdict"
  exit 1
fi
if [[ -z $step_before ]]; then exit 0; fi
if [[ -n $short ]]; then
  say_wrapped "  A short look: without $short the check also measures the step's goal."
  exit 0
fi
doing "measuring the goal"
echo 0 >"$scratch/right"
mv "$scratch/right" "$scratch/judged" # whole at once: goals waits for it
if [[ -n $measured ]]; then
  wait "$measured" || status=$?
else
  "${goals[@]}" >"$scratch/goals" || status=$?
fi
said=$(<"$scratch/goals")
if ((status == 1)) && [[ -n $solution ]] && ! grep -q "TODO($step_number)" "$source_file" && [[ $where == "" ]]; then
  find_where "reaches the goal" reaches_goal
fi
doing
say_wrapped "$said"
if ((status == 0 && predicted)) && [[ -f exercises/$step/README.md ]]; then
  say ""
  read_guide compared
fi
exit "$status"
