# shellcheck shell=bash
# shellcheck disable=SC2154  # its variables are those of lib.sh and of the scripts
# For the verbs that print a guide. Source it after lib.sh.

# read_guide VERB: what labtools/reading.py prints of the guide of the step that read_step read.
read_guide() {
  local guide=exercises/$step/README.md
  [[ -f $lab_root/$guide ]] ||
    die "$exit_bad_usage" "$guide is not there (git checkout ${guide%/*} brings it back)"
  command -v python3 >/dev/null || die "$exit_no_gpu" "python3 is missing (package python3); the guide is $guide"
  PYTHONUTF8=1 labtool reading "$1" "$step" "$step_words"
}
