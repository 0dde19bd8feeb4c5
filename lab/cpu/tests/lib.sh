# shellcheck shell=bash
# What run_tests.sh says and expects with. Source it.

# shellcheck disable=SC2034  # run_tests.sh uses it
tests_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
export LC_ALL=C
failures=0
temp=$(mktemp -d "${TMPDIR:-/tmp}/cuda-on-cpu-test-XXXXXX")
trap 'rm -rf "$temp"' EXIT

# need TOOL...: skips the test if one of them is missing.
need() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || {
      printf 'skipped: %s is missing\n' "$tool"
      exit 77
    }
  done
}

# fail LINE...: notes that something is wrong; the test goes on, so that one run shows all of it.
fail() {
  printf 'FAILED: %s\n' "$1"
  shift
  (($# == 0)) || printf '        %s\n' "$@"
  failures=$((failures + 1))
}

# finish WHAT: the end of the test.
finish() {
  if ((failures > 0)); then
    printf '%d failed\n' "$failures"
    exit 1
  fi
  printf 'all right: %s\n' "$*"
}

# run COMMAND...: runs it and sets status, out, err (what it printed) and said (both).
run() {
  status=0
  "$@" </dev/null >"$temp/out" 2>"$temp/err" || status=$?
  out=$(<"$temp/out")
  err=$(<"$temp/err")
  said=$out$'\n'$err
}

# show WHAT: fails with WHAT and all that the last command said.
show() { fail "$1" "exit code $status" "${said//$'\n'/$'\n'        }"; }

# expect_status CODE WHAT
expect_status() { ((status == $1)) || show "$2: the exit code should be $1"; }

# expect REGEX WHAT: the last command printed a line that the extended regular expression matches.
expect() { grep -qE -- "$1" <<<"$said" || show "$2: nothing that matches '$1'"; }

# patience SECONDS: how long to wait for what takes SECONDS at most on a machine that does nothing else.
patience() { printf '%d\n' $(($1 * ${LAB_TEST_PATIENCE:-4})); }
