# What a program's kernels did to memory, next to the lines of its source. scripts/verbs/count.sh calls it:
#
#   awk -f counts.awk -v n=N -v path=PATH -v name=NAME COUNTS.tsv
#
# PATH is the source file, NAME what the table calls it; several of each have tabs between them. Without N, accesses are
# counted per launch and not per point. The table has a line for each line of source, kernel and kind of access;
# lab/cpu/src/watch/counters.cpp writes it.

BEGIN {
  FS = "\t"
  files = split(path, paths, "\t")
  split(name, names, "\t")
  for (f = 1; f <= files; ++f) {
    while ((getline text < paths[f]) > 0) {
      sub(/^[ \t]+/, "", text)
      sub(/\r$/, "", text)
      source[names[f], ++lines[f]] = text
    }
  }
  unit = n ? "point" : "launch"
  number = n ? "%.4f" : "%.0f"
}

# name_of(LINE): the kernel that is launched there, in words.
function name_of(line,    f) {
  for (f = 1; f <= files; ++f) {
    if (match(source[names[f], line], /[A-Za-z_0-9:<>, ]*<<</)) {
      return substr(source[names[f], line], RSTART, RLENGTH - 3) ", launched at line " line
    }
  }
  return "the kernel launched at line " line
}

function print_sum(access) {
  if (!requests[access]) return
  printf "        %-8s " number " per " unit ", %.2f sectors per request (coalesced: %.2f)\n", access "s:",
    each[access], sectors[access] / requests[access], coalesced[access] / requests[access]
}

function print_sums() {
  print_sum("load")
  print_sum("store")
  if (each["atomic"]) {
    printf "        atomics: " number " per " unit ", up to %d at one address\n", each["atomic"], busiest
  }
  if (passes) printf "        shared memory: %.1f %% of its passes are bank conflicts\n", 100 * lost / passes
  print ""
  split("", each)
  split("", requests)
  split("", sectors)
  split("", coalesced)
  busiest = passes = lost = 0
}

NR == 1 { next } # the columns' names

{
  file = $1; line = $2; kernel = $3; launches = $4; space = $5; access = $6; bytes = $7
  if (kernel != last) {
    if (last != "") print_sums()
    last = kernel
    printf "%s\n%6s  %-13s %9s  %s\n", name_of(kernel), "line", "", "per " unit, "per request"
  }

  per_point = $9 / launches / (n ? n * n : 1)
  if (access == "atomic") {
    most = $14 / launches
    how = sprintf("%d at one", most)
    each["atomic"] += per_point
    if (most > busiest) busiest = most
  } else if (space == "shared") {
    how = sprintf("%.2f passes", $11 / $8)
    if (access != "copy") {
      passes += $11
      lost += $12
    }
  } else {
    how = sprintf("%.2f sectors", $10 / $8)
    each[access] += per_point
    requests[access] += $8
    sectors[access] += $10
    coalesced[access] += $8 * bytes
  }
  code = (file, line) in source ? source[file, line] : line ? file ":" line : "(inside a library)"
  # Lines that declare a value differ after its type.
  sub(/^const [A-Za-z_0-9]+ /, "", code)
  printf "%6s  %-6s %-6s %9s  %-14s %s\n", line ? line : "-", space, access, sprintf(number, per_point), how, substr(code, 1, 31)
}

END {
  if (last == "") print "  No kernel accessed memory."
  else print_sums()
  print "A request is one instruction of a warp; a sector is 32 bytes. Coalesced accesses"
  print "of 32 floats take 4 sectors. Shared memory serves its 32 banks in one pass if no"
  print "two lanes want different words of one bank. What CUB does inside is not counted."
}
