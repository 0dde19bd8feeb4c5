"""What scripts/publish/scaling.py measured: its file, the model on paper, the picture. tables.py writes both into the guides.

The model knows how many rows go through the warps of a rank (the solutions' files say that of n and the number of
ranks), how many bytes neighbours exchange, and at most five figures of step 14 and four of step 15, which it fits to
the times of one and two ranks. What it says of more ranks it says beforehand."""

import math
import re

from labtools import charts
from labtools.files import ROOT, write_aside
from labtools.process import fail
from labtools.table import read_table

FILE = ROOT / "results/h200/scaling.tsv"
STRONG = (16384, 32768, 65536)
WEAK = {1: (16384, 32768), 2: (23170, 46341), 4: (32768, 65536)}  # n * n / ranks is the same in each column
LARGEST = 131072
PASS, CHECK_OFTEN = 12, 12  # sweeps
# What the model takes from the solutions' files.
CONSTANTS = {"14": ("kLevels", "kWarps", "kBlocks"), "15": ("kLevels", "kWarps", "kAbreast")}

# The model. All times are of a pass, in microseconds; rows and sweeps are what the solutions' files make of n.

HOSTS = (64, 4)  # nodes, and GPUs of each, of the machine that nobody here has
LINK_GB_PER_S = 25  # of one NVLink of the fourth generation, each way: NV18 is 18 of them
NODE_GB_PER_S, NODE_MICROSECONDS = 50, 10  # from node to node: 400 Gbit/s for each GPU, and what a message takes more
FITTED_RANKS = 2  # the model sees times of so many ranks at most; it says the others beforehand


def solve(rows, values):
    """Least squares with no unknown below 0: the best of all sets of unknowns that may be other than 0."""
    unknowns = len(rows[0])
    best, best_error = [0.0] * unknowns, math.inf
    for chosen in range(1, 1 << unknowns):
        at = [k for k in range(unknowns) if chosen >> k & 1]
        matrix = [[sum(row[a] * row[b] for row in rows) for b in at] + [sum(row[a] * v for row, v in zip(rows, values))]
                  for a in at]
        found = eliminate(matrix)
        if found is None or min(found) < 0:
            continue
        full = [0.0] * unknowns
        for k, value in zip(at, found):
            full[k] = value
        error = sum((sum(a * b for a, b in zip(row, full)) - v) ** 2 for row, v in zip(rows, values))
        if error < best_error * (1 - 1e-9):
            best, best_error = full, error
    return best


def eliminate(matrix):
    """The solution of a small system of equations, its right side the last column; None where there is none."""
    size = len(matrix)
    scale = [max(abs(x) for x in row[:size]) or 1.0 for row in matrix]
    for k in range(size):
        pivot = max(range(k, size), key=lambda r: abs(matrix[r][k]))
        matrix[k], matrix[pivot], scale[k], scale[pivot] = matrix[pivot], matrix[k], scale[pivot], scale[k]
        if abs(matrix[k][k]) < 1e-12 * scale[k]:
            return None
        for r in range(size):
            if r != k:
                factor = matrix[r][k] / matrix[k][k]
                matrix[r] = [a - factor * b for a, b in zip(matrix[r], matrix[k])]
    return [matrix[k][size] / matrix[k][k] for k in range(size)]


class NoModel(Exception):
    """Why there is none."""


class Model:
    """T(pass) = rows that go through a warp x row + exchange + sum + overhead, of which step 15 hides what it can."""

    def __init__(self, path):
        self.facts, self.rows = read(path)
        beside = path.parent / "bandwidth.tsv"
        try:
            self.multiprocessors = int(read_table(beside)[0]["multiprocessors"])
        except (OSError, KeyError, ValueError, IndexError):
            raise NoModel(f"{beside}: does not say how many multiprocessors the GPU has") from None
        try:
            self.constants = {step: {name: int(value) for name, value in
                                     (word.split("=") for word in self.facts[f"constants_{step}"].split())}
                              for step in CONSTANTS}
            self.levels = {step: self.constants[step]["kLevels"] for step in CONSTANTS}
            missing = [name for step, names in CONSTANTS.items() for name in names if name not in self.constants[step]]
            if missing:
                raise KeyError(missing[0])
        except (KeyError, ValueError):
            raise NoModel(f"{path}: does not say with which constants it was measured") from None
        self.kept = {step: 128 - 2 * ((levels + 3) // 4 * 4) for step, levels in self.levels.items()}
        links = re.match(r"NV(\d+)$", self.facts["links"])
        self.link = LINK_GB_PER_S * int(links[1]) if links else NODE_GB_PER_S
        self.fit_14()
        self.fit_15()

    # Work, in rows that the warps of a multiprocessor let pass.

    def work_14(self, n, rows):
        """Waves of blocks x rows of a block, those that it sweeps only for its neighbours included."""
        levels, warps = self.levels["14"], self.constants["14"]["kWarps"]
        across = -(-n // (warps * self.kept["14"]))
        in_a_row, wave = across + (2 if across > 1 else 1), self.multiprocessors * self.constants["14"]["kBlocks"]
        least = math.inf
        for chunks in range(1, min(rows, 4000) + 1):
            waves = -(-chunks * in_a_row // wave)
            least = min(least, waves * (-(-rows // chunks) + 2 * levels))
        return least

    def work_15(self, n, rows, parts, blocks):
        """A team's even share of the long swath, and what it sweeps again in each swath that it has a part of."""
        if rows <= 0 or parts == 0:
            return 0.0
        kept, levels, abreast = self.kept["15"], self.levels["15"], self.constants["15"]["kAbreast"]
        swaths = -(-n // (abreast * kept))
        east = max(-(-(n - (128 - kept) // 2) // kept) - 1, 0) // abreast
        teams = blocks * self.constants["15"]["kWarps"] // abreast
        share = rows * parts * (swaths + 0.5 * (1 + max(swaths - east, 0))) / teams
        return share + 2 * levels * (1 + share / rows)

    def division(self, n, ranks):
        """(work of the ends, work of the rest) of a rank that has two neighbours where there are more than two."""
        levels, all_of_it = self.levels["15"], self.multiprocessors
        rows, neighbours = -(-n // ranks), min(ranks - 1, 2)
        if not neighbours:
            return 0.0, self.work_15(n, rows, 1, all_of_it)
        if rows < 2 * levels:
            return self.work_15(n, rows, 1, all_of_it), 0.0
        wanted = all_of_it * 2.0 * neighbours * 3 * levels / rows
        blocks = min(max(int(wanted + 0.5), 1), (all_of_it + 1) // 2)
        return (self.work_15(n, levels, neighbours, blocks),
                self.work_15(n, rows - neighbours * levels, 1, all_of_it - blocks))

    # Exchanges.

    def bytes_of_halo(self, n):
        return 4 * PASS * ((n + 31) // 32 * 32)

    def exchange(self, n, ranks, nodes=1):
        """A rank with a neighbour in another node has it to one side; all wait for those."""
        if ranks == 1:
            return 0.0
        within = 1e-3 * min(ranks - 1, 2) * self.bytes_of_halo(n) / self.link
        return self.latency + within if nodes == 1 else \
            self.latency + NODE_MICROSECONDS + max(within, 1e-3 * self.bytes_of_halo(n) / NODE_GB_PER_S)

    def sum(self, ranks, nodes=1):
        """Within a node it is a launch; between nodes it goes up a tree, and down again."""
        return (self.per_sum if ranks > 1 else 0.0) + 2 * NODE_MICROSECONDS * math.log2(nodes)

    def points(self, step, most=None):
        return [row for row in self.rows if row["step"][:2] == step and row["ms"] != "-"
                and (most is None or int(row["ranks"]) <= most)]

    @staticmethod
    def pass_time(row):
        return 1e3 * PASS * float(row["ms"])

    def fit(self, step, equations, names):
        """Gives each of the names its value: by least squares of relative errors. equations: (what stands with each
        unknown, what is known, the time), None for those unknowns that this table cannot tell from the others."""
        if not any(row[0] > 1 for row, *_ in equations) or not any(row[0] == 1 for row, *_ in equations):
            raise NoModel(f"the model needs times of step {step} on one and two ranks")
        at = [k for k in range(len(names)) if all(row[1][k] is not None for row, *_ in equations)]
        rows = [[row[1][k] / time for k in at] for row, _, time in equations]
        found = dict(zip(at, solve(rows, [1 - known / time for _, known, time in equations])))
        for k, name in enumerate(names):
            setattr(self, name, found.get(k, 0.0))

    def fit_14(self):
        """A row, and what it takes more in a pass that sums changes; a check; the latency of an exchange; a sum over the
        ranks. Step 13 is the same work on one GPU."""
        points = self.points("13", 1) + self.points("14", FITTED_RANKS)
        alone = {(row["n"], row["check_every"]) for row in points if int(row["ranks"]) == 1}
        together = {row["check_every"] for row in points if int(row["ranks"]) > 1}
        often = {row["check_every"] for row in points}
        equations = []
        for row in points:
            n, ranks, checks = int(row["n"]), int(row["ranks"]), PASS / int(row["check_every"])
            several = float(ranks > 1)
            work = self.work_14(n, -(-n // ranks))
            unknowns = [work, work * checks if len(often) > 1 else None, checks if len(alone) > 1 else None, several,
                        several * checks if len(together) > 1 else None]
            bytes_time = several * 1e-3 * self.bytes_of_halo(n) / self.link
            equations.append(((ranks, unknowns), bytes_time, self.pass_time(row)))
        self.fit("14", equations, ("row_14", "summed_14", "check", "latency", "per_sum"))

    def fit_15(self):
        """A row, and what it takes more with a sum; launches; what two streams and NCCL beside the sweeps take more."""
        points = self.points("15", FITTED_RANKS)
        alone = {row["n"] for row in points if int(row["ranks"]) == 1}
        often = {row["check_every"] for row in points}
        equations = []
        for row in points:
            n, ranks = int(row["n"]), int(row["ranks"])
            work, checks = max(self.division(n, ranks)), PASS / int(row["check_every"])
            unknowns = [work, work * checks if len(often) > 1 else None, 1.0 if len(alone) > 1 else None, float(ranks > 1)]
            equations.append(((ranks, unknowns), 0.0, self.pass_time(row)))
        self.fit("15", equations, ("row_15", "summed_15", "launch", "streams"))

    def predict(self, step, n, ranks, check_every=CHECK_OFTEN, nodes=1):
        """{part: microseconds of a pass}; their sum is the pass."""
        checks = PASS / check_every
        exchange, total = self.exchange(n, ranks, nodes), checks * self.sum(ranks, nodes)
        if step == "14":
            row = self.row_14 + checks * self.summed_14
            return {"rows": row * self.work_14(n, -(-n // ranks)), "exchange": exchange, "sum": total,
                    "overhead": checks * self.check}
        row = self.row_15 + checks * self.summed_15
        ends, rest = (row * work for work in self.division(n, ranks))
        exposed = max(0.0, ends + exchange + total - max(ends, rest))
        hidden = min(total, exposed)
        return {"rows": max(ends, rest), "exchange": exposed - hidden, "sum": hidden,
                "overhead": self.launch + (self.streams if ranks > 1 else 0.0)}

    def compared(self):
        """[(row, predicted ms of a sweep, error in percent)] of steps 14 and 15."""
        found = []
        for step in ("14", "15"):
            for row in self.points(step):
                parts = self.predict(step, int(row["n"]), int(row["ranks"]), int(row["check_every"]))
                ms = 1e-3 * sum(parts.values()) / PASS
                found.append((row, ms, 100 * (ms / float(row["ms"]) - 1)))
        return found

    def far(self):
        """What 64 nodes would do: [(words, n, step, parts, glups, efficiency against one rank in percent)]."""
        nodes, each = HOSTS
        ranks, found = nodes * each, []
        for words, n, one in (("strong", 32768, 32768), ("strong", LARGEST, LARGEST),
                              ("weak", 16 * 16384, 16384), ("weak", 16 * 32768, 32768)):
            for step in ("14", "15"):
                parts = self.predict(step, n, ranks, nodes=nodes)
                alone, whole = sum(self.predict(step, one, 1).values()), sum(parts.values())
                efficiency = 100 * alone / whole / (ranks if words == "strong" else 1)
                found.append((words, n, step, parts, 1e-3 * n * n * PASS / whole, efficiency))
        return found


def read(path):
    """(facts, rows) of scaling.tsv."""
    try:
        facts, rows = read_table(path)
        for row in rows:
            int(row["n"]), int(row["ranks"]), int(row["check_every"]), row["ms"] == "-" or float(row["ms"])
            row["step"], row["verdict"], row["efficiency"], row["own_efficiency"], row["weak_efficiency"]
        facts["gpu"], facts["links"]
    except OSError as error:
        fail(f"{path}: cannot be read: {error.strerror}")
    except (ValueError, KeyError, TypeError) as error:
        fail(f"{path}: is not a table of scaling.py ({type(error).__name__}: {error})")
    if not rows:
        fail(f"{path}: is not a table of scaling.py: it has no rows")
    return facts, rows


def words_of_model(model):
    """What was taken from where."""
    figures_14 = [f"a row of a wave of blocks takes {model.row_14:.3f} µs"]
    figures_14 += [f"with a sum {model.summed_14:.3f} µs more"] if model.summed_14 else []
    figures_14 += [f"the host's part in a check {model.check:.1f} µs"] if model.check else []
    figures_14 += [f"an exchange {model.latency:.1f} µs beside its bytes, a sum {model.per_sum:.1f} µs"] if model.per_sum else \
        [f"an exchange and a sum together {model.latency:.1f} µs beside the bytes"]
    figures_15 = [f"a row of the warps takes {model.row_15:.3f} µs"]
    figures_15 += [f"with a sum {model.summed_15:.3f} µs more"] if model.summed_15 else []
    figures_15 += [f"launches {model.launch:.1f} µs"] if model.launch else []
    figures_15 += [f"two streams and NCCL beside the sweeps {model.streams:.1f} µs more"]
    return [f"fitted to steps 13 and 14 on one and two GPUs: {', '.join(figures_14)}",
            f"fitted to step 15 on one and two GPUs: {', '.join(figures_15)}",
            f"named: {model.multiprocessors} multiprocessors (bandwidth.tsv), {model.link} GB/s each way "
            f"({model.facts['links']}); from node to node {NODE_GB_PER_S} GB/s (400 Gbit/s a GPU) and {NODE_MICROSECONDS} µs "
            "more, not measured"]


PARTS = ("rows", "exchange", "sum", "overhead")


def print_model(path):
    try:
        model = Model(path)
    except NoModel as error:
        fail(str(error))
    print(f"A pass of {PASS} sweeps on an {model.facts['gpu']}.")
    for line in words_of_model(model):
        print(f"  {line}")
    form = "{:<14}{:>8}{:>7}{:>7}{:>11}{:>11}{:>9}{}"
    print("\n" + form.format("step", "n", "ranks", "check", "measured", "predicted", "error", ""))
    for row, ms, error in model.compared():
        fitted = "  (fitted)" if int(row["ranks"]) <= FITTED_RANKS else ""
        print(form.format(row["step"], row["n"], row["ranks"], row["check_every"], f"{float(row['ms']):.5f}",
                          f"{ms:.5f}", f"{error:.1f} %", fitted))
    print(f"\n{HOSTS[0]} nodes of {HOSTS[1]} GPUs, microseconds of a pass:")
    form = "{:<8}{:>8}{:>6}" + "{:>10}" * 5 + "{:>12}"
    print(form.format("", "n", "step", *PARTS, "GLUPS", "efficiency"))
    for words, n, step, parts, glups, efficiency in model.far():
        print(form.format(words, n, step, *(f"{parts[name]:.1f}" for name in PARTS), f"{glups:,.0f}",
                          f"{efficiency:.0f} %"))


# The picture.

def points_of(rows, step, column, sizes):
    """[(ranks, percent)] of a step's rows with as many sweeps a check as the others; sizes: {ranks: n}."""
    return sorted((float(row["ranks"]), float(row[column])) for row in rows
                  if row["step"][:2] == step and row[column] != "-" and int(row["check_every"]) == CHECK_OFTEN
                  and sizes.get(int(row["ranks"])) == int(row["n"]))


def drawn_of(gpu, links, rows, width=880):
    """The charts of what was measured on these GPUs: strong scaling of each n, and weak scaling, in percent."""
    ranks = sorted({int(row["ranks"]) for row in rows})
    strong, weak = [], []
    for step, shape in (("14", "square"), ("15", "circle")):
        for n, colour in zip(STRONG, ("orange", "blue", "green")):
            points = points_of(rows, step, "efficiency", dict.fromkeys(ranks, n))
            strong.append((f"step {step}, n = {n}", colour, shape, points))
        for k, colour in enumerate(("orange", "blue")):
            sizes = {r: of_ranks[k] for r, of_ranks in WEAK.items()}
            points = points_of(rows, step, "weak_efficiency", sizes)
            weak.append((f"step {step}, {sizes[1]}² a GPU", colour, shape, points))
    drawn = []
    for name, series, title, subtitle, tall in (
            ("scaling-strong", strong, "Strong scaling: efficiency in percent",
             f"step 13 on one GPU is 100; {gpu}, {links}", 300),
            ("scaling-weak", weak, "Weak scaling: efficiency in percent",
             "the step itself on one GPU is 100; as many points a GPU", 240)):
        series = [one for one in series if any(r > 1 for r, _ in one[3])]
        if series:
            values = [percent for *_, points in series for _, percent in points]
            step = 5 if min(values) >= 75 else 10
            percents = range(step * int(min(*values, 95) // step), step * math.ceil(max(*values, 100) / step) + 1, step)
            drawn.append(charts.lines(name, series, title, subtitle, "GPUs", width, tall, lambda value: f"{value:.0f}",
                                      [float(r) for r in ranks], True, y_values=percents))
    if not drawn:
        raise ValueError("has nothing to draw: no efficiencies of several numbers of ranks")
    return drawn


def picture(path):
    """The text of scaling.svg."""
    facts, rows = read(path)
    drawn = drawn_of(facts["gpu"], facts["links"], rows)
    return charts.stacked(drawn, "scaling", f"How steps 14 and 15 scale on {facts['gpu']}s")


def plot(folder, needed=True):
    """Draws it; where there is nothing to draw that is an error if it is needed."""
    try:
        write_aside(folder / "scaling.svg", picture(folder / "scaling.tsv"))
    except ValueError as error:
        if needed:
            fail(f"{folder / 'scaling.tsv'}: {error}")
        print(f"not drawn: {folder / 'scaling.tsv'} {error}")
        return
    except OSError as error:
        fail(f"{folder / 'scaling.svg'}: cannot be written: {error.strerror}")
    print(f"drawn: {folder / 'scaling.svg'}")
