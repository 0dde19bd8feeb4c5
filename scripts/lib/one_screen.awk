# Shortens what `make check` says to what one screen holds. watch.sh calls it.
#
#   step=NAME   the step
#   lines=N     at most this many
#
# The verdict comes first. Of a wrong program follow the first diagnosis and where to look; of one that does not
# compile the errors, without the warnings; of one that is done what led to the verdict; of any other all that was said.
# The lines on stdin have at most 80 characters, if there are blanks at which they could be broken.

/^(No (nvcc|GPU) here|building \.\.\.)/ { next }
is_done { next } # what was predicted has a verb of its own
# Most warnings besides an error follow from it.
/: warning: / && error { skips = hidden = 1 }
/: (fatal )?error: / || index($0, step ": ") == 1 { skips = 0 }
skips { next }
{ text[++count] = substr($0, 1, 80) }
index($0, step ": ") == 1 {
  verdict = count
  if (/: wrong/ && !wrong) wrong = verdict
  is_done = /: done/
}
/: (fatal )?error: / && !error { error = count }
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
    # Of one that is done.
    if (is_done && index(text[k], step ": right: ") == 1) sub(/^[^:]*: right: /, "  ", text[k])
    print text[k]
  }
  if (k <= last || last < count && wrong || hidden) print "  (make check STEP=" substr(step, 1, 2) " says more)"
}
