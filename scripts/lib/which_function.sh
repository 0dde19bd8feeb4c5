# shellcheck shell=bash
# shellcheck disable=SC2154  # its variables are those of check.sh
# In which function, and in which of its lines, a wrong program has its mistake: each function that the solution has, too,
# and each few lines that differ there, are in turn taken from the solution. If that makes the program right, the mistake
# is there. For check.sh, which sources it.

source "$lab_root/scripts/lib/variants.sh"

# find_solution: the path of the step's solution; in a handout that of the exercise that begins with it. Nothing if there
# is neither.
find_solution() {
  local next source
  if [[ -f solutions/$step/$step_source ]]; then
    echo "solutions/$step/$step_source"
  elif IFS=$'\t' read -r next source _ < <(awk -F '\t' -v step="$step" '$7 == step' "$steps_file") &&
    [[ -f .start/$next/$source ]]; then
    echo ".start/$next/$source"
  fi
}

# build_swapped FOLDER VARIANT NAME...: makes FOLDER/program of these variants; VARIANT: "", or _watched if every access is
# looked at. In one go, for `locked`.
build_swapped() {
  local folder=$1 program=swapped_${step}_cpu$2
  shift 2
  all_variants "$folder" "$step_source" "$@" >"$build_dir/content/swapped_${step}_$step_source" &&
    cmake --build "$build_dir" --target "$program" >"$folder/log" 2>&1 && cp "$build_dir/bin/$program" "$folder/program"
}

# repaired_by FOLDER VARIANT COMMAND...: of the variants in FOLDER, which FOLDER/names lists as swap_functions does, those that
# are right by COMMAND where the program itself is wrong. Fails with 1 if that is right as well, with 2 if nothing can be
# said.
repaired_by() {
  local folder=$1 watched=$2 name line started=0 cores
  local -a names=(as_it_is) fit=()
  shift 2
  cores=$(nproc)
  mkdir "$folder/as_it_is"
  cp "$source_file" "$folder/as_it_is/$step_source"
  while IFS=$'\t' read -r name _; do names+=("$name"); done <"$folder/names"
  if ! locked build_swapped "$folder" "$watched" "${names[@]}"; then
    # Those that do not fit the learner's other functions are left out.
    for name in "${names[@]}"; do
      grep -qE "^$name:[0-9:]+ (fatal )?error" "$folder/log" || fit+=("$name")
    done
    names=("${fit[@]}")
    ((${#names[@]} > 1)) && locked build_swapped "$folder" "$watched" "${names[@]}" || return 2
  fi
  for name in "${names[@]}"; do
    ((++started <= cores)) || wait -n || true
    ln -s "$folder/program" "$folder/$name/$name"
    # One worker: what a race does is then the same each time.
    { LAB_CPU_WORKERS=1 "$@" "$folder/$name/$name" >"$folder/$name/said" 2>&1 &&
      ! grep -q '^  diagnosis: ' "$folder/$name/said" && touch "$folder/$name/is_right"; } &
  done
  wait
  [[ ! -e $folder/as_it_is/is_right ]] || return 1
  # A variant that fails misses no goal either: as much of it has to be measurable.
  unmeasured() { grep -c '^  Goal not measurable' "$folder/$1/said" || true; }
  while IFS= read -r line; do
    name=${line%%$'\t'*}
    if [[ -e $folder/$name/is_right && $(unmeasured "$name") == "$(unmeasured as_it_is)" ]]; then printf '%s\n' "$line"; fi
  done <"$folder/names"
}

# where_it_is VARIANT COMMAND...: prints in which function, and in which of its lines, if COMMAND can tell: the functions, a
# tab, words, a tab, and `sure`; or `own`, if the learner's way differs much from the solution's, so that the mistake may as
# well be in what was made for that function; or `constant`.
where_it_is() {
  local functions=$scratch/functions$1 found lines words sure=sure
  rm -rf "$functions" # of the validator's words, when it is about a goal
  mkdir "$functions"
  "$build_dir/bin/swap_functions" --solution "$solution" --into "$functions" "$source_file" >"$functions/names" || return 2
  [[ -s $functions/names ]] || return 2
  found=$(repaired_by "$functions" "$@") || return
  lines=$(grep $'\tlines$' <<<"$found" | cut -f 2)
  found=$(grep -v $'\tlines$' <<<"$found")
  words=$(cut -f 2 <<<"$found")
  if grep -q $'\tconstant$' <<<"$found"; then sure=constant; fi
  if grep -q $'\town$' <<<"$found"; then sure=own; fi
  if [[ -n $lines && $words != *$'\n'* ]]; then
    printf '%s\t%s\tsure\n' "${words:-$lines}" "${lines//$'\n'/, or }"
  elif [[ -n $words ]]; then
    printf '%s\tin %s\t%s\n' "${words//$'\n'/ }" "${words//$'\n'/, or in }" "$sure"
  else
    return 2
  fi
}

# repaired_launch COMMAND...: prints what would make the program right by COMMAND where it starts work for the GPU, if CUDA on
# the CPU can say: in whatever form it is written. Fails if nothing would.
repaired_launch() {
  local status kind line lines fewer what program=$program
  if [[ -n $on_cpu ]]; then program=$bin/$on_cpu; fi
  becomes_right() {
    what=$(LAB_CPU_REPAIR=$1 LAB_CPU_WORKERS=1 timeout 3 "${@:2}" "$program" 2>&1) && [[ $what != *$'\n  diagnosis: '* ]]
  }
  if becomes_right "" "$@"; then return 1; fi
  for kind in waits more_x more_y; do
    # More blocks may hide a race.
    if [[ $kind != waits && ($said == *race* || $said == *"earlier copy"*) ]]; then return 1; fi
    status=0
    becomes_right "$kind" "$@" || status=$?
    if ((status == 124)); then return 1; fi # it takes too long
    if ((status)); then continue; fi
    # Of the lines that start something those that it takes.
    lines=,$(grep -nE '<<<|Async|Memset|cudaLaunch|cub::' "$source_file" | cut -d : -f 1 | tr '\n' ,)
    becomes_right "$kind$lines" "$@" || return 1
    for line in ${lines//,/ }; do
      fewer=${lines/,$line,/,}
      if [[ $fewer != , ]] && becomes_right "$kind$fewer" "$@"; then lines=$fewer; fi
    done
    line=${lines:1:-1}
    lines="line ${line//,/, line }"
    if [[ $lines == *,* ]]; then lines="${lines%,*} and${lines##*,}"; fi
    what="which points each block has in its kernel"
    if grep -q gridDim "$source_file"; then what="what a block of its kernel does after its first part"; fi
    what+=". (With 8 times as many blocks the result is right.)"
    case $kind,$lines in
      waits,*) echo "what starts at $lines: something uses its result, or its memory, too early. (With a wait there the program is right.)" ;;
      *and*) echo "the launch grid at $lines, or ${what/its kernel/their kernels}" ;;
      *) echo "the launch grid at $lines, or $what" ;;
    esac
    return 0
  done
  return 1
}

# find_where WORDS COMMAND...: adds to $said where it is, if COMMAND can tell, and sets where. With the solution's code the
# program WORDS. What is said there of other functions is left out; if the place is not sure, what is said of them counts.
find_where() {
  local words=$1 found="" status=0 others own line sure cause
  local unawaited="the host, or another stream, goes on before work that was queued has ended"
  local wait="what uses the result of these lines: whether it waits for them (cudaDeviceSynchronize(), or an event"
  wait+=" that is recorded after them: that of the same pass), or is in the same stream"
  shift
  doing "$([[ $words != "is right" ]] || printf 'wrong; ')looking in which lines"
  is_built swap_functions || return 0
  found=$(where_it_is "" "$@") || status=$?
  # Only a look at every access finds a race that does no harm here, or counts what a goal is about.
  if ((status == 1)); then found=$(where_it_is _watched "$@") || return 0; fi
  where=$(cut -f 2 <<<"$found") sure=$(cut -f 3 <<<"$found")
  own=${found%%$'\t'*}
  if [[ $words == "is right" && (-z $found || $sure == own) ]] && ((status != 1)) && line=$(repaired_launch "$@"); then
    where=$line sure=launch
    # What was said of anything but a race or a wait, and of no line but what reads too early, is what the race looks like.
    cause=$(grep '^  diagnosis: ' <<<"$said" | sed 's/line [0-9]* reads what nothing has written//' || true)
    if [[ $where == what* && $cause && ! $cause =~ line\ [0-9]|[Rr]ace|wait ]]; then
      said=$(sed -e '/^  look at: /d' -e "s/^  diagnosis: .*/  diagnosis: a race: $unawaited\\n  look at: $wait/" <<<"$said")
    fi
  elif [[ -z $found ]]; then
    return 0
  fi
  # Of a program that is all in main it says nothing.
  if [[ $sure == own && $where == "in main" && $(grep -cE '^[A-Za-z_][^;=]*\([^;]*$' "$source_file") == 1 ]]; then
    where=""
    return 0
  fi
  if [[ $sure == constant ]]; then where+=", or in what uses it"; fi
  # A kernel that goes over several parts by gridDim has one of each with the solution's launch grid: that hides a mistake.
  if [[ $sure == sure && $where =~ ^line\ ([0-9]+), ]] && grep -q 'gridDim' "$source_file" &&
    sed -n "${BASH_REMATCH[1]}p" "$source_file" | grep -qE 'dim3|grid|blocks'; then
    where+=", or which points its kernel gives to each block"
    sure=grid
  fi
  if [[ $sure == own ]]; then where+=", or in what it needs from elsewhere (a launch, memory, a constant)"; fi
  if [[ $sure != launch ]]; then where+=". With the solution's code there, your program $words."; fi
  # What these lines call is no other function.
  while IFS= read -r line; do
    own+=" "$(sed -n "${line// to /,}p" "$source_file")
  done < <(grep -oE 'lines? [0-9]+( to [0-9]+)?' <<<"$where" | sed 's/lines* //')
  others=$("$build_dir/bin/swap_functions" --names "$source_file" |
    grep -vxFf <(grep -oE '[A-Za-z0-9_]+' <<<"$own") | tr '\n' ' ' || true)
  said=$(awk -v where="  where: $where" -v others="$others" \
    -v sure="$sure" -v lines="$(grep -oE 'lines? [0-9]+( to [0-9]+)?' <<<"${found%%$'\t'*}" | tr -dc '0-9 ')" '
    BEGIN {
      count = split(others, other, " ")
      ranges = split(lines, range, " ")
      put = 0
    }
    # A name may be a word of English as well.
    function mentions(name) { return $0 ~ (name ~ /_/ ? "[^A-Za-z0-9_]" : " in ") name "([^A-Za-z0-9_]|$)" }
    function of_others(k) {
      for (k = 1; k <= count; ++k) if (mentions(other[k])) return 1
      return 0
    }
    function lines_of_others(words) {
      for (words = $0; match(words, /lines? [0-9]+/); words = substr(words, RSTART + RLENGTH)) {
        line = substr(words, RSTART, RLENGTH)
        sub(/[^0-9]*/, "", line)
        if (line + 0 < range[1] || line + 0 > range[ranges]) return 1
      }
      return 0
    }
    { text[NR] = $0 }
    /^  (diagnosis|look at): / && sure == "own" && (of_others() || (ranges && lines_of_others())) { put = 1 }
    END {
      for (k = 1; k <= NR; ++k) {
        $0 = text[k]
        if (/^  look at: / && sure == "sure" && of_others()) continue
        if (/^  (look at: |the (field|residual) is |it (ended|stopped) |A look at )|^[0-9].*: right, but / && !put) {
          print where
          put = 1
          sub(/if that is right: /, "")
        }
        print
      }
      if (!put) print where
    }' <<<"$said")
}

# which_function: adds to $said, the validator's words, where the mistake is, if that can be found out, and sets where.
which_function() {
  local line=${said%%$'\n'*} mistake
  local -a command=("$build_dir/bin/validate" --time-limit 20)
  # These say what is too small for the kernel. It is right; but one that needs less makes the program right as well.
  mistake=$(cut -s -f 2 "$scratch/verdict")
  case $mistake in
    too_little_dynamic_shared_memory | too_few_bytes_are_allocated | index_outside_of_partial_sums | \
      block_of_another_shape | impossible_launch) return 0 ;;
  esac
  # As in the run that went wrong. One with options of its own is among those that are tried anyway.
  if [[ $line == *\ --* ]]; then
    :
  elif [[ $line =~ ([a-z]+),\ n\ =\ ([0-9]+),\ ([0-9]+)\ (iteration|cycle) ]]; then
    command+=(--problem "${BASH_REMATCH[1]}" --n "${BASH_REMATCH[2]},250")
    # Of a multigrid program, few cycles say nothing of its residuals.
    if [[ $step_number != 16 ]]; then command+=(--iterations "${BASH_REMATCH[3]}"); fi
    ((BASH_REMATCH[2] <= (step_ranks ? 1000 : 4096))) || return 0 # it would take too long
    if ((BASH_REMATCH[2] < 1000 && !step_ranks)); then command+=(--every-order); fi
  elif [[ $said =~ of\ the\ error\ at\ n\ =\ ([0-9]+) ]]; then
    command+=(--problem probe --n "${BASH_REMATCH[1]}" --every-order)
  else
    return 0
  fi
  if ((step_ranks)); then
    [[ $line =~ ([0-9]+)\ rank ]] || return 0
    command+=(--ranks "${BASH_REMATCH[1]}")
  fi
  find_where "is right" "${command[@]}"
}

# reaches_goal PROGRAM: whether a variant does; for repaired_by, whose $watched says which it is.
# shellcheck disable=SC2317  # repaired_by calls it
reaches_goal() {
  local -a options=(--name "$step" --time-limit 20)
  if [[ -n $watched ]]; then options+=(--watched "$1"); fi
  if ((step_ranks)); then options+=(--ranks 2); fi
  "$build_dir/bin/goals" "${options[@]}" "$1"
}
