# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # its variables are those of lib.sh and of the scripts
# How far the learner is, for progress.sh and watch.sh. Source it after lib.sh.

# read_rows FILE ARRAY: for each step, the fields that results/local/FILE has of it; the last line counts.
read_rows() {
  local -n rows=$2
  local name fields
  rows=()
  if [[ ! -f $lab_root/results/local/$1 ]]; then return; fi
  while IFS=$'\t' read -r name fields; do
    # shellcheck disable=SC2004  # its index is a word
    if [[ -n $name ]]; then rows[$name]=$fields; fi
  done <"$lab_root/results/local/$1"
}

# mpi_here: whether this machine can build a job of several ranks: what CMake found, or before that a compiler.
mpi_here() {
  if [[ -f $build_dir/configure.log ]]; then
    grep -qE '^-- MPI [0-9]' "$build_dir/configure.log"
  else
    command -v mpicxx >/dev/null || command -v mpic++ >/dev/null
  fi
}

# short_date YYYY-MM-DD HH:MM: without the year, as people say it.
short_date() {
  LC_TIME=C date --date="${1:-none}" '+%d %b %H:%M' 2>/dev/null || say "$1"
}

# todos_left STEP FILE: the TODO comments of the step in its file.
todos_left() { { grep -o "TODO(${1%%_*})" "$2" || true; } | wc -l; }

# judged STEP FILE VERDICT: the state of an exercise that was checked as it is now.
judged() {
  local todos
  case $3 in
    "goal missed") say "right, goal not reached" ;;
    right | "done")
      todos=$(todos_left "$1" "$2")
      case $todos in
        0) say "$3" ;;
        1) say "right so far, 1 TODO left" ;;
        *) say "right so far, $todos TODOs left" ;;
      esac
      ;;
    *) say "$3" ;;
  esac
}

# read_states: sets `steps` to the names of all steps, and for each of them sums (SHA-256 of the exercise), states, and
# checked (when and where; - if it was edited since) and details (date, where, mistake, with tabs between them). The
# states "done", "right" and "no task" leave nothing to do;
# "skipped: no MPI" is no task of this machine.
read_states() {
  local name source needs sum verdict checked_sum date where mistake
  declare -gA states=() sums=() checked=() details=()
  local -A latest=() when_right=() sources=() all_needs=()
  local -a unknown=()
  steps=()
  read_rows progress.tsv latest
  read_rows progress_right.tsv when_right
  while IFS=$'\t' read -r name source needs _; do
    steps+=("$name")
    sources[$name]=exercises/$name/$source all_needs[$name]=$needs
    states[$name]=missing sums[$name]=- checked[$name]=- details[$name]=$'-\t-\t-'
  done < <(grep '^[0-9]' "$steps_file")
  while read -r sum source; do
    name=${source#exercises/}
    sums[${name%%/*}]=$sum
  done < <(cd "$lab_root" && sha256sum -- "${sources[@]}" 2>/dev/null; true)
  for name in "${steps[@]}"; do
    if [[ ${sums[$name]} == - ]]; then continue; fi
    IFS=$'\t' read -r verdict checked_sum date where mistake <<<"${latest[$name]-}"
    if [[ $checked_sum != "${sums[$name]}" ]]; then
      IFS=$'\t' read -r verdict checked_sum date where mistake <<<"${when_right[$name]-}"
    fi
    if [[ $checked_sum == "${sums[$name]}" ]]; then
      checked[$name]="$(short_date "$date") ${where^^}"
      details[$name]=${date:--}$'\t'${where:--}$'\t'${mistake:--}
      states[$name]=$(judged "$name" "$lab_root/${sources[$name]}" "$verdict")
    else
      states[$name]="edited, not checked since"
      unknown+=("$name")
    fi
  done
  while read -r name; do
    states[$name]=unchanged
  done < <("$lab_root/scripts/lib/start.sh" --unchanged ${unknown[@]+"${unknown[@]}"} "${steps[0]}")
  # The first step has no task.
  if [[ ${states[${steps[0]}]} == unchanged ]]; then states[${steps[0]}]="no task"; fi
  for name in ${unknown[@]+"${unknown[@]}"}; do
    if [[ ${all_needs[$name]} == ranks ]] && ! mpi_here; then states[$name]="skipped: no MPI"; fi
  done
}
