"""Where the lab is, and its steps."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def steps(lab=ROOT):
    """The lines of lab/steps.tsv: [(name, source, needs, n, iterations, title)]."""
    found = []
    for line in (lab / "lab/steps.tsv").read_text().splitlines():
        fields = line.split("\t")
        if line[:1].isdigit():
            found.append((fields[0], fields[1], fields[2], int(fields[3]), int(fields[4]), fields[5]))
    return found


def steps_before(lab=ROOT):
    """{name: the name of the step that it begins with, None for the first}."""
    lines = [line.split("\t") for line in (lab / "lab/steps.tsv").read_text().splitlines() if line[:1].isdigit()]
    return {fields[0]: None if fields[6] == "-" else fields[6] for fields in lines}


def clinic_kernels(lab=ROOT):
    """The kernels of lab/clinic.tsv: [(name, default n)]."""
    lines = (lab / "lab/clinic.tsv").read_text().splitlines()
    return [tuple(line.split("\t")[:2]) for line in lines if line[:1].islower()]


def by_cycles(step):
    """Whether a step's iterations are cycles over several grids, and no Jacobi sweeps."""
    return step[:2] >= "16"


STEPS = {name[:2]: name for name, *_ in steps()}


def write_aside(path, text):
    """Writes a file so that no reader sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".partial")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
