# shellcheck shell=bash
# shellcheck disable=SC2154  # its variables are those of lib.sh and of the scripts
# What the verbs that print a guide share. Source it after lib.sh.

# find_guide: sets guide to the guide of the step that read_step read.
find_guide() {
  guide=exercises/$step/README.md
  [[ -f $lab_root/$guide ]] ||
    die "$exit_bad_usage" "$guide is not there (git checkout ${guide%/*} brings it back)"
  command -v python3 >/dev/null || die "$exit_no_gpu" "python3 is missing (package python3); the guide is $guide"
}

# guide_tool WORD OPTION...: what labtools/guide.py says of the guide.
guide_tool() {
  local answers
  answers=$(recall predictions.tsv "$step")
  (cd "$lab_root" && PYTHONUTF8=1 labtool guide "$1" "$guide" --step "$step_words" --answers="$answers" "${@:2}") ||
    die 1 "$guide: a fold or a code block in it has no end"
}

# read_terminal: sets text_columns (at most 80) and text_styled to what stdout can show.
read_terminal() {
  local here=${COLUMNS:-}
  text_columns=80 text_styled=0
  if [[ -t 1 ]]; then
    if [[ -z $here ]]; then
      { here=$(stty size <&3 2>/dev/null) && here=${here#* }; } 3>&1
    fi
    if [[ -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then text_styled=1; fi
  fi
  if [[ $here =~ ^[1-9][0-9]{0,3}$ ]] && ((here < text_columns)); then text_columns=$((here < 30 ? 30 : here)); fi
}

# in_terminal WORD OPTION...: the same, fitted into the terminal. After find_guide and read_terminal.
in_terminal() {
  local -a styled=()
  if ((text_styled)); then styled=(--styled); fi
  guide_tool "$@" --width "$text_columns" "${styled[@]}"
}

# comparison: the section "Your predictions" of the guide, with the learner's own beside the measured ones.
comparison() { in_terminal compared; }
