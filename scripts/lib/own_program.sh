# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # its variables are those of lib.sh and of own.sh
# A CUDA program that is not the lab's: its files, and how it is built. For own.sh and puzzle.sh, which source it after lib.sh.

# read_own_files VERB: sets own_files to the absolute paths of $FILE or $FILES, own_folder to the folder of the first,
# own_name to how messages call the program, and own_includes to the folders that $INCLUDE names.
read_own_files() {
  local file folder words
  local -a named=("${FILE:-}") folders=()
  if [[ -n ${FILES:-} ]]; then
    [[ -z ${FILE:-} ]] || die "$exit_bad_usage" "FILE and FILES: one of them"
    read -r -a named <<<"$FILES"
  fi
  [[ -n ${named[0]:-} ]] || die "$exit_bad_usage" "which file? Say $1 FILE=path/to/mine.cu"
  own_files=() own_includes=() own_name=${named[0]##*/}
  for file in "${named[@]}"; do
    [[ -f $file && -r $file ]] || die "$exit_bad_usage" "$file: cannot be read"
    [[ $file =~ \.(cu|cpp|cc|cxx)$ ]] || die "$exit_bad_usage" "$file: must be a .cu, .cpp, .cc or .cxx file"
    own_files+=("$(cd "$(dirname -- "$file")" && pwd -P)/${file##*/}")
    if [[ ${own_files[-1]#"$lab_root/"} =~ ^exercises/(([0-9]+)_|clinic/([a-z_]+)/) ]]; then
      words=${BASH_REMATCH[2]:+STEP=}${BASH_REMATCH[2]}${BASH_REMATCH[3]:+CLINIC=}${BASH_REMATCH[3]}
      if [[ $1 == "make races" ]]; then words="make check $words${BASH_REMATCH[2]:+ RACES=1}"; else words="$1 $words"; fi
      die "$exit_bad_usage" "$file: a file of the lab: $words"
    fi
  done
  own_folder=${own_files[0]%/*}
  IFS=: read -r -a folders <<<"${INCLUDE:-}"
  for folder in "${folders[@]}"; do
    [[ -d $folder ]] || die "$exit_bad_usage" "INCLUDE=$INCLUDE: $folder is not a folder"
    own_includes+=("$(cd "$folder" && pwd -P)")
  done
}

# header_of FILE NAME: the path of the user's header NAME that FILE includes; nothing if it is the system's.
header_of() {
  local folder
  for folder in "${1%/*}" "$own_folder" "${own_includes[@]}"; do
    if [[ -f $folder/$2 ]]; then
      printf '%s\n' "$(cd "$(dirname -- "$folder/$2")" && pwd -P)/${2##*/}"
      return
    fi
  done
}

# mirror FILE: puts C++ of FILE, and of every header of the user's that it includes, at the same path under $temp/mirror.
# In a header, what is not covered becomes an #error, because the header may be left out by an #if.
mirror() {
  local file=$1 copy=$temp/mirror$1 name header
  if [[ -e $copy ]]; then return; fi
  mkdir -p "${copy%/*}"
  : >"$copy"
  while IFS= read -r name; do
    header=$(header_of "$file" "$name")
    if [[ -n $header ]]; then mirror "$header"; fi
  done < <(sed -nE 's/^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*["<]([^">]+)[">].*/\1/p' "$file")
  "$bin/cuda_to_cpp" "$file" "$copy" --headers-too 2>"$temp/filter" ||
    sed -n 's/^\(.*: error: .*\)$/#error \1/p' "$temp/filter" >"$copy"
}

# build_own_for_cpu VARIANT [OPTION|LIBRARY...]: builds $temp/programVARIANT with CUDA on the CPU; VARIANT: "" or
# _watched. The options are for the compiler, the libraries are linked.
build_own_for_cpu() {
  local variant=$1 cxx file folder word bin=$build_dir/bin
  local -a flags=(-O1) link=() include=() objects=()
  build_targets cuda_to_cpp "cuda_on_cpu$variant" || die 1 "CUDA on the CPU does not build; the messages are above"
  cxx=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build_dir/CMakeCache.txt")
  for word in "${@:2}"; do
    if [[ $word == *.a ]]; then link+=("$word"); else include+=("$word"); fi
  done
  if [[ -n $variant ]]; then
    read -r -a flags <"$build_dir/lab/cpu/watched_flags.txt"
    link+=("-Wl,--wrap=memcpy" "-Wl,--wrap=memmove" "-Wl,--wrap=memset") # as lab/cpu/CMakeLists.txt says
  fi
  for folder in "${own_includes[@]}"; do include+=("-I$temp/mirror$folder" "-I$folder"); done
  doing "compiling $own_name"
  for file in "${own_files[@]}"; do
    mirror "$file"
    "$cxx" -x c++ -std=c++17 -g1 -w "${flags[@]}" -iquote "${file%/*}" "${include[@]}" \
      -isystem "$lab_root/lab/cpu/include" -isystem "$lab_root/lab/cpu/formats" -include cuda_runtime.h \
      -c "$temp/mirror$file" -o "$temp/${#objects[@]}.o" 2>"$temp/errors" || why_own_not_built "${include[@]}"
    objects+=("$temp/${#objects[@]}.o")
  done
  "$cxx" "${flags[@]}" "${objects[@]}" "$build_dir/lab/cpu/libcuda_on_cpu$variant.a" "${link[@]}" -pthread -ldl \
    -o "$temp/program$variant" 2>"$temp/errors" || why_own_not_built "${include[@]}"
  doing
}

# why_own_not_built INCLUDE-OPTION...: says why, by $temp/errors, and ends the script. What CUDA on the CPU does not
# cover is no mistake of the user's; if nvcc is here, it tells the two apart.
why_own_not_built() {
  local file nvcc not_covered
  doing
  not_covered=$(grep -oE '[^ ]+: error: CUDA on the CPU does not cover .*' "$temp/errors" | sort -u | head -n 5 || true)
  if [[ -n $not_covered ]]; then
    printf '%s\n' "${not_covered//: error: /: }" >&2
    exit "$exit_no_gpu"
  fi
  grep -E 'error|undefined reference' "$temp/errors" | sed "s#$temp/mirror##" | head -n 5 >&2 || true
  nvcc=$(command -v nvcc || true)
  [[ -n $nvcc ]] || die "$exit_no_gpu" "$own_name: it has a mistake, or CUDA on the CPU does not cover this; no nvcc is here to ask"
  for file in "${own_files[@]}"; do
    "$nvcc" -x cu -std=c++17 -ptx "$@" "$file" -o "$temp/ptx" >"$temp/nvcc" 2>&1 && continue
    die 1 "$own_name: nvcc refuses it as well: $(grep -m 1 error "$temp/nvcc" || head -n 1 "$temp/nvcc")"
  done
  die "$exit_no_gpu" "$own_name: nvcc compiles it, but CUDA on the CPU does not cover what is named above"
}

# build_own_for_gpu: builds $temp/program with nvcc.
build_own_for_gpu() {
  local folder
  local -a include=()
  for folder in "${own_includes[@]}"; do include+=("-I$folder"); done
  need_commands nvcc
  nvcc -std=c++17 -O3 -lineinfo "${include[@]}" "${own_files[@]}" -o "$temp/program" ||
    die 1 "$own_name does not compile; nvcc's messages are above"
}
