"""Numbers: read from cells of tables and from what profilers print, and written for people."""

import math


def number(text):
    """A float, or None: "1,234.5" has commas, and what cannot be had is "-", "n/a", "nan" or empty."""
    try:
        value = float(str(text).replace(",", "").strip())
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def significant(value, digits=3):
    """A number, or the text of one, for people: 0.0132, 4.30, 135,000; "-" becomes a dash."""
    if value == "-":
        return "–"
    value = float(value)
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, decimals):,.{max(0, decimals)}f}"


def as_told(text):
    """The same of a text, with no more decimals than that has: ncu rounds what it prints. "0.07" stays 0.07."""
    shown, decimals = significant(text), len(text.partition(".")[2])
    return f"{float(text):,.{decimals}f}" if len(shown.partition(".")[2]) > decimals else shown


def in_unit(value, units, write):
    """A value in the first of units, (name, how many), of which it has one, or else in the last."""
    name, scale = next((unit for unit in units if value >= unit[1]), units[-1])
    return f"{write(value / scale)} {name}"


def size(count):
    """Bytes for people: 64 KiB."""
    return in_unit(count, (("GiB", 2 ** 30), ("MiB", 2 ** 20), ("KiB", 2 ** 10), ("B", 1)), "{:.0f}".format)


def duration(ns, write=significant):
    """Nanoseconds in a unit that suits them."""
    return in_unit(ns, (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1)), write)


def lasting(seconds):
    """A time in the unit that suits it, from milliseconds to years."""
    for unit, scale in (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * scale:
            return f"{significant(seconds / scale)} {unit}"
    return duration(1e9 * seconds)


def spread(row):
    """The middle half of a row's times, in percent of their median."""
    return 100 * (float(row["ms_q3"]) - float(row["ms_q1"])) / float(row["ms"])
