"""Hosts of their own network on one machine: namespaces that are joined by a bridge.

Needs root and ``ip``; where there is none, hosts are addresses of the loopback device, without
faults of the network. The processes are forks of one that has everything imported, each in the
namespaces of its host.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import faults

#: Whether namespaces can be made here.
NAMESPACES = (
    hasattr(os, "geteuid") and os.geteuid() == 0
    and shutil.which("ip") is not None
    and subprocess.run(
        ["ip", "netns", "add", "symnmf-probe"], capture_output=True
    ).returncode == 0
    and subprocess.run(["ip", "netns", "del", "symnmf-probe"], capture_output=True).returncode == 0
)  # fmt: skip

#: Forks a process for each job, which enters the namespaces of its host and runs the command line.
SERVER = """
import ctypes, json, os, signal, sys
import torch, torch.distributed, pandas, pyarrow.parquet, sklearn.metrics, scipy.sparse, rich.table
import symnmf.cli, symnmf.analysis.folder, symnmf.data.panel, symnmf.factorization

NEWNET, NEWUTS, NEWTIME = 0x40000000, 0x04000000, 0x00000080
libc = ctypes.CDLL(None, use_errno=True)

def done(code):
    if code:
        raise OSError(ctypes.get_errno(), "namespace")

def enter(job):
    space, host = job["space"], job["host"].encode()
    with open("/run/netns/" + space) as file:
        done(libc.setns(file.fileno(), NEWNET))
    done(libc.unshare(NEWUTS))
    done(libc.sethostname(host, len(host)))
    if job["skew"]:
        done(libc.unshare(NEWTIME))
        with open("/proc/self/timens_offsets", "w") as file:
            file.write(f"monotonic {job['skew']} 0")
        inner = os.fork()  # the clock is that of the children
        if inner:
            os._exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) & 255)

def ended(*_):
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        with open(f"{sys.argv[1]}/{pid}.new", "w") as file:
            file.write(str(os.waitstatus_to_exitcode(status)))
        os.rename(f"{sys.argv[1]}/{pid}.new", f"{sys.argv[1]}/{pid}.code")

signal.signal(signal.SIGCHLD, ended)
print("ready", flush=True)
mine = None
for line in sys.stdin:
    job = json.loads(line)
    pid = os.fork()
    if pid == 0:
        mine = job
        break
    print(pid, flush=True)
if mine:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{sys.argv[1]}/{os.getpid()}.{name}", os.O_WRONLY | os.O_CREAT), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if mine["space"]:
        enter(mine)
    os.environ.update(mine["place"])
    sys.argv = ["symnmf", *mine["argv"]]
    symnmf.cli.main()
"""


class HostProcess:
    """A process on a host; the parts of ``subprocess.Popen`` that the tests use."""

    def __init__(self, pid: int, scratch: Path):
        self.pid, self.scratch = pid, scratch
        self.returncode: int | None = None
        self.ended_at: float | None = None

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        path = self.scratch / f"{self.pid}.code"
        if self.returncode is None and path.exists():
            self.returncode, self.ended_at = int(path.read_text()), path.stat().st_mtime
        return self.returncode

    def communicate(self, timeout: float = 300) -> tuple[str, str]:
        """Wait for the end; what was said on both outputs."""
        until = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > until:
                raise TimeoutError(f"process {self.pid} has not ended: {self.said('err')}")
            time.sleep(0.02)
        return self.said("out"), self.said("err")

    def said(self, where: str) -> str:
        """What was said so far."""
        path = self.scratch / f"{self.pid}.{where}"
        return path.read_text(errors="replace") if path.exists() else ""


class Server:
    """The process from which all others are forked."""

    def __init__(self, scratch: Path):
        self.scratch = scratch
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(scratch)], env=faults.ENVIRONMENT,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout.readline().strip() == "ready"

    def fork(self, **job) -> HostProcess:
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return HostProcess(int(self.process.stdout.readline()), self.scratch)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


@cache
def server() -> Server:
    """The server of this process, which ends with it."""
    scratch = tempfile.TemporaryDirectory()
    made = Server(Path(scratch.name))
    atexit.register(scratch.cleanup)
    atexit.register(made.close)
    return made


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Hosts:
    """Some hosts; a context manager that ends their processes and removes them.

    Arguments:
        count: number of hosts, named ``host0``, ``host1``, …
        delay: seconds that a packet takes from host to host.
        loss: share of the packets that are lost.
    """

    def __init__(self, count: int, delay: float = 0.0, loss: float = 0.0):
        self.count, self.tag = count, f"sy{os.getpid() % 10000}"
        self.slow = [str(delay), str(loss)] if delay or loss else None
        self.link: subprocess.Popen | None = None
        self.processes: list[tuple[int, HostProcess]] = []

    def space(self, host: int) -> str:
        return f"{self.tag}n{host}"

    def __enter__(self) -> Hosts:
        try:
            self._join() if NAMESPACES else None
        except BaseException:
            self._remove()
            raise
        return self

    def _join(self) -> None:
        spaces = [self.space(host) for host in range(self.count)]
        for space in spaces:
            ip("netns", "add", space)
            ip("-n", space, "link", "set", "lo", "up")
        if self.slow:
            program = Path(__file__).with_name("slow_link.py")
            self.link = subprocess.Popen(
                [sys.executable, str(program), *self.slow, *spaces],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert self.link.stdout.readline().strip() == "ready"
        else:
            switch = f"{self.tag}s"
            ip("netns", "add", switch)
            ip("-n", switch, "link", "add", "br0", "type", "bridge")
            ip("-n", switch, "link", "set", "br0", "up")
            for host, space in enumerate(spaces):
                ip("-n", space, "link", "add", "eth0", "type", "veth", "peer", "name", f"p{host}",
                   "netns", switch)  # fmt: skip
                ip("-n", switch, "link", "set", f"p{host}", "master", "br0", "up")
        for host, space in enumerate(spaces):
            ip("-n", space, "addr", "add", f"10.231.7.{host + 1}/24", "dev", "eth0")
            ip("-n", space, "link", "set", "eth0", "up")

    def _remove(self) -> None:
        if self.link is not None:
            self.link.communicate("", timeout=30)
        for space in [self.space(h) for h in range(self.count)] + [f"{self.tag}s"]:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)

    def __exit__(self, *error: object) -> None:
        for host in range(self.count):
            self.kill(host)
        for _, process in self.processes:
            process.communicate(timeout=30)
        if NAMESPACES:
            self._remove()

    def start(
        self, host: int, argv, rank: int, world: int, skew: int = 0, local: int = 0
    ) -> HostProcess:
        """Start a process of a run on a host; its clock may be ahead by some seconds."""
        place = {
            "RANK": str(rank), "WORLD_SIZE": str(world), "LOCAL_RANK": str(local),
            "MASTER_ADDR": "10.231.7.1" if NAMESPACES else "127.0.0.1", "MASTER_PORT": "29617",
            "GLOO_SOCKET_IFNAME": "eth0" if NAMESPACES else "lo",
        }  # fmt: skip
        process = server().fork(
            argv=[*map(str, argv)], place=place, host=f"host{host}", skew=skew,
            space=self.space(host) if NAMESPACES else "",
        )  # fmt: skip
        self.processes.append((host, process))
        return process

    def kill(self, host: int) -> None:
        """End every process of a host at once; the system still closes their connections."""
        for where, process in self.processes:
            if where == host:
                stop(process, signal.SIGKILL)

    def lose(self, host: int) -> None:
        """Lose a whole host as by a loss of power: nothing that it held is closed or answered."""
        self.cut(host)
        self.kill(host)

    def cut(self, host: int, mended: bool = False) -> None:
        """Cut the link of a host, or mend it."""
        ip("-n", f"{self.tag}s", "link", "set", f"p{host}", "up" if mended else "down")


def stop(process: HostProcess, number: int) -> None:
    """Send a signal to a process and to all that it started, if it still runs."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:  # it ended, or it has not yet a group of its own
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)


def orphans(processes: list[HostProcess]) -> list[int]:
    """Processes that are left of the sessions of some processes."""
    sessions = {process.pid for process in processes}
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) in sessions and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found
