# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # its variables are those of the scripts
# What the scripts share. Source it; it sets lab_root and defines the functions below.

lab_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
steps_file=$lab_root/lab/steps.tsv
clinic_file=$lab_root/lab/clinic.tsv
build_dir=${LAB_BUILD_DIR:-$lab_root/build}
[[ $build_dir == /* ]] || build_dir=$PWD/$build_dir
readonly exit_bad_usage=2 exit_cannot_write=4 exit_no_gpu=77

source "$lab_root/scripts/lib/words.sh"
source "$lab_root/scripts/lib/steps.sh"
source "$lab_root/scripts/lib/build.sh"

# A point in numbers, and messages in English, whatever the locale: awk and bash read and write 1,5 in some. What
# stands in LC_ALL stays for the characters.
if [[ -n ${LC_ALL:-} ]]; then
  { export LC_CTYPE=$LC_ALL; } 2>/dev/null
  unset LC_ALL
fi
export LC_NUMERIC=C LC_MESSAGES=C LC_COLLATE=C

# Ctrl-C also ends a script if the program that runs at that moment handles it itself.
trap 'exit 130' INT

# need_commands COMMAND...: ends the script if one of them is not installed.
need_commands() {
  local command
  local -a missing=()
  for command in "$@"; do command -v "$command" >/dev/null || missing+=("$command"); done
  ((${#missing[@]} == 0)) ||
    die 1 "missing: ${missing[*]} (on Debian and Ubuntu in the packages coreutils, diffutils, findutils, gawk, grep, gzip, sed, tar)"
}
need_commands awk cmp cut date df diff find grep head mktemp nproc sed sha256sum sort tail timeout tr wc

# A variable on make's command line that no verb knows is a slip of the pen.
refuse_unknown_variables() {
  local flags=${MAKEFLAGS:-} word name
  local -a words
  if [[ $flags != *"-- "* ]]; then return; fi
  flags=${flags#*-- }
  # A blank within a value has a backslash before it.
  read -r -d '' -a words <<<"${flags//\\?/_}" || true
  for word in "${words[@]}"; do
    name=${word%%=*}
    # Those of the tools are CXX and the like, or have a _ in their names.
    [[ $word == *=* && $name =~ ^[A-Z]+$ && ! $name =~ ^(C|CC|CXX|CUDA|LD)(FLAGS|CXX|ARCHS)?$ ]] || continue
    grep -rqsE "\\b$name=|\\$\{?$name\\b|environ.*\"$name\"" \
      "$lab_root"/{Makefile,scripts/{verbs,lib,labtools,teach,publish}} ||
      die $exit_bad_usage "$name: there is no such variable (make help)"
  done
}
refuse_unknown_variables

# labtool NAME ARGUMENT...: a program of scripts/labtools.
labtool() { PYTHONPATH=$lab_root/scripts PYTHONDONTWRITEBYTECODE=1 python3 -m "labtools.$1" "${@:2}"; }

need_python() { command -v python3 >/dev/null || die $exit_no_gpu "python3 is missing: package python3"; }

# has_space FOLDER: whether a file of 64 KiB, which is more than any of the texts here, can be written in it.
has_space() {
  local status=0 file=$1/.space-$BASHPID # in a command's redirection BASHPID is that of the command
  head -c 65536 /dev/zero 2>/dev/null >"$file" || status=$?
  rm -f "$file"
  return "$status"
} 2>/dev/null

# read_results: sets results to the folder that $RESULTS names, and makes it; or to results/local.
read_results() {
  results=${RESULTS:-$lab_root/results/local}
  { mkdir -p "$results" && [[ -w $results ]] && has_space "$results"; } 2>/dev/null ||
    die $exit_cannot_write "RESULTS=$results: cannot be written; RESULTS names another folder for what is measured"
}

# make_scratch: sets temp to a folder that is gone when the script is.
make_scratch() {
  temp=$(mktemp -d "${TMPDIR:-/tmp}/jacobi-XXXXXX" 2>/dev/null) ||
    die $exit_cannot_write "${TMPDIR:-/tmp}: cannot be written; TMPDIR names a folder for what is temporary"
  trap 'rm -rf "$temp"' EXIT
  has_space "$temp" ||
    die $exit_cannot_write "${TMPDIR:-/tmp}: no space left there; TMPDIR names another folder for what is temporary"
}

# remember FILE FIELD...: these fields are a line more of results/local/FILE, which git ignores.
remember() {
  local file=$lab_root/results/local/$1 line
  line=$(printf '%s\t' "${@:2}")
  # In one write: two checks may end at the same time.
  { mkdir -p "${file%/*}" && printf '%s\n' "${line%$'\t'}" >>"$file"; } 2>/dev/null ||
    printf '%s\n' "${0##*/}: ${file#"$lab_root"/}: cannot be written, so this is not remembered" >&2
}

# read_guide VERB: what labtools/reading.py prints of the guide of the step that read_step read.
read_guide() {
  local guide=exercises/$step/README.md
  [[ -f $lab_root/$guide ]] ||
    die "$exit_bad_usage" "$guide is not there (git checkout ${guide%/*} brings it back)"
  command -v python3 >/dev/null || die "$exit_no_gpu" "python3 is missing (package python3); the guide is $guide"
  labtool reading "$1" "$step" "$step_words"
}
