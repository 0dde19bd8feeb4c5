# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # its variables are those of lib.sh and of the scripts
# The list of steps, and the variables of make that name one: STEP, STEPS, WHICH, RANKS. lib.sh brings it.

# step_line STEP [VARIABLE]: the line of lab/steps.tsv that STEP (04, 4, 04_jacobi_kernel or the beginning of that)
# names. VARIABLE is what the user gave it in, if that is not STEP.
step_line() {
  local wanted=$1 variable=${2:-STEP} line
  local -a lines
  mapfile -t lines < <(grep '^[0-9]' "$steps_file")
  local first=${lines[0]:0:2} last=${lines[-1]:0:2}
  [[ $wanted =~ ^[0-9]$ ]] && wanted=0$wanted
  if [[ -z $wanted ]]; then
    die "$exit_bad_usage" "which step? Say $variable=NN, from $first to $last"
  fi
  for line in "${lines[@]}"; do
    if [[ ${line%%$'\t'*} == "$wanted"* && ${#wanted} -gt 1 ]]; then
      printf '%s\n' "$line"
      return
    fi
  done
  die "$exit_bad_usage" "$variable=$1: there is no such step; they go from $first to $last"
}

# read_step_list: sets step_list to the steps that $STEPS names (04,05_copy_kernel,...), as numbers of two digits.
read_step_list() {
  local wanted line
  local -a names
  step_list=()
  IFS=', ' read -r -a names <<<"${STEPS:-}"
  for wanted in "${names[@]}"; do
    if [[ -z $wanted ]]; then continue; fi
    line=$(step_line "$wanted" STEPS) || exit $?
    step_list+=("${line:0:2}")
  done
  if [[ -n ${STEPS:-} ]] && ((${#step_list[@]} == 0)); then die "$exit_bad_usage" "STEPS=$STEPS: names no step"; fi
}

# no_file: for verbs that take a step. With $FILE, which they would not read, they would speak of another program.
no_file() {
  [[ -z ${FILE:-}${FILES:-} ]] || die "$exit_bad_usage" "FILE=${FILE:-$FILES}: this verb takes the file of a step or of a kernel of the clinic: copy yours there"
}

# read_step STEP: sets step, step_number, step_source, step_needs, step_ranks (1: a job of several ranks, which
# need CUDA each), step_n, step_iterations and step_title as they stand in lab/steps.tsv, and step_before, the step that
# it begins with, with step_before_source (empty for the first step).
# step_words is how a user names it: "STEP=04".
read_step() {
  local line
  no_file
  [[ -z ${CLINIC:-} ]] || die "$exit_bad_usage" "CLINIC=$CLINIC: this verb takes a step, STEP=NN"
  line=$(step_line "${1-}") || exit $?
  IFS=$'\t' read -r step step_source step_needs step_n step_iterations step_title step_before <<<"$line"
  step_number=${step%%_*} step_ranks=0 step_words=STEP=${step%%_*} step_target=$step
  if [[ $step_needs == ranks ]]; then step_needs=cuda step_ranks=1; fi
  step_before=${step_before#-}
  step_before_source=$(awk -F '\t' -v step="$step_before" '$1 == step { print $2 }' "$steps_file")
}

# read_step_or_kernel: the same for verbs that also take a kernel of the clinic: CLINIC=transpose. Then step is
# "clinic/transpose", step_target is what its programs are called after exercise_ or solution_, and kernel_sum is the
# beginning of the checksum of the exercise as it is handed out.
read_step_or_kernel() {
  if [[ -z ${CLINIC:-} ]]; then
    read_step "${STEP-}"
    return
  fi
  no_file
  [[ -z ${STEP:-} ]] || die "$exit_bad_usage" "STEP=$STEP CLINIC=$CLINIC: one of the two"
  local names
  names=$(awk -F '\t' '/^[a-z]/ { print $1 }' "$clinic_file" | tr '\n' ' ')
  [[ " $names" == *" $CLINIC "* ]] || die "$exit_bad_usage" "CLINIC=$CLINIC: there is no such kernel; they are: ${names% }"
  step=clinic/$CLINIC step_target=clinic_$CLINIC step_words=CLINIC=$CLINIC step_number=""
  step_source=kernel.cu step_needs=cuda step_ranks=0 step_before="" step_before_source=""
  step_iterations=20
  IFS=$'\t' read -r step_n kernel_sum < <(awk -F '\t' -v name="$CLINIC" '$1 == name { print $2 "\t" $6 }' "$clinic_file")
}

# read_ranks: checks $RANKS, which is for steps that are jobs of several ranks.
read_ranks() {
  if [[ -z ${RANKS:-} ]]; then return; fi
  ((step_ranks)) || die "$exit_bad_usage" "RANKS=$RANKS: $step is a program of one process"
  [[ $RANKS =~ ^[1-9][0-9]{0,4}(,[1-9][0-9]{0,4})*$ ]] ||
    die "$exit_bad_usage" "RANKS=$RANKS: must be a number of ranks, such as 4 (for a check, also 1,2,4)"
  local one
  # All of them start on this machine, each with threads of its own.
  for one in ${RANKS//,/ }; do
    ((one <= 64)) || [[ -n ${LAB_MPIRUN:-} ]] ||
      die "$exit_bad_usage" "RANKS=$RANKS: at most 64 on one machine; LAB_MPIRUN says what starts a job of several nodes"
  done
}

# has_ranks FILE...: whether one of the files makes a lab::Ranks; its name in a comment (a TODO) is none.
has_ranks() { grep -qs '^[^/]*lab::Ranks ' "$@"; }

# ranks_of_run: sets ranks to how many ranks a run of source_file has: $RANKS, or one for each GPU, or with the CPU in
# their place two. Empty where the program is of one process.
ranks_of_run() {
  ranks=""
  if ! ((step_ranks)); then return; fi
  [[ ${RANKS:-} != *,* ]] || die "$exit_bad_usage" "RANKS=$RANKS: one number of ranks"
  if ! has_ranks "$lab_root/$source_file"; then
    [[ ${RANKS:-1} == 1 ]] ||
      die "$exit_bad_usage" "RANKS=$RANKS: $source_file is a program of one process so far (it has no lab::Ranks)"
    return
  fi
  ranks=${RANKS:-}
  if [[ -z $ranks ]]; then
    ranks=2
    if [[ $backend == gpu ]]; then ranks=$(timeout 30 nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU ' || true); fi
    if ((ranks < 1)); then ranks=1; fi
  fi
}

# read_which: sets which to "exercise" or "solution", from $WHICH, and source_file to the step's file of these.
read_which() {
  which=${WHICH:-exercise}
  [[ $which =~ ^(exercise|solution)$ ]] || die "$exit_bad_usage" "WHICH=$which: must be exercise or solution"
  source_file=${which}s/$step/$step_source
}

# check_switches NAME...: each of these variables is 1 or 0, if it is set.
check_switches() {
  local name
  for name in "$@"; do
    [[ ${!name:-0} =~ ^[01]$ ]] || die "$exit_bad_usage" "$name=${!name}: must be 1 or 0"
  done
}

# need_source: source_file is a text, and no compiler is asked what else it may be. (A handout has no solutions.)
need_source() {
  local file=$lab_root/$source_file is="" way_back=""
  if [[ $which == exercise ]]; then way_back=" (make reset $step_words puts it back)"; fi
  if [[ ! -f $file ]]; then
    is="is not there$way_back"
  elif [[ ! -s $file ]]; then
    is="is empty$way_back"
  elif ! grep -qI '' "$file"; then
    is="is not a text$way_back"
  fi
  [[ -z $is ]] || die "$exit_bad_usage" "$source_file $is"
}

# check_n N [WORDS]: N or a part of it is a number of points per side; WORDS say what else $N may be.
check_n() {
  if ! [[ $1 =~ ^[0-9]{1,7}$ ]] || ((10#$1 < 3 || 10#$1 > 1048576)); then
    die "$exit_bad_usage" "N=${N:-$1}: must be a whole number from 3 to 1048576${2:+, $2}"
  fi
}

# check_iterations ITERATIONS
check_iterations() {
  [[ $1 =~ ^[1-9][0-9]{0,8}$ ]] || die "$exit_bad_usage" "ITERATIONS=$1: must be a whole number, from 1 up"
}
