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

# guide_text VARIABLE=VALUE...: the same as guide_folds, with the learner's predictions, fitted into the terminal.
guide_text() { guide_folds "$@" | with_predictions | layout; }

# questions: the numbered questions of the guide's section "Predict", one a line. After find_guide.
questions() {
  guide_folds show=predictions | awk '
    /^## / { inside = /^## Predict/; next }
    !inside { next }
    match($0, /^[0-9]+\. +/) { if (text != "") print text; text = substr($0, RLENGTH + 1); next }
    /^ *$/ && text != "" { print text; text = "" }
    text != "" { sub(/^ */, ""); text = text " " $0 }
    END { if (text != "") print text }'
}

# with_predictions: the guide's Markdown on stdin; the table of "Your predictions" has a column more, with the answers
# that `make predict` keeps.
with_predictions() {
  local answers
  answers=$(recall predictions.tsv "$step")
  if [[ -z $answers ]]; then
    cat
    return
  fi
  # In the environment: awk reads a backslash in a variable as more than that.
  LAB_ANSWERS=$answers awk '
    BEGIN { split(ENVIRON["LAB_ANSWERS"], answer, "\t") }
    /^## / { inside = /^## Your predictions/ }
    lines && !/^\|/ { inside = 0 } # only its first table
    !inside || !/^\| *[^ |]/ { print; next }
    {
      ++lines
      at = index(substr($0, 2), "|") + 1
      own = lines == 1 ? "yours" : lines == 2 ? "---" : ""
      if (lines > 2 && match($0, /^\| *[0-9]+/)) {
        number = substr($0, 2, RLENGTH - 1) + 0
        own = answer[number]
        gsub(/[\\`*\[!&<|]/, "\\\\&", own)
        answer[number] = ""
      }
      print substr($0, 1, at) " " own " " substr($0, at)
    }'
}

# compared: the section "Your predictions" of the guide, with the learner's own beside the measured ones, in Markdown.
compared() {
  guide_folds show=predictions | awk '/^## / { inside = /^## Your predictions/ } inside' | with_predictions
}

# comparison: the same, fitted into the terminal.
comparison() { compared | layout; }
