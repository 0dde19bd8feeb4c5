# shellcheck shell=bash
# What the tests in this folder share. Source it.
#
# A test is a script that exits 0 (what it holds is so), 1 (it is not so, and what is wrong stands on
# stdout) or 77 (it cannot run here, and says why). CTest gives it, in the environment:
#   LAB_TEST_BUILD_DIR   the build folder, with bin/validate and the others in it
#   LAB_TEST_CXX         the C++ compiler of that build
#   LAB_TEST_NVCC        its nvcc; empty where it has none
#   LAB_TEST_INCLUDES    folders of headers that the steps of that build need, separated by colons

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
# shellcheck disable=SC2034  # used by the tests
build_dir=${LAB_TEST_BUILD_DIR:-}
readonly exit_skipped=77

# `make test` hands its variables down, and a git hook its own: no test may see either.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES STEP STEPS WHICH N RESULTS TIME_LIMIT
unset LAB_BUILD_DIR LAB_CMAKE_ARGS CMAKE_GENERATOR GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
# Messages of the tools in English, and file names sorted alike everywhere.
export LC_ALL=C
# Tests run side by side in one tree: no python leaves its cache in it.
export PYTHONDONTWRITEBYTECODE=1

skip() {
  printf 'skipped: %s\n' "$*"
  exit $exit_skipped
}

# need TOOL...: skips the test where one of them is missing.
need() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || skip "$tool is missing"
  done
}

# path_without_python: a PATH of all commands but Python, in a folder below $temp.
path_without_python() {
  local tool path
  mkdir "$temp/no python"
  for tool in $(compgen -c | sort -u); do
    path=$(type -P "$tool") || continue
    [[ $tool == python3* ]] || ln -sf "$path" "$temp/no python/$tool"
  done
  printf '%s\n' "$temp/no python"
}

# need_build: skips where the test was not told of a build.
need_build() {
  [[ -n $build_dir ]] || skip "no build is named: run this by ctest, or set LAB_TEST_BUILD_DIR"
}

failures=0

# fail LINE...: notes that something is wrong; the test goes on, so that one run shows all of it.
fail() {
  printf 'FAILED: %s\n' "$1"
  shift
  (($# == 0)) || printf '        %s\n' "$@"
  failures=$((failures + 1))
}

# patience SECONDS: how long to wait for what takes SECONDS at most on a machine that does nothing else.
patience() { printf '%d\n' $(($1 * ${LAB_TEST_PATIENCE:-4})); }

# finish WHAT: the end of a test.
finish() {
  if ((failures > 0)); then
    printf '%d failed\n' "$failures"
    exit 1
  fi
  printf 'all right: %s\n' "$*"
}

# make_temp: sets temp to a folder that is gone when the test is.
make_temp() {
  temp=$(mktemp -d "${TMPDIR:-/tmp}/jacobi-test-XXXXXX")
  trap 'rm -rf "$temp"' EXIT
}

# in_git: whether this tree is a git checkout (and not an unpacked archive in somebody else's, nor a
# copy with a git folder but no commit).
in_git() {
  local top
  command -v git >/dev/null && top=$(git -C "$source_dir" rev-parse --show-toplevel 2>/dev/null) &&
    [[ $(cd "$top" && pwd -P) == "$source_dir" ]] &&
    git -C "$source_dir" rev-parse --quiet --verify HEAD >/dev/null
}

# tracked_files: the lab's files relative to its root, one a line: what git tracks, or where there is no
# git all but what was built.
tracked_files() {
  if in_git; then
    git -C "$source_dir" -c core.quotePath=off ls-files | existing
  else
    find "$source_dir" \( -name .git -o -path "$source_dir/build*" -o -name __pycache__ \
      -o -path "$source_dir/results/local" \) -prune -o -type f -printf '%P\n' | sort
  fi
}

# existing: of the files named on stdin those that are there (git also lists deleted ones).
existing() {
  local file
  while IFS= read -r file; do
    if [[ -f $source_dir/$file ]]; then printf '%s\n' "$file"; fi
  done
}

# edited_exercises: the exercises that differ from the last commit. They are a learner's work.
edited_exercises() {
  if in_git; then git -C "$source_dir" diff --name-only HEAD -- exercises 2>/dev/null || true; fi
}

# one_line CODE REGEX WHAT: the last command ended with CODE, printed nothing, and said one line on stderr, which matches.
one_line() {
  expect_status "$1" "$3"
  [[ -z $out && $(grep -c '' <<<"$err") == 1 ]] || show "$3: there should be one line, on stderr"
  expect "$2" "$3"
}

# narrow WHAT: it had no line of more than 80 characters, but for those with a path of the test's own folder, or make's.
narrow() {
  local wide
  wide=$(LC_ALL=C.UTF-8 awk -v temp="$temp" -v build="${build_dir#"$source_dir"/}" \
    'length > 80 && !/^make/ && !index($0, temp) && !(build != "" && index($0, build))' <<<"$said")
  [[ -z $wide ]] || fail "$1: lines of more than 80 characters:" "$wide"
}

# copy_tree DIR: a copy of the lab in DIR, without what was built and without git's own folder. Files
# that are new and not yet known to git are part of it.
copy_tree() {
  mkdir -p "$1"
  if in_git; then
    {
      tracked_files
      git -C "$source_dir" -c core.quotePath=off ls-files --others --exclude-standard | existing
    } | sort -u
  else
    tracked_files
  fi | tar -C "$source_dir" -cf - -T - | tar -C "$1" -xf -
}

# use_built: in copies of the lab the verbs build steps and nothing else: the library and the validator are those of the
# build under test. After make_temp.
use_built() {
  need_build
  ln -s "$build_dir" "$temp/built" # LAB_CMAKE_ARGS holds no blanks
  export CXX=${LAB_TEST_CXX:-c++} CXXFLAGS="-O1 ${LAB_TEST_CXX_FLAGS:-}"
  export LAB_CMAKE_ARGS="-DLAB_CUDA=OFF -DLAB_PREBUILT=$temp/built -DCMAKE_BUILD_TYPE=None"
}

# run COMMAND...: runs it and sets status, out, err (what it printed) and said (both, one after the
# other).
run() {
  status=0
  "$@" </dev/null >"$temp/out" 2>"$temp/err" || status=$?
  out=$(<"$temp/out")
  err=$(<"$temp/err")
  said=$out$'\n'$err
}

# labtool NAME ARGUMENT...: runs a program of scripts/labtools.
labtool() { PYTHONPATH=$source_dir/scripts run python3 -m "labtools.$1" "${@:2}"; }

# show WHAT: fails with WHAT and all that the last command said.
show() {
  fail "$1" "exit code $status" "${said//$'\n'/$'\n'        }"
}

# expect_status CODE WHAT
expect_status() {
  ((status == $1)) || show "$2: the exit code should be $1"
}

# expect REGEX WHAT: the last command printed a line that the extended regular expression matches.
expect() {
  grep -qE -- "$1" <<<"$said" || show "$2: nothing that matches '$1'"
}

# expect_no REGEX WHAT
expect_no() {
  if grep -qE -- "$1" <<<"$said"; then show "$2: something matches '$1'"; fi
}

# make_clone DIR: the lab as a learner clones it: copy_tree, with every exercise as it is handed out, in one
# commit.
make_clone() {
  local step source
  need git
  copy_tree "$1"
  while IFS=$'\t' read -r step source _; do
    # Whoever works on an exercise in this tree has it handed out anew there.
    if ! "$1/scripts/lib/start.sh" "$step" >/dev/null 2>&1; then
      "$source_dir/scripts/lib/start.sh" "$step" >"$1/exercises/$step/$source" 2>/dev/null || true
      if ! "$1/scripts/lib/start.sh" "$step" >/dev/null 2>&1; then
        if ! in_git || grep -qxF "exercises/$step/$source" < <(edited_exercises); then
          skip "$step: neither the exercise nor git has it as it is handed out"
        fi
        fail "$step: nobody has edited the exercise, and it is not as it is handed out"
        finish "the clone"
      fi
    fi
  done < <(grep '^[0-9]' "$1/lab/steps.tsv")
  git -C "$1" init -q
  commit_all "$1" start
}

# commit_all DIR MESSAGE: all that is there, and nothing of who runs the test.
commit_all() {
  git -C "$1" add -A
  GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' git -C "$1" -c user.name=test \
    -c user.email=test@example.org -c commit.gpgSign=false -c core.hooksPath=/dev/null commit -q -m "$2"
}

# make_in DIR ARGUMENT...: make, from a folder that has nothing to do with the lab.
make_in() { (cd / && make --no-print-directory -C "$@"); }

# said_one_line REGEX WHAT: exit code 2 of the script, so Error 2 of make's, one line on stderr that matches, and
# nothing on stdout.
said_one_line() {
  local lines
  lines=$(grep -vE '^make(\[[0-9]+\])?: \*\*\* ' <<<"$err" || true)
  expect_status 2 "$2"
  expect '^make: \*\*\* .*\] Error 2$' "$2"
  [[ -z $out && $(grep -c '' <<<"$lines") == 1 ]] || show "$2: there should be one line, on stderr"
  grep -qE -- "$1" <<<"$lines" || show "$2: its line should match '$1'"
}

# refuses REGEX COMMAND...: this command, which calls `run` with make, does so.
refuses() {
  "${@:2}"
  said_one_line "$1" "${*:2}"
}
