# Reads the hints out of a step's guide, for scripts/verbs/hint.sh. They stand in its section "## Hints", each as
#
#   <details><summary>Hint 1</summary>
#
#   text
#
#   </details>
#
# Variables: name (the guide's, for errors); want: the number of the hint to print, or 0: prints how many there
# are. What is printed fits into 80 columns, but for code, which no line is broken in, and has no HTML.

function problem(what) {
  printf "hint.sh: %s:%d: %s\n", name, FNR, what > "/dev/stderr"
  failed = 1
  exit 1
}

# Whether position `at` of text is outside of `code`.
function outside_code(text, at,    before) {
  before = substr(text, 1, at - 1)
  return gsub(/`/, "", before) % 2 == 0
}

# [words](address): the words, and where the address is one that can be typed, the address too.
function without_links(text,    done, at, link, words, address) {
  done = ""
  while (match(text, /!?\[[^]]*\]\([^()]*\)/)) {
    at = RSTART
    link = substr(text, at, RLENGTH)
    if (outside_code(done text, length(done) + at)) {
      words = address = link
      sub(/^!?\[/, "", words)
      sub(/\]\([^()]*\)$/, "", words)
      sub(/^.*\]\(/, "", address)
      sub(/\)$/, "", address)
      link = address ~ /^https?:/ ? words " (" address ")" : words
      done = done substr(text, 1, at - 1) link
    } else {
      done = done substr(text, 1, at - 1) link
    }
    text = substr(text, at + RLENGTH)
  }
  return done text
}

# Without the marks of emphasis, without tags, with plain characters for HTML's names of them.
function plain(text,    done, word, before) {
  gsub(/<!--[^>]*-->/, "", text)
  gsub(/<br *\/?>/, " ", text)
  gsub(/<\/?(a|b|code|em|i|kbd|p|q|small|span|strong|sub|sup|var)( [^<>]*)?>/, "", text)
  gsub(/\*\*/, "", text)
  done = ""
  while (match(text, /\*[^* ][^*]*\*/)) {
    before = RSTART == 1 ? substr(done, length(done)) : substr(text, RSTART - 1, 1)
    word = substr(text, RSTART, RLENGTH)
    # Between letters, digits or brackets a star multiplies.
    if (before !~ /[])A-Za-z0-9_]/) word = substr(word, 2, length(word) - 2)
    done = done substr(text, 1, RSTART - 1) word
    text = substr(text, RSTART + RLENGTH)
  }
  text = done text
  gsub(/&nbsp;/, " ", text)
  gsub(/&times;/, "x", text)
  gsub(/&lt;/, "<", text)
  gsub(/&gt;/, ">", text)
  gsub(/&quot;/, "\"", text)
  gsub(/&amp;/, "\\&", text)
  return text
}

# The same, and what stands in `code` as it is.
function readable(text,    parts, count, k, done) {
  text = without_links(text)
  count = split(text, parts, "`")
  done = ""
  for (k = 1; k <= count; ++k) done = done (k > 1 ? "`" : "") (k % 2 ? plain(parts[k]) : parts[k])
  return done
}

function put(line) {
  if (FNR_hint != want) return
  if (line == "") {
    blank = printed
    return
  }
  if (blank) print ""
  blank = 0
  printed = 1
  print line
}

# Prints the paragraph that was gathered.
function flush(    words, count, k, line) {
  if (paragraph == "") return
  count = split(readable(paragraph), words, /[ \t]+/)
  line = lead
  for (k = 1; k <= count; ++k) {
    if (words[k] == "") continue
    if (line != lead && line != hang && length(line) + 1 + length(words[k]) > 80) {
      put(line)
      line = hang
    }
    line = line (line ~ /[^ ]$/ && line != lead ? " " : "") words[k]
  }
  put(line)
  paragraph = ""
}

function begin_hint() {
  ++hints
  FNR_hint = hints
  open = FNR
  item = ""
  if (summary ~ /^Hint +[0-9]+/) {
    if (substr(summary, 5) + 0 != hints) problem("'" summary "' is number " hints)
    sub(/^Hint +[0-9]+[.:]? */, "", summary)
  }
  if (hints == want && summary != "") title = readable(summary)
  if (title != "") {
    put("  " title)
    put("")
    title = ""
  }
}

BEGIN { fence = open = hints = in_section = printed = blank = 0 }

{ sub(/\r$/, "") }

# Code: its own indentation is kept, the fences' is not.
/^ *(```|~~~)/ {
  match($0, /^ */)
  mark = substr($0, RLENGTH + 1, 3)
  if (!fence) {
    fence = FNR
    fence_mark = mark
    fence_indent = RLENGTH
    if (open) {
      flush()
      put("")
    }
    next
  }
  if (mark == fence_mark) {
    fence = 0
    if (open) put("")
    next
  }
}
fence {
  if (open) {
    match($0, /^ */)
    put($0 == "" ? "" : "      " substr($0, 1 + (RLENGTH < fence_indent ? RLENGTH : fence_indent)))
  }
  next
}

/^##? / {
  if (open) problem("no </details> for the hint of line " open)
  in_section = ($0 ~ /^## Hints *$/)
  next
}
!in_section { next }

/<details/ || awaiting {
  if (open) problem("no </details> for the hint of line " open)
  if ($0 !~ /<summary>.*<\/summary>/) {
    # The summary may have a line of its own.
    if (awaiting > 1) problem("<details> without <summary>Hint " hints + 1 "</summary>")
    ++awaiting
    next
  }
  awaiting = 0
  summary = $0
  sub(/.*<summary> */, "", summary)
  sub(/ *<\/summary>.*/, "", summary)
  gsub(/<[^>]*>/, "", summary)
  begin_hint()
  next
}
/<\/details>/ {
  if (!open) problem("</details> without <details>")
  flush()
  open = 0
  next
}
/<summary/ { problem("<summary> without <details>") }
!open { next }

/^[ \t]*$/ {
  flush()
  put("")
  next
}
# Tables stay as they are.
/^ *\|/ {
  flush()
  put("  " $0)
  next
}
/^ *#+ / {
  flush()
  sub(/^ *#+ /, "")
  put("")
  put("  " readable($0))
  put("")
  next
}
/^ *([-*+]|[0-9]+[.)]) / {
  flush()
  match($0, /^ *([-*+]|[0-9]+[.)]) +/)
  lead = "  " substr($0, 1, RLENGTH)
  sub(/[*+] +$/, "- ", lead)
  hang = lead
  gsub(/[^ ]/, " ", hang)
  item = hang
  paragraph = substr($0, RLENGTH + 1)
  next
}
{
  sub(/^ *> ?/, "")
  if (paragraph == "") {
    # A paragraph may go on in an item.
    if ($0 !~ /^  /) item = ""
    lead = hang = item == "" ? "  " : item
  }
  sub(/^ +/, "")
  paragraph = paragraph (paragraph == "" ? "" : " ") $0
}

END {
  if (failed) exit 1
  if (fence && open) { FNR = fence; problem("code without an end") }
  if (open) { FNR = open; problem("no </details> for this hint") }
  if (awaiting) problem("<details> without <summary>Hint " hints + 1 "</summary>")
  if (!want) print hints
}
