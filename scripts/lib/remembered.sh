# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # its variables are those of lib.sh and of the scripts
# What is remembered of the learner's work, in results/local, which git ignores. lib.sh brings it.

# remember FILE STEP FIELD...: the line of STEP in results/local/FILE, which git ignores, is now these fields.
remember() {
  local file=$lab_root/results/local/$1 line rest=""
  shift
  line=$(printf '%s\t' "$@")
  {
    mkdir -p "${file%/*}" && (
      # Two checks may end at the same time; a reader must not see half of it.
      exec 9<"${file%/*}"
      flock 9 || true
      if [[ -f $file ]]; then rest=$(awk -F '\t' -v step="$1" '$1 != step' "$file"); fi
      { printf '%s\n' ${rest:+"$rest"} "${line%$'\t'}" >"$file.$BASHPID" && mv -f "$file.$BASHPID" "$file"; } || {
        rm -f "$file.$BASHPID"
        false
      }
    )
  } 2>/dev/null ||
    printf '%s\n' "${0##*/}: ${file#"$lab_root"/}: cannot be written, so this is not remembered" >&2
}

# recall FILE STEP: the fields after STEP that were remembered last; nothing if there are none.
recall() {
  if [[ -f $lab_root/results/local/$1 ]]; then
    awk -F '\t' -v OFS='\t' -v step="$2" \
      '$1 == step { sub(/^[^\t]*\t/, ""); line = $0 } END { if (line != "") print line }' "$lab_root/results/local/$1"
  fi
}
