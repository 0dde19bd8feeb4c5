# Fits Markdown into the columns of a terminal. guide.sh and hint.sh call it, with LC_ALL=C, so that every awk counts
# bytes and this file counts characters.
#
#   width=N       the columns
#   styled=1      bold and italics as a terminal has them; without it the one star stays
#   folder=PATH   the folder of the text: links to other files are printed relative to the lab's top
#
# Paragraphs and lists are broken anew, tables are fitted, code stays as it is. A blank as \037 breaks no line.

# Characters, without those that begin and end a style (\002 to \005).
function columns(s) {
  gsub(/[\002-\005\200-\277]/, "", s)
  return length(s)
}

function repeated(s, count,    all) {
  for (all = ""; count > 0; --count) all = all s
  return all
}

# The path of a link in the text's folder, from the lab's top.
function from_top(path,    parts, count, k, kept, whole) {
  sub(/#.*/, "", path)
  count = split(folder "/" path, parts, "/")
  kept = 0
  for (k = 1; k <= count; ++k) {
    if (parts[k] == "..") --kept
    else if (parts[k] != "." && parts[k] != "") parts[++kept] = parts[k]
  }
  for (k = 1; k <= kept; ++k) whole = whole (k > 1 ? "/" : "") parts[k]
  return whole
}

# What a link [text](target) becomes. At the beginning of a list item the address is what counts, so it follows.
function link(label, target, begins_item,    plain) {
  if (target ~ /^https?:/) {
    if (begins_item) addresses = addresses " " target
    return label
  }
  if (target ~ /^#/) return label
  target = from_top(target)
  plain = label
  gsub(/[`\002-\005]/, "", plain)
  return index(plain, target) ? label : label " (" target ")"
}

# Words with their links, emphasis and entities, for a terminal.
function inline(s, begins_item,    out, c, rest, at, depth, k, label, target) {
  out = ""
  while (s != "") {
    c = substr(s, 1, 1)
    if (c == "`") {
      match(s, /^`+/)
      label = substr(s, 1, RLENGTH)
      at = index(substr(s, RLENGTH + 1), label)
      k = at ? 2 * RLENGTH + at - 1 : RLENGTH
      label = substr(s, 1, k)
      s = substr(s, k + 1)
      # What is typed stays in one line if it is short.
      if (columns(label) <= 30) gsub(/ /, "\037", label)
      out = out label
    } else if (c == "\\" && s ~ /^\\[!-\/:-@\[-`{-~]/) {
      out = out substr(s, 2, 1)
      s = substr(s, 3)
    } else if (c == "[" || substr(s, 1, 2) == "![") {
      depth = 0
      for (k = 1; k <= length(s); ++k) {
        rest = substr(s, k, 1)
        if (rest == "[") ++depth
        if (rest == "]" && !--depth) break
      }
      if (substr(s, k + 1, 1) == "(" && (at = index(substr(s, k + 2), ")"))) {
        label = substr(s, 1, k - 1)
        target = substr(s, k + 2, at - 1)
        sub(/ .*/, "", target)
        if (c == "!") out = out "(picture:\037" from_top(target) ")"
        else out = out link(inline(substr(label, 2), 0), target, begins_item && out == "")
        s = substr(s, k + 2 + at)
      } else {
        out = out c
        s = substr(s, 2)
      }
    } else if (substr(s, 1, 2) == "**") {
      bold = !bold
      if (styled) out = out (bold ? "\002" : "\003")
      s = substr(s, 3)
    } else if (c == "*" && (italic || s ~ /^\*[^ ]/)) {
      italic = !italic
      out = out (styled ? (italic ? "\004" : "\005") : "*")
      s = substr(s, 2)
    } else if (match(s, /^&(lt|gt|amp|nbsp);/)) {
      k = substr(s, 2, RLENGTH - 2)
      out = out (k == "lt" ? "<" : k == "gt" ? ">" : k == "amp" ? "&" : "\037")
      s = substr(s, RLENGTH + 1)
    } else {
      # Up to the next character that means something.
      match(substr(s, 2), /[`\\\[!*&]/)
      k = RSTART ? RSTART : length(s)
      out = out substr(s, 1, k)
      s = substr(s, k + 1)
    }
  }
  return out
}

function inlined(s, begins_item) {
  bold = italic = 0
  return inline(s, begins_item)
}

# A line, its styles as the terminal wants them. Those that go on in the next line are begun there anew.
function put(line) {
  gsub(/\037/, " ", line)
  sub(/ +$/, "", line)
  if (styled) {
    line = carried line
    carried = open_at_end(line, "\002", "\003") open_at_end(line, "\004", "\005")
    gsub(/\002/, "\033[1m", line)
    gsub(/\003/, "\033[22m", line)
    gsub(/\004/, "\033[3m", line)
    gsub(/\005/, "\033[23m", line)
    if (carried != "") line = line "\033[0m"
  }
  print line
}

function open_at_end(line, begin, end,    begins, ends) {
  begins = gsub(begin, "", line)
  ends = gsub(end, "", line)
  return begins > ends ? begin : ""
}

# wrap(TEXT, COLUMNS): sets row[1..] to its lines; returns how many.
function wrap(s, room,    words, count, k, n) {
  n = 1
  row[1] = ""
  count = split(s, words, " ")
  for (k = 1; k <= count; ++k) {
    if (row[n] == "") row[n] = words[k]
    else if (columns(row[n]) + 1 + columns(words[k]) <= room) row[n] = row[n] " " words[k]
    else row[++n] = words[k]
  }
  return n
}

# The paragraph or list item that has been collected.
function put_paragraph(    n, k, after, addressed, count) {
  if (paragraph == "") return
  addresses = ""
  after = repeated(" ", columns(before))
  if (before ~ /^ *>/) after = before
  n = wrap(inlined(paragraph, before ~ /[^ ]/), width - columns(before))
  for (k = 1; k <= n; ++k) put((k == 1 ? before : after) row[k])
  count = split(addresses, addressed, " ")
  for (k = 1; k <= count; ++k) put(after addressed[k])
  paragraph = ""
}

function put_heading(line,    level) {
  match(line, /^#+/)
  level = RLENGTH
  line = inlined(substr(line, level + 2), 0)
  put((styled ? "\002" : "") line (styled ? "\003" : ""))
  if (level < 3) put(repeated(level == 1 ? "=" : "-", columns(line) < width ? columns(line) : width))
}

# Code, indented by four if there is room.
function put_code(    k, line, longest, margin) {
  longest = 0
  for (k = 1; k <= codes; ++k) if (columns(code[k]) > longest) longest = columns(code[k])
  margin = fence + 4
  if (margin > width - longest) margin = width - longest
  for (k = 1; k <= codes; ++k) {
    line = repeated(" ", margin) code[k]
    sub(/ +$/, "", line)
    print line
  }
  codes = 0
}

# cells(LINE): sets cell[1..] to the cells of a line of a table, returns how many there are.
function cells(line, of_head,    parts, n, k) {
  gsub(/\\\|/, "\006", line)
  gsub(/^ *\| *| *\| *$/, "", line)
  n = split(line, parts, / *\| */)
  for (k = 1; k <= n; ++k) {
    gsub(/\006/, "|", parts[k])
    cell[k] = of_head ? parts[k] : inlined(parts[k], 0)
    # A number keeps its unit.
    if (cell[k] ~ /^[-+0-9.,]+ [^ ]+$/) sub(/ /, "\037", cell[k])
  }
  return n
}

function longest_word(s,    words, count, k, longest) {
  count = split(s, words, " ")
  for (k = 1; k <= count; ++k) if (columns(words[k]) > longest) longest = columns(words[k])
  return longest + 0
}

function aligned(s, room, right,    pad) {
  pad = repeated(" ", room - columns(s))
  return right ? pad s : s pad
}

# The table that has been collected: table[1..rows], of which the second line says how columns are aligned.
function put_table(    r, c, count, n, k, widest, total, fits, high, text, wide, least, right, value, lines_of) {
  count = cells(table[2], 1)
  for (c = 1; c <= count; ++c) {
    right[c] = cell[c] ~ /:$/ && cell[c] !~ /^:/
    wide[c] = least[c] = 1
  }
  for (r = 1; r <= rows; ++r) {
    if (r == 2) continue
    n = cells(table[r], 0)
    for (c = 1; c <= count; ++c) {
      value[r, c] = c <= n ? cell[c] : ""
      if (columns(value[r, c]) > wide[c]) wide[c] = columns(value[r, c])
      if (longest_word(value[r, c]) > least[c]) least[c] = longest_word(value[r, c])
    }
  }
  total = 2 * (count - 1)
  for (c = 1; c <= count; ++c) total += wide[c]
  fits = total <= width
  # The widest column gives way.
  while (total > width) {
    widest = 0
    for (c = 1; c <= count; ++c) if (wide[c] > least[c] && (!widest || wide[c] > wide[widest])) widest = c
    if (!widest) break
    --wide[widest]
    --total
  }
  if (total > width) {
    put_records(count, value)
    return
  }
  for (r = 1; r <= rows; ++r) {
    if (r == 2) {
      text = ""
      for (c = 1; c <= count; ++c) text = text (c > 1 ? "  " : "") repeated("-", wide[c])
      put(text)
      continue
    }
    # Cells of several lines are told apart by an empty one.
    if (!fits && r > 3) put("")
    high = 1
    for (c = 1; c <= count; ++c) {
      n = wrap(value[r, c], wide[c])
      if (n > high) high = n
      for (k = 1; k <= n; ++k) lines_of[c, k] = row[k]
      for (; (c, k) in lines_of; ++k) delete lines_of[c, k]
    }
    for (k = 1; k <= high; ++k) {
      text = ""
      for (c = 1; c <= count; ++c)
        text = text (c > 1 ? "  " : "") aligned((c, k) in lines_of ? lines_of[c, k] : "", wide[c], right[c])
      put(text)
    }
  }
}

# A table that is too wide: each of its rows as lines "head: value".
function put_records(count, value,    r, c, wide) {
  for (c = 2; c <= count; ++c) if (columns(value[1, c]) > wide) wide = columns(value[1, c])
  if (wide > width / 2) wide = int(width / 2)
  for (r = 3; r <= rows; ++r) {
    if (r > 3) put("")
    put(value[r, 1])
    for (c = 2; c <= count; ++c) {
      if (value[r, c] != "") put_pair(value[1, c], value[r, c], wide)
    }
  }
}

function put_pair(head, value, wide,    n, k, heads, name) {
  heads = wrap(head, wide)
  for (k = 1; k <= heads; ++k) name[k] = row[k]
  n = wrap(value, width - wide - 4)
  for (k = 1; k <= n || k <= heads; ++k)
    put("  " aligned(k <= heads ? name[k] : "", wide, 0) "  " (k <= n ? row[k] : ""))
}

function finish() {
  put_paragraph()
  if (rows > 2) put_table()
  else if (rows) for (; shown < rows;) put(table[++shown])
  rows = shown = 0
}

in_code {
  line = $0
  if (in_quote) sub(/^ *> ?/, "", line)
  if (line ~ /^ *``` *$/) {
    in_code = in_quote = 0
    put_code()
  } else {
    if (fence && substr(line, 1, fence) ~ /^ *$/) line = substr(line, fence + 1)
    code[++codes] = line
  }
  next
}
/^ *(> *)?```/ {
  finish()
  in_quote = $0 ~ /^ *>/
  match($0, /^ */)
  fence = RLENGTH
  in_code = 1
  next
}
/^ *>? *$/ {
  finish()
  print ""
  next
}
/^ *\|/ {
  put_paragraph()
  table[++rows] = $0
  next
}
/^#+ / {
  finish()
  put_heading($0)
  next
}
/^ *([-*+]|[0-9]+[.)]) / || /^ *> ?/ && paragraph == "" {
  finish()
  match($0, /^ *([-*+]|[0-9]+[.)]|>) */)
  before = substr($0, 1, RLENGTH)
  paragraph = substr($0, RLENGTH + 1)
  next
}
{
  if (rows) finish()
  line = $0
  if (paragraph == "") {
    match(line, /^ */)
    before = substr(line, 1, RLENGTH)
  } else if (before ~ /^ *>/) sub(/^ *> ?/, "", line)
  sub(/^ */, "", line)
  paragraph = paragraph (paragraph == "" ? "" : " ") line
}
END { finish() }
