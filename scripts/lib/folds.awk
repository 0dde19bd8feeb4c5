# Prints a guide, or a part of it, without HTML comments and with each closed fold (<details>) as one line that says
# how to open it. guide.sh and hint.sh call it; layout.awk fits what it prints into a terminal.
#
#   show=""       the whole guide, all folds closed; "all": all open
#   show=NUMBER   one fold, with its heading and the paragraph before it
#   show=WORD     the sections of that word (part_of), all folds in them open
#   hint=K        the K-th fold of the section "## Hints", without its number
#   list=1        one line: how many folds there are, how many hints, and the words of its sections
#   step=STEP=NN  for the lines that say how to open a fold
#
# A fold begins with a line "<details>", in which the summary may follow, and ends with a line "</details>". A fold
# in a fold is part of it. The exit code is 1 if a fold or a code block has no end.

# The word that opens all folds of a section.
function part_of(heading) {
  if (heading ~ /^(Predict|Your predictions)/) return "predictions"
  if (heading ~ /^Hints/) return "hints"
  if (heading ~ /^(What to look for|Profile|Measured)/) return "measured"
  if (heading ~ /^Questions/) return "questions"
  if (heading ~ /^Answer/) return "answer"
  if (heading ~ /^(More|Elsewhere|Read on)/) return "more"
  return ""
}

# The line without comments; one may go over several lines. In `code` there is none.
function without_comments(line,    kept, at) {
  if (comment) {
    if (!(at = index(line, "-->"))) return ""
    line = substr(line, at + 3)
    comment = 0
  }
  while (at = index(line, "<!--")) {
    kept = kept substr(line, 1, at - 1)
    line = substr(line, at + 4)
    if (gsub(/`/, "`", kept) % 2) kept = kept "<!--"
    else if (at = index(line, "-->")) line = substr(line, at + 3)
    else {
      comment = 1
      return kept
    }
  }
  return kept line
}

# A line of the guide, in the section and in the fold that it belongs to (0: in none).
function keep(line) {
  text[++lines] = line
  section_of[lines] = section
  fold_of[lines] = depth ? folds : 0
}

{
  line = $0
  sub(/\r$/, "", line)
  if (!comment && line ~ /^ *```/) code = !code
  else if (!code) {
    had = line
    line = without_comments(line)
    # A comment with lines of its own leaves no line.
    if (line ~ /^ *$/ && had !~ /^ *$/) next
    if (summary) {
      title[folds] = title[folds] " " line
    } else if (line ~ /^ *<details[^>]*>/) {
      sub(/^ *<details[^>]*> */, "", line)
      if (!depth++) {
        begins[++folds] = lines + 1
        keep("")
      }
      if (line == "") next
    }
    if (line ~ /^ *<summary>/) {
      sub(/^ *<summary> */, "", line)
      if (depth > 1) {
        gsub(/<[^>]*>/, "", line)
        keep("**" line "**")
        next
      }
      title[folds] = line
      summary = 1
    }
    if (summary) {
      if (!index(title[folds], "</summary>")) next
      sub(/ *<\/summary>.*/, "", title[folds])
      gsub(/<\/?code>/, "`", title[folds])
      gsub(/<\/?b>/, "", title[folds])
      summary = 0
      if (section_heading ~ /^Hints *$/) hint_is[++hints] = folds
      next
    }
    if (depth && line ~ /^ *<\/details> *$/) {
      if (!--depth) ends[folds] = lines
      next
    }
    if (!depth && line ~ /^##? /) {
      ++section
      section_heading = line
      sub(/^#+ */, "", section_heading)
      part[section] = line ~ /^## / ? part_of(section_heading) : ""
      first[section] = lines + 1
    }
  }
  keep(line)
}

function put(line) {
  # One empty line between paragraphs, none at the beginning.
  if (line == "") {
    gap = printed
    return
  }
  if (gap) print ""
  gap = 0
  printed = 1
  print line
}

function put_lines(from, to,    k) { for (k = from; k <= to; ++k) put(text[k]) }

# The fold's line, and if it is open what is in it.
function put_fold(number, open) {
  put("")
  if (open) put("**[" number "] " title[number] "**")
  else put("[" number "] " title[number] " (make\037guide\037" step "\037SHOW=" number ")")
  put("")
  if (open) put_lines(begins[number] + 1, ends[number])
  put("")
}

function put_section(number, open,    k) {
  for (k = first[number]; k <= lines && section_of[k] == number; ++k) {
    if (!fold_of[k]) put(text[k])
    else if (k == begins[fold_of[k]]) put_fold(fold_of[k], open)
  }
}

# The heading above the fold, and the paragraph that it answers.
function put_question(number,    from, k) {
  put(text[first[section_of[begins[number]]]])
  put("")
  for (k = begins[number] - 1; k > 0 && text[k] == ""; --k) continue
  if (k > 0 && !fold_of[k] && text[k] !~ /^#/) {
    for (from = k; text[from - 1] !~ /^(#.*)?$/ && !fold_of[from - 1]; --from) continue
    put_lines(from, k)
  }
}

END {
  if (depth || code || summary) exit 1
  if (list) {
    for (k = 1; k <= section; ++k) if (part[k] != "" && !said[part[k]]++) words = words " " part[k]
    print folds + 0, hints + 0 words
  } else if (hint) {
    number = hint_is[hint]
    if (sub(/^Hint [0-9]+: */, "", title[number])) put(title[number])
    put("")
    put_lines(begins[number] + 1, ends[number])
  } else {
    whole = show == "" || show == "all"
    if (!whole) put_lines(1, 1)
    put("")
    if (show + 0) {
      put_question(show + 0)
      put_fold(show + 0, 1)
    } else for (k = whole ? 0 : 1; k <= section; ++k) if (whole || part[k] == show) put_section(k, show != "")
  }
}
