# Shortens what `make check` says to what one screen holds. watch.sh calls it.
#
#   step=NAME   the step
#   lines=N     at most this many
#
# The verdict comes first. Of a wrong program follow the first diagnosis and where to look; of one that does not
# compile the first errors; of any other all that was said.

/^(No (nvcc|GPU) here|building \.\.\.)/ { next }
{
  sub(/^exercises\/[^\/:]*\//, "") # of a compiler
  text[++count] = substr($0, 1, 80)
}
index($0, step ": ") == 1 {
  verdict = count
  if (/: wrong/ && !wrong) wrong = count
}
/ error: / && !error { error = count }
/^  look at:/ && wrong && !last {
  looks = 1
  last = count
  next
}
looks && /^    / { last = count }
looks && !/^    / { looks = 0 }

END {
  first = 1
  if (wrong) verdict = first = wrong
  else if (error) first = error
  if (!last) last = count
  if (verdict) {
    sub(/first error above$/, "first error below", text[verdict])
    print text[verdict]
    --lines
  }
  for (k = first; k <= last; ++k) {
    if (k == verdict) continue
    if (lines-- < 1) break
    print text[k]
  }
  if (k <= last || last < count && wrong) print "  (make check STEP=" substr(step, 1, 2) " says more)"
}
