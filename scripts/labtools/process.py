"""Other programs, and how a script ends that cannot continue."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

TIMED_OUT = 124  # the exit code of what did not end in time


def warn(message):
    print(f"{pathlib.Path(sys.argv[0]).name}: {message}", file=sys.stderr, flush=True)


def fail(message, code=1):
    """One line, and out."""
    warn(message)
    sys.exit(code)


def print_for_people():
    """For what is mostly read on a terminal: UTF-8 whatever the locale, and a silent end if nothing reads it, as with head."""
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def must_write(path, content, name=None, code=1):
    """Writes a file, of a text or of bytes, so that no reader sees half of it, or ends; `name` is how a user knows it."""
    aside = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(content.encode() if isinstance(content, str) else content)
        aside.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            aside.unlink()
        fail(f"{name or path}: cannot be written: {error.strerror}", code)


def end(process):
    """Ends a program and what it has started. mpirun ends its ranks when it is asked to; what does not listen is killed."""
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, signal_number)
            process.wait(8)
            return


def attempt(command, seconds=300, **options):
    """(exit code, standard output, standard error) of a program, which is ended after `seconds`. Its output goes to
    files: a process that it starts, and that outlives it, holds no pipe of ours open."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        try:
            process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=error,
                                       start_new_session=True, **options)
        except OSError as failed:
            return 126, "", f"{command[0]}: {failed.strerror}"
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return TIMED_OUT, "", f"did not end within {seconds} s"
        finally:
            if process.poll() is None:
                end(process)
        out.seek(0)
        error.seek(0)
        return process.returncode, *(file.read().decode("utf-8", "replace") for file in (out, error))


def reason(out, error=""):
    """In one line what a program that failed has said: the first line that speaks of an error, or the last."""
    lines = [" ".join(line.split()) for line in (error + "\n" + out).splitlines() if line.strip()]
    wrong = [line for line in lines if "error" in line.lower() or line.startswith("diagnosis")]
    return (wrong or lines[-1:] or ["it says nothing"])[0][:300]


def run(command, **options):
    """What the command prints. If it fails, that is the end."""
    code, out, error = attempt(command, **options)
    if code != 0:
        fail(f"{' '.join(map(str, command))}: exit code {code}: {reason(out, error)}")
    return out


def printed_by(command, seconds=60):
    """What a command prints; nothing if it cannot be run or fails."""
    code, out, _ = attempt(command, seconds)
    return out if code == 0 else ""
