#!/usr/bin/env bash
# Builds what the tests need, runs them, and says what took long. `make test` and `make test-all` call it.
#
#   test.sh         the quick tests, in minutes
#   test.sh --all   these, then all others
#
#   LAB_TEST_PATIENCE=P    a test may take 5 P minutes (default 4): a limit is for a test that hangs, not for a busy machine
#
# Which test is quick is decided in scripts/tests/tiers.cmake.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

[[ -d $lab_root/scripts/tests ]] ||
  die $exit_bad_usage "a handout has no tests of the lab; make check STEP=NN checks your exercise"
case $* in
  "") tiers=(quick) ;;
  --all) tiers=(quick full) ;;
  *) die $exit_bad_usage "$*: no such option; --all runs all tests" ;;
esac
"$lab_root/scripts/verbs/setup.sh" --tests
# Without a GPU nothing that nvcc makes is run: one architecture will do.
if ! gpu_here; then export CUDAARCHS=${CUDAARCHS:-90}; fi

# minutes SECONDS: "1 min 05 s".
minutes() { printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); }

status=0
configure
for tier in "${tiers[@]}"; do
  started=$SECONDS
  build_targets "tests_$tier" || die 1 "the build failed; the compiler's messages are above"
  built=$SECONDS
  report=$build_dir/tests_$tier.xml
  # CTest sees to it that tests that share a thing, such as the GPU, run one at a time.
  ctest --test-dir "$build_dir" --label-regex "^$tier\$" --output-on-failure --parallel "$(($(nproc) + 1))" \
    --timeout $((${LAB_TEST_PATIENCE:-4} * 300)) --output-junit "$report" || status=1
  say "The slowest of these tests:"
  sed -n 's/^.*<testcase name="\([^"]*\)" .*time="\([0-9.]*\)".*$/\2 \1/p' "$report" | sort -rn |
    awk 'NR <= 10 { printf "  %7.1f s  %s\n", $1, $2 }'
  say "The $tier tests: $(minutes $((built - started))) to build, $(minutes $((SECONDS - built))) to run"
done
exit "$status"
