#!/usr/bin/env bash
# Says how a kernel of the clinic stands: wrong (and where), right but not at its goal, or done. scripts/verbs/check.sh
# calls it for `make check CLINIC=NAME`. The goals are counted on the CPU; with a GPU the results are compared there, too.
#
#   CLINIC=NAME                the kernel
#   WHICH=exercise|solution    which of the two (default: exercise)
#   TIME_LIMIT=S               seconds for one run of the program (default 120)
#   BACKEND=gpu|cpu            where it also runs (default: on the GPU, if there is one)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$lab_root/scripts/lib/why_not_built.sh"

read_step_or_kernel
read_which
read_backend
need_source
for word in N RANKS RACES; do
  [[ -z ${!word:-} ]] || die $exit_bad_usage "$word=${!word}: a check of the clinic takes none; it chooses its runs itself"
done

configure >/dev/null
choose_backend
target=${which}_$step_target
watched=${target}_cpu_watched
log=$build_dir/check_$target.log
scratch=$build_dir/check_$target.$$
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"
cd "$lab_root" # so that files are named as the learner knows them
have_target "$target" || [[ $backend == cpu ]] || die $exit_no_gpu "$step: cannot be built here for a GPU: no nvcc was found"
wanted=check_$target
if [[ $backend == cpu ]]; then wanted+=_cpu; fi
if ! build_watched "$log" "$wanted"; then
  build_targets clinic || die 1 "the validator does not build; its messages are above"
  why_not_built
fi
doing
show_warnings

arguments=(--name "$CLINIC")
bin=${build_dir#"$lab_root"/}/bin
if [[ -n ${TIME_LIMIT:-} ]]; then arguments+=(--time-limit "$TIME_LIMIT"); fi
if [[ $backend == gpu ]]; then arguments+=(--on-gpu "$bin/$target"); fi
if [[ $which == exercise && -d solutions ]]; then
  arguments+=(--next "Next: see how the solution does it: make diff $step_words.")
fi
# nvcc_keeps FILE LOG: whether nvcc compiles it; what the goals are counted in stays in $scratch.
nvcc_keeps() {
  "$nvcc" -x cu -std=c++17 -cubin -Xptxas -v --keep --keep-dir "$scratch" -Ilab/include \
    "-DLAB_STEP_NAME=\"$step\"" "$1" -o "$scratch/cubin" >"$2" 2>&1
}
nvcc=$(nvcc_of_build) trouble=""
if [[ -x $nvcc ]]; then
  doing "asking nvcc"
  if nvcc_keeps "$source_file" "$scratch/log"; then
    arguments+=(--from-nvcc "$scratch")
  elif nvcc_keeps /dev/null "$scratch/trouble"; then
    doing
    sed -n "s#$lab_root/##g; 1,20p" "$scratch/log"
    say "$step: wrong: nvcc does not compile it; begin with the first error above"
    exit 1
  else
    trouble="  nvcc does not work here, so it was not tried: $(head -n 1 "$scratch/trouble")"
  fi
  doing
fi
status=0
said=$("$bin/clinic" "${arguments[@]}" "$bin/$watched") || status=$?
say_wrapped "$said"
say_wrapped "$trouble"
exit "$status"
