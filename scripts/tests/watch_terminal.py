"""What tests/verbs_watch.sh does on a terminal: watch_terminal.py LAB SECONDS. Says what is not so."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

LAB, PATIENCE = Path(sys.argv[1]), float(sys.argv[2])
EXERCISE = LAB / "exercises/01_nvtx/jacobi.cpp"
SOLUTION = (LAB / "solutions/01_nvtx/jacobi.cpp").read_text()


class Terminal:
    """make watch on a terminal of 24 lines and 80 columns."""

    def __init__(self, *variables):
        self.keys, terminal = pty.openpty()
        ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.screen = self.seen = ""
        self.process = subprocess.Popen(["make", "--no-print-directory", "-C", LAB, "watch", *variables],
                                        stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
        os.close(terminal)

    def wait_for(self, pattern, ever=False):
        """Reads until the screen shows it; `ever`: or did, since `seen` was emptied. What is gone soon may be read too late."""
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.seen if ever else self.screen, re.MULTILINE):
            if time.monotonic() > end:
                sys.exit(f"the screen never showed {pattern!r}, but:\n{self.screen}")
            if select.select([self.keys], [], [], 0.1)[0]:
                try:
                    read = os.read(self.keys, 65536).decode(errors="replace").replace("\r\n", "\n")
                except OSError:  # nothing has it open any more
                    sys.exit(f"it ended before it showed {pattern!r}:\n{self.screen}")
                self.seen += read
                self.screen = (self.screen + read).split("\033[H\033[2J")[-1]
        lines = self.screen.split("\n")
        if len(lines) > 24 or any(len(line) > 80 for line in lines):
            sys.exit(f"more than 24 lines of 80 columns:\n{self.screen}")

    def save(self, text, *patterns):
        self.seen = ""
        EXERCISE.write_text(text)
        self.wait_for("checking [.]", ever=True)
        for pattern in (*patterns, "q: end$"):
            self.wait_for(pattern)

    def press(self, keys):
        os.write(self.keys, keys)
        if self.process.wait(PATIENCE) != 0:
            sys.exit(f"{keys!r} should end it with exit code 0")

    def interrupt(self):
        """As Ctrl-C does."""
        os.killpg(self.process.pid, signal.SIGINT)
        if self.process.wait(PATIENCE) == 0:
            sys.exit("Ctrl-C should not end it with exit code 0")


handed_out = EXERCISE.read_text()
watch = Terminal()
watch.wait_for(r"^01_nvtx: unchanged$")
watch.wait_for(r"^Next: exercises/01_nvtx/jacobi.cpp, line \d+: TODO\(01\)")
watch.save(SOLUTION.replace("0.25f", "0.24f"), r"^01_nvtx: wrong: ", r"^  diagnosis: ", r"^  look at: ", r"^Next: ", r"make hint STEP=01$")
watch.save(SOLUTION.replace("int main(", "int main(no "), "^01_nvtx: does not compile.*below$", r"^jacobi.cpp:\d+:\d+: error",
           r"^Next: line \d+, where the first error is")
watch.save(SOLUTION + "// TODO(01): one\n", "^01_nvtx: right so far", "^Next: .*: TODO.01.: one")
# A save during a check: the newer file counts.
EXERCISE.write_text(SOLUTION.replace("while (", "while (true || ", 1))
watch.wait_for("checking [.]+ [12] s")
watch.wait_for(r"checking [.]+ \d+ s\n+n: next step")  # all is built
watch.save(SOLUTION, "^01_nvtx: done$", "^Step 01 is done[.] make predict STEP=01 compares", "Enter ends[.]$")
EXERCISE.rename(LAB / "away")
watch.wait_for("is not there .make reset STEP=01 puts it back")
(LAB / "away").rename(EXERCISE)
watch.save(SOLUTION + "\n", "^01_nvtx: done$")
watch.press(b"\n")  # there is no step after it

watch = Terminal("STEP=01")
EXERCISE.write_text(SOLUTION.replace("while (", "while (true || ", 1))
watch.wait_for("checking")
watch.press(b"q")
watch = Terminal("STEP=01")
watch.wait_for("checking")
watch.interrupt()
EXERCISE.write_text(handed_out)
