#!/usr/bin/env bash
# `make check` leaves its verdict, and `make progress` shows what is so: by what was checked, not by what was
# edited since; with times where some were taken.
#
#   verbs_progress.sh         the states
#   verbs_progress.sh times   TIME=1
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make cmake git python3
[[ -d $source_dir/solutions ]] || skip "there are no solutions here"
make_temp
unset TIME BACKEND RACES YES NO_COLOR
mkdir "$temp/tmp" "$temp/bin"
use_built
export TMPDIR=$temp/tmp LAB_BUILD_DIR="$temp/the build"
lab="$temp/the lab"
make_clone "$lab"
# Of fewer steps, for make progress looks at each.
sed -i '/^0[5-9]_/d; /^[1-9]/d' "$lab/lab/steps.tsv"
commit_all "$lab" "fewer steps"
exercise=exercises/01_nvtx/jacobi.cpp
solution=solutions/01_nvtx/jacobi.cpp
cp "$lab/$exercise" "$temp/handed_out"
verdicts=$lab/results/local/progress.tsv
times=$lab/results/local/progress_times.tsv
tasks=$(($(grep -c '^[0-9]' "$lab/lab/steps.tsv") - 1))

progress() { run make_in "$lab" progress "$@"; }
check() { run make_in "$lab" check "$@"; }
row='[0-3][0-9] (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-2][0-9]:[0-5][0-9] CPU'

# shown STATE WHEN WHAT: the row of step 01, and nothing wrong with the table.
shown() {
  progress
  expect_status 0 "$3"
  expect "^01_nvtx  +$1  +$2\$" "$3"
  expect_no $'\033|\t' "$3"
  narrow "$3"
  [[ -z $err ]] || show "$3: it should say nothing on stderr"
}

test_states() {
  shown unchanged - "as handed out"
  expect '^00_serial  +no task  +-$' "as handed out"
  expect "^0 of $tasks done\. Next: exercises/00_serial/README\.md\$" "as handed out"
  [[ $(grep -c '^[0-9][0-9]_' <<<"$out") == $((tasks + 1)) ]] || show "as handed out: a row for each step"
  [[ ! -e $lab/results/local ]] || fail "make progress wrote something:" "$(ls -A "$lab/results/local")"

  sed -i 's/0\.25f/0.24f/' "$lab/$exercise"
  shown "edited, not checked since" - edited
  check STEP=01
  expect '^01_nvtx: wrong: ' "make check"
  shown wrong "$row" wrong
  [[ $(cut -f 1,2,5,6 "$verdicts") == 01_nvtx$'\t'wrong$'\t'cpu$'\t'wrong_update ]] || fail "another verdict was left:" "$(<"$verdicts")"
  echo '// think' >>"$lab/$exercise"
  shown "edited, not checked since" - "edited after a check"

  sed -i 's/double sum = 0\.0;/double sum = 0.0/' "$lab/$exercise"
  check STEP=01
  shown "does not compile" "$row" "a syntax error"

  # Comments alone: make check calls that unchanged.
  sed 's/double sum = 0\.0;/& \/\/ begin with nothing/' "$temp/handed_out" >"$lab/$exercise"
  check STEP=01
  shown unchanged "$row" "another comment"

  # Right, with TODO comments left, and without.
  { cat "$lab/$solution"; echo '// TODO(01): one'; } >"$lab/$exercise"
  check STEP=01
  shown "right so far, 1 TODO left" "$row" "a TODO comment left"
  expect "^0 of $tasks done\. Next: exercises/01_nvtx/" "a TODO comment left"
  { cat "$lab/$solution"; echo '// TODO(01): one'; echo '// TODO(01): two'; echo '// TODO(02)'; } >"$lab/$exercise"
  check STEP=01
  shown "right so far, 2 TODOs left" "$row" "two TODO comments left"
  cp "$lab/$solution" "$lab/$exercise"
  shown "edited, not checked since" - "not checked yet"

  # What is no verdict on the exercise leaves none.
  cp "$verdicts" "$temp/verdicts"
  no_verdict() { cmp -s "$temp/verdicts" "$verdicts" || fail "$1: a verdict was left:" "$(<"$verdicts")"; }
  check STEP=01 N=33 WHICH=solution
  expect '^01_nvtx: right: ' WHICH=solution
  no_verdict WHICH=solution
  check STEP=01 N=33
  expect '^01_nvtx: right: ' N=33
  no_verdict "N=33, nothing wrong at that size"
  check STEP=01 N=2
  expect 'Error 2$' N=2
  no_verdict N=2
  check STEP=04 BACKEND=gpu
  expect 'Error 77$' "a GPU that is not there"
  no_verdict "a GPU that is not there"
  sed -i 's/^  while (.*/  for (;;) {/' "$lab/$exercise"
  run timeout -s INT 2 env STEP=01 "$lab/scripts/verbs/check.sh"
  no_verdict "an interrupted check"
  [[ -z $(pgrep -f "$temp/the build/bin/exercise" || true) ]] || fail "an interrupted check leaves its program running"

  cp "$lab/$solution" "$lab/$exercise"
  check STEP=01
  expect_status 0 "the solution"
  shown "done" "$row" right
  expect "^1 of $tasks done\. Next: exercises/02_unified_memory/README\.md\$" right
  # Right results are not yet the step's goal.
  sed -i '/nvtxRangePop/d' "$lab/$exercise"
  check STEP=01
  shown "right, goal not reached" "$row" "a goal that is missed"
  cp "$lab/$solution" "$lab/$exercise"
  check STEP=01
  # A look at one size that finds something counts.
  sed -i 's/0\.25f/(n == 33 ? 0.24f : 0.25f)/' "$lab/$exercise"
  check STEP=01 N=33
  shown wrong "$row" "N=33, wrong at that size"
  cp "$lab/$solution" "$lab/$exercise"
  shown "done" "$row" "broken, and put back"
  # What was right once, and is found wrong later, does not come back as right.
  { cat "$temp/handed_out"; echo 'not C++'; } >"$lab/$exercise"
  sum=$(sha256sum <"$lab/$exercise")
  printf '01_nvtx\tright\t%s\t2026-01-01 00:00\tcpu\n' "${sum%% *}" >>"$verdicts"
  check STEP=01
  shown "does not compile" "$row" "right before, wrong now"
  cp "$lab/$solution" "$lab/$exercise"
  shown "done" "$row" "broken once more, and put back"

  # The file of verdicts: a line a check, and spoilt lines do no harm.
  cp "$verdicts" "$temp/verdicts"
  check STEP=00
  [[ $(diff "$temp/verdicts" "$verdicts" | cut -f 1) == *$'\n''> 00_serial' ]] || fail "there should be one line more:" "$(<"$verdicts")"
  progress
  expect "^00_serial  +no task  +$row\$" "the first step, checked"
  printf '01_nvtx\n\n\t\tspoilt\n04_jacobi_kernel\tright\n' >"$verdicts"
  shown "edited, not checked since" - "a spoilt file"
  check STEP=01
  shown "done" "$row" "a spoilt file, checked anew"
  # Where it cannot be written, the verdict is what counts.
  rm -r "$lab/results/local"
  printf 'a file\n' >"$lab/results/local"
  check STEP=01
  expect_status 0 "where nothing can be remembered"
  expect '^01_nvtx: right: ' "where nothing can be remembered"
  expect '^check.sh: results/local/progress.tsv: cannot be written, so this is not remembered$' "nothing remembered"
  rm "$lab/results/local"
  check STEP=01
  expect_status 0 "written anew"

  mv "$lab/exercises/03_larger_grid/jacobi.cpp" "$temp/"
  progress
  expect_status 0 "an exercise that is gone"
  expect '^03_larger_grid  +missing  +-$' "an exercise that is gone"
  mv "$temp/jacobi.cpp" "$lab/exercises/03_larger_grid/"

  # Times: without a GPU, without nvcc, and taken. The first two steps run on the CPU anywhere.
  printf '#!/bin/sh\nexit 9\n' >"$temp/bin/nvidia-smi"
  chmod +x "$temp/bin/nvidia-smi"
  PATH=$temp/bin:$PATH
  for arguments in TIME=1 "TIME=1 BACKEND=cpu"; do
    # shellcheck disable=SC2086  # two variables
    progress $arguments
    expect 'Error 77$' "$arguments without a GPU"
    [[ $out == "Times need a GPU, and there is none here. Leave out TIME=1 to see what is done." ]] ||
      show "$arguments without a GPU: one line"
  done
  # Right is not done where goals were not measured.
  cp "$verdicts" "$temp/verdicts"
  sum=$(sha256sum <"$lab/$exercise")
  printf '01_nvtx\tright\t%s\t2026-01-01 00:00\tcpu\n' "${sum%% *}" >"$verdicts"
  progress
  expect "^1 of $tasks done, as far as this machine can tell \(goals of 1 need a GPU\)\. Next:\$" "right, without a GPU"
  expect '^ +exercises/02_unified_memory/README\.md$' "right, without a GPU"
  # What this machine cannot build is no task of it.
  cp "$lab/lab/steps.tsv" "$LAB_BUILD_DIR/configure.log" "$temp/"
  sed -i '/^04/s/\tcuda\t/\tranks\t/' "$lab/lab/steps.tsv"
  sed -i '/^-- MPI /d' "$LAB_BUILD_DIR/configure.log"
  progress
  expect '^04_jacobi_kernel  +skipped: no MPI  +-$' "without MPI"
  expect "^1 of $((tasks - 1)) done, as far as .* 1 skipped:$" "without MPI"
  cp "$temp/steps.tsv" "$lab/lab/"
  cp "$temp/configure.log" "$LAB_BUILD_DIR/"
  printf '#!/bin/sh\necho "GPU 0: a make-believe GPU"\n' >"$temp/bin/nvidia-smi"
  progress
  expect "^1 of $tasks done \(some goals of 1 were not measured\)\. Next:" "right, on a GPU"
  cp "$temp/verdicts" "$verdicts"
  progress TIME=1
  expect 'Error 77$' "TIME=1 without nvcc"
  [[ $out == "Times need a GPU, and no nvcc was found: load your site's CUDA module." ]] ||
    show "TIME=1 without nvcc: one line"
  [[ ! -e $times ]] || fail "without a GPU times were left:" "$(<"$times")"

  # Bad input.
  refuses '^progress.sh: TIME=yes: must be 1 or 0$' progress TIME=yes
  run "$lab/scripts/verbs/progress.sh"
  expect_status 0 "the script itself, from another folder"
}

test_times() {
  cp "$lab/$solution" "$lab/$exercise"
  check STEP=01
  number='[0-9]+(\.[0-9]+)?'
  progress TIME=1 BACKEND=gpu
  expect_status 0 "TIME=1"
  gpu=$(awk -F '\t' '$1 == "# gpu" { n = split($2, words, " "); print words[n] }' "$lab/results/h200/ladder.tsv")
  expect "^step +state +last checked +your ms +$gpu\$" "TIME=1"
  expect "^00_serial  +no task  +- +$number +$number\$" "TIME=1"
  expect "^01_nvtx  +done  +$row +$number +$number\$" "TIME=1"
  expect '^02_unified_memory  +unchanged  +- +- +'"$number"'$' "TIME=1"
  expect "^your ms: per iteration at the step's default n; $gpu: the published solution\$" "TIME=1"
  narrow TIME=1
  published=$(awk -F '\t' '$1 == "01_nvtx" { printf "%#.3g", $5 }' "$lab/results/h200/ladder.tsv")
  expect "^01_nvtx .* $published\$" "TIME=1: the published time"
  [[ $(cut -f 1,2 "$times") == 00_serial$'\t'64$'\n'01_nvtx$'\t'64 ]] || fail "other times were left:" "$(<"$times")"
  # As many digits as count.
  sum=$(sha256sum <"$lab/$exercise")
  while read -r ms text; do
    printf '01_nvtx\t64\t%s\t%s\t2026-01-01 00:00\tCPU\n' "$ms" "${sum%% *}" >"$times"
    progress
    expect "^01_nvtx .* $text +$published\$" "a time of $ms ms"
  done <<'END'
0.00435812 0.00436
0.0435812 0.0436
0.435812 0.436
7.80179 7.80
98.3911 98.4
1904.98 1905
END
  # A time of another file, or at another n, is none.
  echo '// edited' >>"$lab/$exercise"
  shown "edited, not checked since" - "edited since it was timed"
  expect_no 'your ms' "edited since it was timed"
  check STEP=01
  shown "done" "$row" "checked, but not timed"
  cp "$lab/$solution" "$lab/$exercise"
  sed -i 's/\t64\t1904/\t65\t1904/' "$times"
  check STEP=01
  shown "done" "$row" "timed at another n"

  # An exercise that is right, but cannot be timed here.
  echo '// mine' >>"$lab/exercises/02_unified_memory/jacobi.cpp"
  sum=$(sha256sum <"$lab/exercises/02_unified_memory/jacobi.cpp")
  printf '02_unified_memory\tright\t%s\t2026-01-01 00:00\tgpu\n' "${sum%% *}" >>"$verdicts"
  progress TIME=1 BACKEND=gpu
  expect_status 2 "a step that cannot be built for a GPU"
  expect '^  02_unified_memory: does not compile here: make check STEP=02 says more$' "a step that cannot be built"
  expect '^02_unified_memory  +right so far, [0-9]+ TODOs left  +01 Jan 00:00 GPU  +- ' "a step that cannot be built"
  expect "^01_nvtx  +done  +$row +$number +$number\$" "the others are timed all the same"
  sed -i 's/^int main(.*/&\n  if (argc > 5) return 3;/' "$lab/$exercise"
  sum=$(sha256sum <"$lab/$exercise")
  printf '01_nvtx\tright\t%s\t2026-01-01 00:00\tcpu\n' "${sum%% *}" >"$verdicts"
  progress TIME=1 BACKEND=gpu
  expect '^  01_nvtx: could not be timed \(exit code 3: ' "a program that fails"
  expect '^01_nvtx  +done, goals unmeasured  +01 Jan 00:00 CPU +- +'"$number"'$' "a program that fails"

  # What the program is asked, and what is read of its answer.
  cat >"$lab/$exercise" <<'END'
#include <cstdio>
#include <cstdlib>
#include <string>
int main(int argc, char** argv) {
  std::string asked, record;
  for (int k = 1; k < argc; ++k) {
    if (std::string(argv[k - 1]) == "--record") record = argv[k];
    else asked += std::string(" ") + argv[k];
  }
  // As the lab's run record is, where it is made.
  if (std::system(("mkdir -p '" + record + "'").c_str()) != 0) return 4;
  std::FILE* file = std::fopen((record + "/run.json").c_str(), "w");
  std::fprintf(file, "{\n  \"device\": \"%s\",\n", asked.c_str());
  std::fprintf(file, "  \"iteration_ms_min\": 1,\n  \"iteration_ms_median\": 2.5,\n  \"iteration_ms_max\": 4\n}\n");
  return std::fclose(file);
}
END
sum=$(sha256sum <"$lab/$exercise")
printf '01_nvtx\tright\t%s\t2026-01-01 00:00\tcpu\n' "${sum%% *}" >"$verdicts"
progress TIME=1 BACKEND=gpu
expect '^01_nvtx  +done, goals unmeasured  +01 Jan 00:00 CPU +2\.50 +'"$number"'$' "the median"
asked=$(awk -F '\t' '$1 == "01_nvtx" { asked = $6 } END { print asked }' "$times")
iterations=$(awk -F '\t' '$1 == "01_nvtx" { print $5 }' "$lab/lab/steps.tsv")
[[ $asked == " --n 64 --iterations $iterations --quiet --record --record-field none" ]] ||
  fail "the program was asked:$asked"
}

case ${1:-} in
  times) test_times ;;
  *) test_states ;;
esac
[[ -z $(ls -A "$temp/tmp") ]] || fail "files were left behind:" "$(ls -A "$temp/tmp")"
others=$(git -C "$lab" status --porcelain | grep -v '^ M exercises/0[12]_' || true)
[[ -z $others ]] || fail "files of the lab were changed:" "$others"
[[ $(ls -A --ignore=progress_times.tsv "$lab/results/local") == progress.tsv ]] ||
  fail "files were left in results/local:" "$(ls -A "$lab/results/local")"
finish "make progress"
