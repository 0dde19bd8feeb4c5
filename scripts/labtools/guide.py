"""A guide: its sections and folds, and its Markdown fitted into the columns of a terminal.

A fold is a line "<details><summary>TITLE</summary>" and what follows, up to a line "</details>".
"""

import collections
import itertools
import posixpath
import re

PARTS = (("predictions", r"Predict|Your predictions"), ("hints", "Hints"), ("measured", "What to look for|Profile|Measured"),
         ("questions", "Questions"), ("answer", "Answer"), ("more", "More|Elsewhere|Read on"))
# Code, in which comments stay; or a comment, with its line if it has no other text.
CODE_OR_COMMENT = re.compile(r"(^ *```.*?^ *```.*?$|`[^`\n]+`)|"
                             r"^ *<!--(?:(?!-->).)*-->\n|<!--.*?-->", re.DOTALL | re.MULTILINE)
BLANK = "\x06"  # breaks no line
BOLD, NOT_BOLD, ITALIC, NOT_ITALIC = "\x02\x03\x04\x05"
STYLES = {BOLD: "\033[1m", NOT_BOLD: "\033[22m", ITALIC: "\033[3m", NOT_ITALIC: "\033[23m"}


def without_comments(markdown):
    """The text without HTML comments, which stay in code. A comment with lines of its own leaves no line."""
    return CODE_OR_COMMENT.sub(lambda match: match[1] or "", markdown)


Fold = collections.namedtuple("Fold", "number title lines")


class Section:
    """A heading and what follows: lines, and folds."""

    def __init__(self, heading):
        title = heading[3:] if heading.startswith("## ") else ""
        self.heading, self.items = heading, [heading]
        self.part = next((word for word, titles in PARTS if re.match(titles, title)), None)


class Guide:
    def __init__(self, markdown, step=""):
        self.step, self.sections, self.folds = step, [Section("")], []
        fold, code = None, False
        for line in without_comments(markdown).splitlines():
            is_fence = re.match(" *```", line) is not None
            code ^= is_fence
            in_code = code or is_fence
            if not in_code and (summary := re.match("<details><summary>(.*)</summary>", line)):
                title = re.sub("</?code>", "`", re.sub("</?b>", "", summary[1]))
                fold = Fold(len(self.folds) + 1, title, [])
                self.folds.append(fold)
                self.sections[-1].items.append(fold)
            elif not in_code and fold and re.fullmatch("</details> *", line):
                fold = None
            elif not in_code and not fold and re.match("##? ", line):
                self.sections.append(Section(line))
            else:
                (fold.lines if fold else self.sections[-1].items).append(line)
        self.hints = [item for section in self.sections if section.part == "hints"
                      for item in section.items if isinstance(item, Fold)]

    def words(self):
        """The words for its sections, in their order."""
        return list(dict.fromkeys(section.part for section in self.sections if section.part))

    def shown(self, show):
        """Markdown: all of it, or what `show` names."""
        if show in ("", "all"):
            return self.joined([self.of_section(section, show == "all") for section in self.sections])
        if show.isdigit():
            fold = self.folds[int(show) - 1]
            parts = [self.question(fold), self.of_fold(fold, True)]
        else:
            parts = [self.of_section(section, True) for section in self.sections if section.part == show]
        return self.joined([*(section.heading for section in self.sections[1:2]), "", *parts])

    def hint(self, number):
        fold = self.hints[number - 1]
        title = re.fullmatch("Hint [0-9]+: *(.*)", fold.title)
        return self.joined([title[1] if title else "", "", *fold.lines])

    @staticmethod
    def joined(parts):
        """One empty line between paragraphs, none at the beginning."""
        return re.sub("\n{3,}", "\n\n", "\n".join(parts)).strip("\n")

    def of_section(self, section, is_open):
        return "\n".join(item if isinstance(item, str) else self.of_fold(item, is_open) for item in section.items)

    def of_fold(self, fold, is_open):
        if is_open:
            return "\n".join(["", f"**[{fold.number}] {fold.title}**", "", *fold.lines, ""])
        return f"\n[{fold.number}] {fold.title} ({BLANK.join(['make', 'guide', self.step, f'SHOW={fold.number}'])})\n"

    def question(self, fold):
        """The heading above the fold, and the paragraph that it answers."""
        section = next(section for section in self.sections if fold in section.items)
        above = itertools.dropwhile(lambda item: item == "", reversed(section.items[1:section.items.index(fold)]))
        paragraph = list(itertools.takewhile(lambda item: isinstance(item, str) and item != "", above))
        return "\n".join([section.heading, "", *reversed(paragraph)])

    def questions(self):
        """Those of the section "Predict", in Markdown, without their numbers."""
        lines = [line for section in self.sections if section.heading.startswith("## Predict")
                 for line in section.items if isinstance(line, str)]
        # What stands below an empty line is part of it if it is indented.
        return re.findall(r"^[0-9]+\. +(.+(?:\n(?![0-9]+\. ).+|\n+ .+)*)", "\n".join(lines), re.MULTILINE)

    def compared(self):
        return self.joined([self.of_section(section, True) for section in self.sections
                            if section.heading.startswith("## Your predictions")])


def with_answers(markdown, answers):
    """The first table of "Your predictions" has a column more, with the learner's answers."""
    table = re.search(r"^## Your predictions(?:.|\n)*?^((?:\|.*\n?)+)", markdown, re.MULTILINE)
    if not answers or not table:
        return markdown
    rows = []
    for k, line in enumerate(table[1].splitlines()):
        number = int(re.match(r"\| *([0-9]*)", line)[1] or 0)
        own = ("yours", "---")[k] if k < 2 else ""
        if 0 < number <= len(answers):
            own = re.sub(r"[\\`*\[!&<|]", r"\\\g<0>", answers[number - 1])
        at = line.index("|", 1)
        rows.append(f"{line[:at + 1]} {own} {line[at:]}")
    return markdown.replace(table[1].strip("\n"), "\n".join(rows))


def columns(text):
    return len(re.sub(f"[{BOLD}-{NOT_ITALIC}]", "", text))


def wrapped(text, room):
    rows = [""]
    for word in filter(None, text.split(" ")):
        if rows[-1] and columns(rows[-1]) + 1 + columns(word) > room:
            rows.append(word)
        else:
            rows[-1] += (" " if rows[-1] else "") + word
    return rows


def aligned(text, room, right=False):
    pad = " " * (room - columns(text))
    return pad + text if right else text + pad


INLINE = re.compile(r"(?P<code>(`+).*?\2)|\\(?P<escaped>[!-/:-@\[-`{-~])|"
                    r"(?P<picture>!?)\[(?P<label>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^) ]*)[^)]*\)|"
                    r"\*\*(?P<bold>(?:`[^`]*`|\\.|[^\\])+?)\*\*|\*(?P<italic>(?! )(?:`[^`]*`|\\.|[^\\])+?)\*|"
                    r"&(?P<entity>lt|gt|amp|nbsp);")


class Layout:
    """Fits Markdown into a terminal: paragraphs and lists are broken anew, tables are fitted, code stays as it is."""

    def __init__(self, width, styled, folder):
        self.width, self.styled, self.folder = width, styled, folder
        self.lines, self.carried = [], ""
        self.before, self.paragraph, self.table, self.code = "", "", [], None

    def path(self, target):
        """The path of a link in the text's folder, from the lab's top."""
        return posixpath.normpath(posixpath.join(self.folder, target.partition("#")[0]))

    def inline(self, text, begins_item=False):
        """Words with their links, emphasis and entities, for a terminal. A link at the beginning of a list's item is put
        into `addresses`."""
        self.addresses = []

        def replaced(match):
            if match["code"]:  # what is typed stays in one line if it is short
                return match[0].replace(" ", BLANK) if len(match[0]) <= 30 else match[0]
            if match["escaped"]:
                return match["escaped"]
            if match["entity"]:
                return {"lt": "<", "gt": ">", "amp": "&", "nbsp": BLANK}[match["entity"]]
            if match["bold"]:
                words = INLINE.sub(replaced, match["bold"])
                return BOLD + words + NOT_BOLD if self.styled else words
            if match["italic"]:
                words = INLINE.sub(replaced, match["italic"])
                return ITALIC + words + NOT_ITALIC if self.styled else f"*{words}*"
            target = match["target"]
            label = INLINE.sub(replaced, match["label"])
            if match["picture"]:  # the words for those who cannot see it, then where it is
                return f"(picture:{BLANK}{label}{'; ' if label else ''}{self.path(target)})"
            if re.match("https?:", target):
                if begins_item and match.string is text and match.start() == 0:
                    self.addresses.append(target)
                return label
            path = self.path(target)
            told = target.startswith("#") or path in re.sub(f"[`{BOLD}-{NOT_ITALIC}]", "", label)
            return label if told else f"{label} ({path})"

        return INLINE.sub(replaced, text)

    def put(self, line):
        """A line; a style that goes on in the next one is begun there anew."""
        line = line.replace(BLANK, " ").rstrip(" ")
        if self.styled:
            line = self.carried + line
            self.carried = "".join(begin for begin, end in ((BOLD, NOT_BOLD), (ITALIC, NOT_ITALIC))
                                   if line.count(begin) > line.count(end))
            line = "".join(STYLES.get(character, character) for character in line) + ("\033[0m" if self.carried else "")
        self.lines.append(line)

    def finish(self):
        """Puts the paragraph, the item or the table that has been collected."""
        if self.paragraph:
            after = self.before if ">" in self.before else " " * len(self.before)
            rows = wrapped(self.inline(self.paragraph, self.before.strip() != ""), self.width - len(self.before))
            for prefix, row in zip(itertools.chain([self.before], itertools.repeat(after)), rows + self.addresses):
                self.put(prefix + row)
        if self.table:
            self.put_table([self.cells(line) for line in self.table])
        self.paragraph, self.table = "", []

    def put_heading(self, line):
        level, _, words = line.partition(" ")
        words = self.inline(words)
        self.put(BOLD + words + NOT_BOLD if self.styled else words)
        self.put("=-."[min(len(level), 3) - 1] * min(columns(words), self.width))

    def cells(self, line):
        parts = re.split(r" *(?<!\\)\| *", re.sub(r"^ *\| *| *(?<!\\)\| *$", "", line))
        found = [self.inline(part.replace("\\|", "|")) for part in parts]
        return [cell.replace(" ", BLANK) if re.fullmatch("[-+0-9.,]+ [^ ]+", cell) else cell for cell in found]  # a unit

    def put_table(self, rows):
        """The second row says how columns are aligned. The widest column gives way."""
        right = [cell.endswith(":") and not cell.startswith(":") for cell in rows.pop(1)]
        all_columns = list(zip(*rows))
        wide = [max(1, *map(columns, cells)) for cells in all_columns]
        least = [max(1, *(columns(word) for cell in cells for word in cell.split(" "))) for cells in all_columns]
        room = self.width - 2 * (len(wide) - 1)
        if sum(least) > room:
            self.put_records(rows)
            return
        while sum(wide) > room:
            wide[max((k for k in range(len(wide)) if wide[k] > least[k]), key=wide.__getitem__)] -= 1
        rows = [list(itertools.zip_longest(*map(wrapped, row, wide), fillvalue="")) for row in rows]
        apart = any(len(lines) > 1 for lines in rows[1:])  # an empty line between rows, if one has several lines
        for k, lines in enumerate(rows):
            if k == 1:
                self.put("  ".join("-" * one for one in wide))
            elif k > 1 and apart:
                self.put("")
            for parts in lines:
                self.put("  ".join(map(aligned, parts, wide, right)))

    def put_records(self, rows):
        """A table that is too wide: each of its rows as lines "head: value"."""
        heads, *records = rows
        wide = min(max(map(columns, heads[1:]), default=0), self.width // 2)
        for k, record in enumerate(records):
            if k:
                self.put("")
            self.put(record[0])
            for head, value in zip(heads[1:], record[1:]):
                if value:
                    pairs = itertools.zip_longest(wrapped(head, wide), wrapped(value, self.width - wide - 4), fillvalue="")
                    for name, words in pairs:
                        self.put(f"  {aligned(name, wide)}  {words}")

    def take(self, line):
        if self.code is not None:
            line = re.sub("^ *> ?", "", line) if self.in_quote else line
            if re.fullmatch(" *``` *", line):
                # Indented by four if there is room.
                margin = min(self.fence + 4, self.width - max(map(len, self.code), default=0))
                self.lines += [(" " * margin + line).rstrip(" ") for line in self.code]
                self.code = None
            else:
                self.code.append(line[self.fence:] if not line[:self.fence].strip(" ") else line)
        elif re.match(" *(> *)?```", line):
            self.finish()
            self.code, self.in_quote, self.fence = [], line.lstrip(" ").startswith(">"), len(line) - len(line.lstrip(" "))
        elif re.fullmatch(" *>? *", line):
            self.finish()
            self.lines.append("")
        elif re.match(r" *\|", line):
            if self.paragraph:
                self.finish()
            self.table.append(line)
        elif re.match("#+ ", line):
            self.finish()
            self.put_heading(line)
        elif re.match(r" *([-*+]|[0-9]+[.)]) ", line) or re.match(" *>", line) and not self.paragraph:
            self.finish()
            self.before = re.match(r" *([-*+]|[0-9]+[.)]|>) *", line)[0]
            self.paragraph = line[len(self.before):]
        else:
            if self.table:
                self.finish()
            if not self.paragraph:
                self.before = re.match(" *", line)[0]
            elif ">" in self.before:
                line = re.sub("^ *> ?", "", line)
            self.paragraph += (" " if self.paragraph else "") + line.lstrip(" ")

    def text(self, markdown):
        for line in markdown.split("\n"):
            self.take(line)
        self.finish()
        return "\n".join(self.lines)
