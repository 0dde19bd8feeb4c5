# shellcheck shell=bash
# shellcheck disable=SC2154  # its variables are those of lib.sh and of the scripts
# What the verbs that print a guide share. Source it after lib.sh.

# find_guide: sets guide to the guide of the step that read_step read.
find_guide() {
  guide=exercises/$step/README.md
  [[ -f $lab_root/$guide ]] ||
    die "$exit_bad_usage" "$guide is not there (git checkout ${guide%/*} brings it back)"
}

# guide_folds VARIABLE=VALUE...: what folds.awk, with these variables, prints of the guide.
guide_folds() {
  LC_ALL=C awk -v step="$step_words" "${@/#/-v}" -f "$lab_root/scripts/lib/folds.awk" "$lab_root/$guide" ||
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

# layout: the text on stdin, fitted into the terminal. After find_guide and read_terminal.
layout() {
  LC_ALL=C awk -v width="$text_columns" -v styled="$text_styled" -v folder="${guide%/*}" \
    -f "$lab_root/scripts/lib/layout.awk"
}

# guide_text VARIABLE=VALUE...: the same as guide_folds, fitted into the terminal.
guide_text() { guide_folds "$@" | layout; }
