#!/usr/bin/env bash
# All builds without the CUDA Toolkit, with Clang, without a warning; the steps are right then, on the CPU
# in place of a GPU, and print the table of NVTX ranges that the toolkit's profilers would.
set -euo pipefail
# shellcheck source=scripts/tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need cmake clang++
[[ -d $source_dir/solutions ]] || skip "there are no solutions here to build"
make_temp
build=$temp/build

generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi
run cmake -S "$source_dir" -B "$build" "${generator[@]}" -DLAB_CUDA=OFF \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_CXX_FLAGS=-Werror
expect_status 0 "configuring"
expect '^-- No CUDA Toolkit: the steps that need a GPU are built for the CPU alone$' "configuring"
run cmake --build "$build" --parallel "$(nproc)" --target solutions exercises solutions_on_cpu validate ladder
if ((status != 0)); then
  show "building with Clang and -Werror"
  finish "the build"
fi

wanted=""
while IFS=$'\t' read -r step _ needs _; do
  if [[ $needs == ranks ]] && ! grep -q "^solution_${step}_cpu\$" "$build/step_targets.txt"; then continue; fi # no MPI
  program=solution_$step
  wanted+=$program
  if [[ $needs != cpu ]]; then
    program+=_cpu
    wanted+=_cpu$'\n'
  else
    wanted+=$'\n'exercise_$step$'\n'
  fi
  run "$build/bin/validate" "$build/bin/$program"
  expect_status 0 "$step"
  best="fields bit for bit, residuals within rounding|the exact discrete solution, rounded to floats"
  expect "^$program: right: .*; ($best)\$" "$step"
done < <(grep '^[0-9]' "$source_dir/lab/steps.tsv")
programs=$(cd "$build/bin" && printf '%s\n' solution_* exercise_* | sort)
wanted=$(sort <<<"${wanted%$'\n'}")
[[ $programs == "$wanted" ]] || fail "without CUDA these programs should be there:" "$wanted" \
  "and these are:" "$programs"

nvtx=$build/bin/solution_$(awk '/^01_/ { print $1 }' "$source_dir/lab/steps.tsv")
run env LAB_NVTX=1 "$nvtx" --n 32 --iterations 7 --quiet
expect_status 0 "LAB_NVTX=1"
expect '^ *total ms +count +mean ms +max ms +range$' "LAB_NVTX=1"
# name and count of each range
while read -r range count; do
  expect "^ +[0-9.]+ +$count +[0-9.]+ +[0-9.]+ +$range\$" "LAB_NVTX=1, $range"
done <<'END'
allocate_fields 1
initialize_field 2
jacobi_sweep 7
copy_field 7
free_fields 1
END
run "$nvtx" --n 32 --iterations 7 --quiet
expect_status 0 "without LAB_NVTX"
[[ -z $out$err ]] || show "without LAB_NVTX the program should say nothing"
run env LAB_NVTX=0 "$nvtx" --n 32 --iterations 7 --quiet
[[ -z $out$err ]] || show "with LAB_NVTX=0 the program should say nothing"

finish "Clang, no toolkit, no warning"
