#!/usr/bin/env bash
# Shows what a CUDA program that is not the lab's does to memory, with CUDA on the CPU (lab/cpu). `make count FILE=...`,
# `make races FILE=...` and `make trace FILE=...` call it with the verb's name. It leaves nothing behind.
#
#   FILE=mine.cu               the program's source; or
#   FILES="a.cu b.cu c.cpp"    its sources, separated by blanks
#   INCLUDE=DIR:DIR            folders of its headers, besides the folder of each file
#   ARGS="..."                 the program's options, separated by blanks; it runs in the folder of the first file
#   BACKEND=gpu|cpu            where `make trace` runs it (default: the GPU, if there is one)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../lib/lib.sh"
source "$lab_root/scripts/lib/own_program.sh"

verb=$1
read_own_files "make $verb"
need_python
read_backend
read -r -a arguments <<<"${ARGS:-}"
cd "$lab_root"
configure >/dev/null
backend=cpu variant=_watched
if [[ $verb == trace ]]; then
  variant=""
  choose_backend
fi
make_scratch
if [[ $backend == gpu ]]; then
  build_own_for_gpu
else
  build_own_for_cpu "$variant"
fi

table=$temp/table.tsv status=0
if [[ $verb == count ]]; then variables=("LAB_CPU_COUNTS=$table"); else trace_to "$table"; fi
(cd "$own_folder" && env "${variables[@]}" "$temp/program$variant" "${arguments[@]}") || status=$?
# 3: CUDA on the CPU ended it, and has said why.
if ((status == 3)); then die 1 "$own_name: what is wrong is named above"; fi
if ((status > 128)); then die 1 "$own_name: ended by signal $((status - 128))"; fi
say ""
if ((status)); then say "$own_name ended with exit code $status."; fi
case $verb in
  races) say "$own_name: no race, no access out of bounds and no read of unwritten memory in this run" ;;
  count)
    [[ -f $table ]] || die 1 "$own_name launched no kernel"
    say "$own_name: what its kernels do to memory"
    say ""
    labtool profilers.run_tables counts "$table" "${own_files[@]}"
    ;;
  trace)
    : >>"$table" # a program that asks its GPU for nothing leaves none
    labtool profilers.run_tables trace "$table" "${own_files[@]}"
    ;;
esac
