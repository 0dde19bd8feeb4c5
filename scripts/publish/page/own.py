"""What is the learner's own: predictions, times and kernels, beside the measured ones and the solutions'."""

import re

from labtools.files import RESULTS, ROOT, steps
from labtools.guide import Guide, with_answers
from labtools.progress import is_done, kept, rows
from labtools.table import Table
from page.parts import cell, data_table, text

# Also the functions that kernels call.
KERNEL = re.compile(r"^(?:template[^\n]*\n)?__(?:global|device)__ (?:[^\n]*\}$|.*?^\})", re.MULTILINE | re.DOTALL)
SIDES = ("yours", "the solution's")


def nothing(what, how):
    return f'<p class="missing"><strong>Nothing yet:</strong> {text(what)} <code>{text(how)}</code>.</p>'


def inline(markdown):
    """A cell of a guide's table: `code` and *emphasis*, and backslashes before signs that are none."""
    words = re.sub(r"\\(.)", lambda sign: f"\0{ord(sign[1])}\0", markdown.strip())
    words = re.sub(r"`([^`]*)`", r"<code>\1</code>", text(words))
    words = re.sub(r"\*([^*]+)\*", r"<em>\1</em>", words)
    return re.sub("\0(\\d+)\0", lambda sign: text(chr(int(sign[1]))), words)


def predictions(step, title, answers):
    """The guide's table of predictions, with the learner's."""
    guide = Guide((ROOT / "exercises" / step / "README.md").read_text(encoding="utf-8"))
    table = [[inline(part) for part in re.split(r"(?<!\\)\|", line)[1:-1]]
             for line in with_answers(guide.compared(), answers).splitlines() if line.startswith("|")]
    if len(table) < 3:
        return ""
    columns = [(name, lambda row, k=k: row[k]) for k, name in enumerate(table[0])]
    return data_table(f"Step {step[:2]}, {title}: your predictions", columns,
                      [row for row in table[2:] if len(row) == len(columns)])


def kernels(step, source, title):
    """The kernels that are not word for word the other file's, side by side."""
    codes = ((ROOT / folder / step / source).read_text(encoding="utf-8", errors="replace")
             for folder in ("exercises", "solutions"))
    found = [{" ".join(kernel.split()): kernel for kernel in KERNEL.findall(code)} for code in codes]
    if not found[0]:
        return ""
    own, solution = ([kernel for words, kernel in one.items() if words not in other]
                     for one, other in (found, found[::-1]))
    if not own + solution:
        return f"<p>Step {step[:2]}, {text(title)}: your kernels are the solution's, word for word.</p>"
    sides = "".join(f"<div><b>{words}</b><pre>{text((chr(10) * 2).join(side) or 'no other kernel')}</pre></div>"
                    for words, side in zip(SIDES, (own, solution)))
    return (f"<details><summary>Step {step[:2]}, {text(title)}: your kernels and the solution's</summary>"
            f'<div class="sides">{sides}</div></details>')


def own_section():
    published = Table(RESULTS / "ladder.tsv")
    asked, timed = kept("predictions.tsv"), kept("progress_times.tsv")
    begun = [row for row in rows() if row.step in asked or row.ms != "-" or row.date != "-" or
             not re.match("unchanged|no task|missing|skipped", row.state)]
    if not begun:
        return nothing("change an exercise, and check it:", "make check STEP=04")
    finished = {row.step for row in begun if is_done(row)}
    solutions = {row["step"]: row for row in published.rows}
    sizes = {step.name: step.n for step in steps()}
    on = published.fact("gpu").replace("NVIDIA ", "")

    def measured(row):
        """The solution's time, if it is of the step's n."""
        other = solutions.get(row.step, {})
        return cell(other.get("ms")) if other.get("n") == str(sizes[row.step]) else "–"

    parts = [data_table("How far you are, and ms per iteration at the step's n", [
        ("step", lambda row: f"<strong>{text(row.step[:2])}</strong> {text(row.step[3:].replace('_', ' '))}"),
        ("state", lambda row: text(row.state)), ("last check", lambda row: "–" if row.date == "-" else text(row.date)),
        ("n", lambda row: text(sizes[row.step])), ("your ms", lambda row: cell(row.ms)),
        (f"the solution's, {text(on)}", measured)], begun)]
    devices = sorted({timed[row.step][4] for row in begun if row.ms != "-"})
    parts.append(f'<p class="source">Your times: {text(", ".join(devices))}</p>' if devices else
                 nothing("on a GPU your exercises are timed by", "make progress TIME=1"))
    titles = {step.name: (step.source, step.title) for step in steps()}
    parts += [predictions(step, titles[step][1], asked[step]) for step in titles if step in asked and step in finished]
    if waiting := [step[:2] for step in titles if step in asked and step not in finished]:
        parts.append(f"<p>Your predictions of {text(', '.join(waiting))} are kept. They are shown beside the measured "
                     "ones when the step is done.</p>")
    if not asked:
        parts.append(nothing("your predictions are kept by", "make predict STEP=04"))
    parts += [kernels(step, *titles[step]) for step in titles if step in finished]
    return "".join(parts)
