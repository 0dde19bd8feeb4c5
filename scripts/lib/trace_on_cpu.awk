# Shows a run without a GPU in 80 columns: the times of its NVTX ranges and, if the CPU runs the step's kernels, the
# numbers of kernels, copies and allocations, without times, which would mean nothing. scripts/verbs/trace.sh calls it:
#
#   awk -f trace_on_cpu.awk -v path=PATH -v asked=1 TRACE.tsv
#
# PATH is the step's source file; asked=1 if it asks a GPU for something. The lab's tracer and lab/cpu write the table.

BEGIN {
  FS = "\t"
  while ((getline text < path) > 0) source[++lines] = text
  base_name = path
  sub(/.*\//, "", base_name)
}

# launched(WHERE): the kernel that "solutions/NN_name/jacobi.cu:122" launches, in words. A variable's name is given
# with the kernel that it was set to, the first of them.
function launched(where,    line, name, k) {
  line = name = where
  sub(/.*:/, "", line)
  sub(/:[0-9]+$/, "", name)
  sub(/.*\//, "", name)
  if (name != base_name) return "launched at " where # in another file of the program
  if (!match(source[line], /[A-Za-z_0-9]+(<[^<>]*>)?<<</)) return "launched at " where
  name = substr(source[line], RSTART, RLENGTH - 3)
  if (name !~ /_kernel/) {
    for (k = line - 1; k > 0; --k) {
      if (source[k] ~ "[^A-Za-z_0-9]" name " *=" && match(source[k], /[A-Za-z_0-9]+_kernel/)) {
        name = substr(source[k], RSTART, RLENGTH)
        break
      }
    }
  }
  return name ", launched at line " line
}

# By cost: each is put before those that took less time.
$1 == "nvtx" {
  all += $4
  for (k = ++n_ranges; k > 1 && total[k - 1] < $4; --k) {
    total[k] = total[k - 1]
    ranges[k] = ranges[k - 1]
  }
  total[k] = $4
  ranges[k] = sprintf("%14.3f %9d %12.5f %12.5f  %s", $4 / 1e6, $3, $6 / 1e6, $8 / 1e6, $2)
  if ($6 != $5) has_medians = 1
}
$1 == "open" { never_closed += $3 }
$1 == "kernels" {
  kernels[++n_kernels] = sprintf("%8d  %-12s %-10s  %s", $3, $11, $12, launched($2))
}
$1 == "copies" { copies[++n_copies] = sprintf("%8d %14.6f  %s", $3, $10 / 1e6, $2) }
$1 == "allocations" { memory[++n_memory] = sprintf("%8d %14.6f  %s", $3, $10 / 1e6, $2) }

# show(TITLE, COLUMNS, ROWS, N)
function show(title, columns, rows, n,    k) {
  print ""
  print title
  if (n == 0) {
    print "    none"
    return
  }
  print columns
  for (k = 1; k <= n; ++k) print rows[k]
}

END {
  for (k = 1; k <= n_ranges; ++k) ranges[k] = sprintf("%6.1f", all ? 100 * total[k] / all : 0) ranges[k]
  show("NVTX ranges", "     %      total ms     count    " (has_medians ? "median" : "  mean") " ms       max ms  range",
       ranges, n_ranges)
  if (never_closed) {
    print ""
    print never_closed (never_closed == 1 ? " NVTX range was" : " NVTX ranges were") " never closed"
  }
  if (!asked) exit
  show("Kernels (the CPU runs them in the GPU's place: no times)", "   count  grid         block       kernel",
       kernels, n_kernels)
  show("Copies and fills", "   count       total MB  what", copies, n_copies)
  show("Memory", "   count       total MB  kind", memory, n_memory)
  print ""
  print "Times of kernels and CUDA calls, and pages that migrate, need a GPU."
}
