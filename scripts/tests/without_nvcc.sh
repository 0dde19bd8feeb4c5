#!/usr/bin/env bash
# `make run` from nothing, in a copy of the lab, without the CUDA Toolkit, with Clang, without a warning: the CPU runs the
# kernels in place of a GPU, and all is right. Its programs print the table of NVTX ranges that the toolkit's profilers would.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make cmake clang++
[[ -d $source_dir/solutions ]] || skip "there are no solutions here to build"
make_temp
lab="$temp/it's the lab, 5\$" # a name that shells and build tools may stumble over
build=$temp/build
export LAB_BUILD_DIR=$build CXX=clang++ CXXFLAGS="-O1 -Werror"
export LAB_CMAKE_ARGS="-DLAB_CUDA=OFF -DCMAKE_BUILD_TYPE=None -DCMAKE_UNITY_BUILD=OFF"
copy_tree "$lab"

# make_lab ARGUMENT...: make, from a folder that has nothing to do with the lab.
make_lab() { (cd / && make --no-print-directory -C "$lab" "$@"); }

# Without the exercises as they are handed out, which the first verb keeps where there is no git.
files_of_lab() { (cd "$lab" && find . -path ./.start -prune -o -type f -print | sort); }

# count_of REGEX NUMBER WHAT: fails unless NUMBER printed lines match.
count_of() {
  local found
  found=$(grep -cE -- "$1" <<<"$out" || true)
  ((found == $2)) || show "make run: $found $3, expected $2"
}

results="$temp/my results"
files=$(files_of_lab)
run make_lab run RESULTS="$results"
if ((status != 0)); then
  show "make run with Clang and -Werror"
  finish "make run"
fi
expect '^No usable GPU here: the CPU runs the kernels instead; results, but no times$' "make run"
expect '^GPU: none$' "make run"
grep -q '^-- No CUDA Toolkit: the steps that need a GPU are built for the CPU alone$' "$build/configure.log" ||
  fail "CMake should say that there is no toolkit:" "$(<"$build/configure.log")"
steps=() # that can run here; what needs MPI cannot without it
while IFS=$'\t' read -r step _ needs _; do
  if [[ $needs != ranks ]] || grep -q '^-- MPI [0-9]' "$build/configure.log"; then steps+=("$step"); fi
done < <(grep '^[0-9]' "$lab/lab/steps.tsv")
cpu_steps=$(grep -c $'^[0-9].*\tcpu\t' "$lab/lab/steps.tsv")
count_of '^[0-9][0-9]_[a-z0-9_]+ .* right +[0-9.]+ ms' "$cpu_steps" "steps that are right"
count_of '^[0-9][0-9]_[a-z0-9_]+ .* right +on the CPU$' $((${#steps[@]} - cpu_steps)) "steps on the CPU"
expect '^step +valid +n +ms/iter' "make run's table"
[[ $(files_of_lab) == "$files" ]] ||
  fail "make run changed the files beside its sources:" "$(diff <(echo "$files") <(files_of_lab))"
[[ $(ls -A "$results") == ladder.tsv ]] ||
  fail "make run should leave ladder.tsv in the given folder, not:" "$(ls -A "$results")"
found=$(grep -cE $'^[0-9]{2}_[^\t]*\t[^\t]+\tright\t' "$results/ladder.tsv" || true)
((found == ${#steps[@]})) || fail "ladder.tsv should have ${#steps[@]} steps:" "$(<"$results/ladder.tsv")"

# Every program that a machine without the toolkit can have, and no other; bit for bit, by this compiler, too. (An exercise
# is the solution before it, so it is not built.)
wanted=""
for step in "${steps[@]}"; do
  program=solution_$step
  if [[ ! -x $build/bin/$program ]]; then program+=_cpu; fi
  wanted+=$program$'\n'
  run "$build/bin/validate" --n 100 "$build/bin/$program"
  best="fields bit for bit, residuals within rounding|the exact discrete solution, rounded to floats"
  expect "^$program: right: .*; ($best)\$" "$step"
done
programs=$(cd "$build/bin" && printf '%s\n' solution_* | sort)
wanted=$(sort <<<"${wanted%$'\n'}")
[[ $programs == "$wanted" ]] || fail "without CUDA these programs should be there:" "$wanted" \
  "and these are:" "$programs"

nvtx=$build/bin/solution_$(awk '/^01_/ { print $1 }' "$lab/lab/steps.tsv")
run env LAB_TRACE_TSV="$temp/ranges" "$nvtx" --n 32 --iterations 7 --quiet
expect_status 0 "its trace"
[[ -z $out$err ]] || show "the program should say nothing of its ranges"
# name and count of each range
while read -r range count; do
  grep -q "^nvtx"$'\t'"$range"$'\t'"$count"$'\t' "$temp/ranges" || fail "in the trace: $count of $range" "$(<"$temp/ranges")"
done <<'END'
allocate_fields 1
initialize_field 2
jacobi_sweep 7
copy_field 7
free_fields 1
END

# One step of the ladder; and a solution that is wrong: said so, no time, and an exit code.
run make_lab run STEPS=00
expect_status 0 "make run STEPS=00"
count_of '^[0-9][0-9]_[a-z0-9_]+ ' 1 "steps with STEPS=00"
if grep -E '(Building|Compiling) ' "$build/build.log"; then fail "make run STEPS=00 built again what had not changed"; fi
sed -i 's/0\.25f/0.24f/' "$lab/solutions/${steps[1]}/jacobi.cpp"
run make_lab run STEPS=01
expect_status 2 "make run with a wrong solution"
expect "^${steps[1]} .* WRONG " "make run with a wrong solution"
expect_no "^${steps[1]} .* ms an iteration" "make run with a wrong solution"

finish "make run from nothing, with Clang, no toolkit, no warning"
