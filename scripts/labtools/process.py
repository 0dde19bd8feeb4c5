"""Other programs, and how a script ends that cannot continue."""

import pathlib
import subprocess
import sys


def warn(message):
    print(f"{pathlib.Path(sys.argv[0]).name}: {message}", file=sys.stderr, flush=True)


def fail(message, code=1):
    """One line, and out. (Of several threads that fail, the first one's.)"""
    if code == 1:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {message}")
    warn(message)
    sys.exit(code)


def attempt(command, seconds=300, **options):
    """(exit code, standard output, standard error)."""
    try:
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                                check=False, timeout=seconds, stdin=subprocess.DEVNULL, **options)
    except subprocess.TimeoutExpired:
        return 124, "", f"it took longer than {seconds} s"
    except OSError as error:
        return 126, "", f"{command[0]}: {error.strerror}"
    return result.returncode, result.stdout, result.stderr


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
