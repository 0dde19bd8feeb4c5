#!/usr/bin/env bash
# Without MPI the steps that need it are skipped, by name, and the others are there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need cmake ctest
[[ -d $source_dir/solutions ]] || skip "there are no solutions here to build"
make_temp
build=$temp/build
no_mpi="-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON -DLAB_CUDA=OFF"

# By a verb of make, which configures the build. To root it would install MPI first.
mkdir "$temp/stubs"
printf '#!/bin/sh\nexit 1\n' >"$temp/stubs/apt-get"
chmod +x "$temp/stubs/apt-get"
export PATH=$temp/stubs:$PATH
step=$(awk -F '\t' '$3 == "ranks" { print $1; exit }' "$source_dir/lab/steps.tsv")
number=${step%%_*}
for verb in check measure/run; do
  run env LAB_BUILD_DIR="$build" LAB_CMAKE_ARGS="$no_mpi" STEP="$number" WHICH=solution "$source_dir/scripts/verbs/$verb.sh"
  expect_status $exit_skipped "make $verb STEP=$number"
  expect "^${verb##*/}\.sh: $step: skipped: it needs MPI, and none was found: " "make $verb STEP=$number"
done
grep -q '^-- MPI was not found: the steps that run on several GPUs are not built$' "$build/configure.log" ||
  fail "CMake should say that there is no MPI:" "$(grep -i mpi "$build/configure.log" || true)"

while IFS=$'\t' read -r name _ needs _; do
  target=solution_$name
  if [[ $needs != cpu ]]; then target+=_cpu; fi
  if [[ $needs == ranks ]]; then
    if grep -qx "$target" "$build/step_targets.txt"; then fail "$name: is built, though it needs MPI"; fi
  else
    grep -qx "$target" "$build/step_targets.txt" || fail "$name: is not built"
  fi
done < <(grep '^[0-9]' "$source_dir/lab/steps.tsv")
run ctest --test-dir "$build" -R "^validate_solution_$step\$"
expect "validate_solution_$step \.+\*+Skipped" "ctest"
finish "$step is skipped where there is no MPI"
