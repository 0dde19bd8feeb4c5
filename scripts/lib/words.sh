# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # its variables are those of lib.sh and of the scripts
# Words for people. lib.sh brings it.

# doing WHAT: on a terminal a line that says what goes on, until the next one; without WHAT it is gone.
# shellcheck disable=SC2120  # with words it is called from elsewhere
doing() { if [[ -t 2 ]]; then printf '\r\033[K%s' "${1:+  $1 ...}" >&2; fi; }

say() { printf '%s\n' "$*"; }

# die CODE MESSAGE: one clear line, and out.
die() {
  doing ""
  printf '%s\n' "${0##*/}: $2" >&2
  exit "$1"
}

# say_wrapped LINES: the same, with lines of more than 80 characters broken at blanks. Nothing, if there are none.
say_wrapped() { if [[ -n $* ]]; then printf '%s\n' "$*" | wrapped; fi; }

# wrapped [INDENT]: the lines on stdin, those of more than 80 characters broken at blanks. What follows in such a line's
# place is indented by that many blanks, or else by two more than the line. A command of make stays whole, to be copied.
wrapped() {
  awk -v blanks="${1:-}" '
    function out(line) { gsub(/\001/, " ", line); print line }
    {
      while (match($0, /make [a-z]| [A-Z]+=/)) {
        at = RSTART + (substr($0, RSTART, 1) == " " ? 0 : 4)
        $0 = substr($0, 1, at - 1) "\001" substr($0, at + 1)
      }
      match($0, /^ */)
      indent = sprintf("%" (blanks == "" ? RLENGTH + 2 : blanks) "s", "")
      while (length($0) > 80) {
        at = 81
        while (at > length(indent) && substr($0, at, 1) != " ") --at
        if (at <= length(indent)) { # one long word
          at = length(indent) + 1
          while (at <= length($0) && substr($0, at, 1) != " ") ++at
          if (at > length($0)) break
        }
        out(substr($0, 1, at - 1))
        $0 = indent substr($0, at + 1)
      }
      out($0)
    }'
}

# version_at_least HAVE WANTED
version_at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

# many COUNT WHAT: "1 rank", "2 ranks".
many() { printf '%s\n' "$1 $2$( (($1 == 1)) || printf s)"; }
