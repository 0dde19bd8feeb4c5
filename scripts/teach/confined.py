"""Runs a command that is not trusted: with limits, and with nothing left of it afterwards."""

import collections
import contextlib
import ctypes
import os
import pathlib
import resource
import signal
import subprocess
import time

from labtools.process import attempt

NOBODY = 65534
MOST_OUTPUT = 1 << 16
PR_SET_CHILD_SUBREAPER = 36
KEPT = ("PATH", "LD_LIBRARY_PATH", "LANG", "CC", "CXX", "CXXFLAGS", "CUDAARCHS")
KEPT_BEGINNINGS = ("LAB_", "CUDA_", "CMAKE_", "LC_")


# memory of all its processes and disk in its folder in bytes.
Limits = collections.namedtuple("Limits", "seconds memory disk processes")
# out: at most MOST_OUTPUT bytes of it; limit: which one ended it, in a word, or nothing.
Ended = collections.namedtuple("Ended", "code out limit seconds")
Process = collections.namedtuple("Process", "parent threads memory user")


def all_processes():
    """{number: Process} of all that run."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text().rpartition(")")[2].split()
            found[int(entry.parent.name)] = Process(int(fields[1]), int(fields[17]),
                                                    int(fields[21]) * resource.getpagesize(), entry.stat().st_uid)
    return found


def descendants():
    """{number: Process} of all that this one has started, and theirs. Orphans come back to this one."""
    running, own = all_processes(), os.getpid()

    def is_own(number):
        while number in running and number != own:
            number = running[number].parent
        return number == own

    return {number: process for number, process in running.items() if number != own and is_own(number)}


def end_all():
    """Ends them all. Whatever they start meanwhile is ended in the next round."""
    for _ in range(1000):
        processes = descendants()
        for end in (signal.SIGSTOP, signal.SIGKILL):
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, end)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def bytes_in(folder):
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(path, name)).st_blocks * 512
    return total


def no_network(identity):
    """What keeps a command from the network; nothing if that is not allowed here."""
    command = ["unshare", "--map-current-user", "--net", "--"]
    return command if attempt([*command, "true"], 20, **identity)[0] == 0 else []


class Confined:
    """A folder in which commands run, one at a time. The superuser's run as nobody."""

    def __init__(self, folder, limits):
        self.folder, self.limits = folder, limits
        self.identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        self.no_network = no_network(self.identity)
        # The system's limit counts all threads that the user has now, in all sessions.
        user = self.identity.get("user", os.geteuid())
        self.threads = 4 * limits.processes + sum(one.threads for one in all_processes().values() if one.user == user)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def give(self):
        """Makes the folder that of whom the commands run as."""
        if self.identity:
            for path, folders, files in os.walk(self.folder):
                for name in [".", *folders, *files]:
                    os.chown(os.path.join(path, name), NOBODY, NOBODY, follow_symlinks=False)

    def environment(self, variables):
        kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(KEPT_BEGINNINGS)}
        own = {"HOME": str(self.folder), "TMPDIR": str(self.folder / "tmp")}
        return {**kept, **own, **variables}

    def restrict(self):
        """The limits that the system holds; called in the new process."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for what, most in ((resource.RLIMIT_FSIZE, self.limits.disk), (resource.RLIMIT_NPROC, self.threads)):
            hard = resource.getrlimit(what)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(what, (most, most))

    def exceeded(self, started):
        """The limit that is exceeded, in a word; or nothing."""
        if time.monotonic() - started > self.limits.seconds:
            return "time"
        processes = descendants()
        if len(processes) > self.limits.processes:
            return "processes"
        if sum(process.memory for process in processes.values()) > self.limits.memory:
            return "memory"
        return "disk" if bytes_in(self.folder) > self.limits.disk else ""

    def run(self, command, variables, network=False):
        """Runs the command in the folder until it ends, or until it exceeds a limit."""
        (self.folder / "tmp").mkdir(exist_ok=True)
        self.give()
        started, kept, limit = time.monotonic(), b"", ""
        prefix = [] if network else self.no_network
        process = subprocess.Popen([*prefix, *command], cwd=self.folder, env=self.environment(variables), bufsize=0,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True, preexec_fn=self.restrict, **self.identity)
        os.set_blocking(process.stdout.fileno(), False)
        try:
            while process.poll() is None and not limit:
                time.sleep(0.2)
                kept = (kept + (process.stdout.read(MOST_OUTPUT) or b""))[:MOST_OUTPUT]
                limit = self.exceeded(started)
            kept += process.stdout.read(MOST_OUTPUT) or b""
        finally:
            end_all()
            process.stdout.close()
        code = process.returncode if process.returncode is not None else -9
        return Ended(code, kept[:MOST_OUTPUT].decode("utf-8", "replace"), limit, time.monotonic() - started)
