#!/usr/bin/env bash
# Builds everything and runs the test suite. `make test` calls it.
set -euo pipefail
# shellcheck source=scripts/lib/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

[[ -d $lab_root/scripts/tests ]] ||
  die $exit_bad_usage "a handout has no tests of the lab; make check STEP=NN checks your exercise"
"$lab_root/scripts/verbs/setup.sh" --tests
configure
build_targets all for_tests || die 1 "the build failed; the compiler's words stand above"
# GPU tests share one GPU, so they run one at a time; CTest sees to it by their resource lock.
exec ctest --test-dir "$build_dir" --output-on-failure --parallel "$(nproc)" "$@"
