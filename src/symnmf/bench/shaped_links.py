"""Hosts of their own network on one machine, with links of a stated rate and delay.

A host is a network namespace. The rate is a token bucket of the kernel (``tc … tbf``) at the
device of each host. Many kernels have no qdisc that delays (``netem``), so that a delay is made
by a program that hands on the frames of all hosts: run as a program, this module is that program,
``python -m symnmf.bench.shaped_links HOST HOST …``. It reads a delay in seconds from each line of
its standard input and ends when that is closed. Needs root, ``ip``, ``tc`` and ``/dev/net/tun``.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import os
import select
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

NEWNET, TUNSETIFF, TAP, NO_HEADER = 0x40000000, 0x400454CA, 0x0002, 0x1000
#: Bytes of the largest frame: frames as large as possible, because a program hands them on.
FRAME = 65_000
#: Bytes that may pass at once at full speed, and bytes that may wait in the queue of a device.
BURST, QUEUE = 131_072, 64_000_000


def shaping_possible() -> bool:
    """Whether namespaces and links can be made here."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return root and all(map(shutil.which, ("ip", "tc"))) and Path("/dev/net/tun").exists()


class ShapedLinks:
    """Some hosts that are joined by links; a context manager that removes them.

    Arguments:
        count: number of hosts.
        delayed: whether frames are handed on by a program, which can delay them; otherwise the
            kernel hands them on, without a delay.
    """

    def __init__(self, count: int, delayed: bool = False):
        tag = f"sl{os.getpid() % 100_000}"
        self.hosts = [f"{tag}h{host}" for host in range(count)]
        self.switch, self.delayed = f"{tag}s", delayed
        self.relay: subprocess.Popen[str] | None = None

    def __enter__(self) -> ShapedLinks:
        try:
            self._join()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _join(self) -> None:
        for host in self.hosts:
            _ip("netns", "add", host)
            _ip("-n", host, "link", "set", "lo", "up")
        if self.delayed:
            self.relay = subprocess.Popen(
                [sys.executable, "-m", __spec__.name, *self.hosts],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            self._answer()
        else:
            _ip("netns", "add", self.switch)
            _ip("-n", self.switch, "link", "add", "br0", "mtu", str(FRAME), "type", "bridge")
            _ip("-n", self.switch, "link", "set", "br0", "up")
            for number, host in enumerate(self.hosts):
                _ip("-n", host, "link", "add", "eth0", "type", "veth", "peer", "name",
                    f"p{number}", "netns", self.switch)  # fmt: skip
                _ip("-n", self.switch, "link", "set", f"p{number}", "mtu", str(FRAME), "master",
                    "br0", "up")  # fmt: skip
        for number, host in enumerate(self.hosts):
            _ip("-n", host, "addr", "add", f"{address(number)}/24", "dev", "eth0")
            _ip("-n", host, "link", "set", "eth0", "mtu", str(FRAME), "txqueuelen", "10000", "up")

    def _answer(self) -> None:
        assert self.relay is not None
        assert self.relay.stdout is not None
        if self.relay.stdout.readline() != "ready\n":
            raise OSError("the program that hands on frames has ended")

    def shape(self, gigabits: float | None, delay: float = 0.0) -> None:
        """Give every link a rate in Gbit/s (None: as fast as it is) and a delay in seconds."""
        for host in self.hosts:
            _tc(host, "del", "dev", "eth0", "root", check=False)
            if gigabits is not None:
                rate = f"{1000 * gigabits:.0f}mbit"
                _tc(host, "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", str(BURST),
                    "limit", str(QUEUE))  # fmt: skip
        if self.relay is not None:
            assert self.relay.stdin is not None
            self.relay.stdin.write(f"{delay}\n")
            self.relay.stdin.flush()
            self._answer()

    def start(self, number: int, command: list[str], **place: str) -> subprocess.Popen[str]:
        """Start a program on a host, with more variables in its environment."""
        return subprocess.Popen(
            ["ip", "netns", "exec", self.hosts[number], *command],
            env=os.environ | place,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if number == 0 else subprocess.DEVNULL,
            text=True,
        )

    def __exit__(self, *error: object) -> None:
        if self.relay is not None:
            self.relay.communicate(timeout=30)
        for space in (*self.hosts, self.switch):
            subprocess.run(["ip", "netns", "del", space], capture_output=True)


def address(number: int) -> str:
    """Address of a host."""
    return f"10.231.8.{number + 1}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def _tc(host: str, what: str, *words: str, check: bool = True) -> None:
    command = ["ip", "netns", "exec", host, "tc", "qdisc", what, *words]
    subprocess.run(command, check=check, capture_output=True)


def _device(host: str) -> int:
    """A new device ``eth0`` in a namespace, as a descriptor that reads and writes its frames."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{host}") as file:
        if libc.setns(file.fileno(), NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter {host}")
    made = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(made, TUNSETIFF, struct.pack("16sH", b"eth0", TAP | NO_HEADER))
    return made


def hand_on(hosts: list[str]) -> None:
    """Hand on frames, each after the delay, until the standard input is closed."""
    ports = [_device(host) for host in hosts]
    known: dict[bytes, int] = {}  # address of a sender → its port, as a switch learns it
    waiting: list[tuple[float, int, int, bytes]] = []
    delay, number = 0.0, 0
    os.write(1, b"ready\n")
    while True:
        rest = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for port in select.select([*ports, 0], [], [], rest)[0]:
            if port == 0:
                line = os.read(0, 100)
                if not line:
                    return
                delay = float(line)
                os.write(1, b"ready\n")
                continue
            frame, number = os.read(port, 2 * FRAME), number + 1
            known[frame[6:12]] = port
            heapq.heappush(waiting, (time.monotonic() + delay, number, port, frame))
        while waiting and waiting[0][0] <= time.monotonic():
            *_, origin, frame = heapq.heappop(waiting)
            target = known.get(frame[:6])
            for port in [p for p in ports if p != origin] if target is None else [target]:
                try:
                    os.write(port, frame)
                except OSError:  # the device is down, or its queue is full: the frame is lost
                    continue


if __name__ == "__main__":
    hand_on(sys.argv[1:])
