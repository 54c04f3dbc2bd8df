"""Hosts of their own network on one machine: namespaces that are joined by a bridge.

Needs root and ``ip``; where there is none, hosts are addresses of the loopback device, without
faults of the network.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import faults

#: Whether namespaces can be made here.
NAMESPACES = (
    hasattr(os, "geteuid") and os.geteuid() == 0
    and all(shutil.which(tool) for tool in ("ip", "tc", "unshare"))
    and subprocess.run(
        ["ip", "netns", "add", "symnmf-probe"], capture_output=True
    ).returncode == 0
    and subprocess.run(["ip", "netns", "del", "symnmf-probe"], capture_output=True).returncode == 0
)  # fmt: skip


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Hosts:
    """Some hosts; a context manager that ends their processes and removes them.

    Arguments:
        count: number of hosts, named ``host0``, ``host1``, …
        tag: word that makes the names of the namespaces unique.
    """

    def __init__(self, count: int, tag: str = ""):
        self.count, self.tag = count, f"sy{os.getpid() % 10000}{tag}"
        self.processes: list[tuple[int, subprocess.Popen]] = []

    def space(self, host: int) -> str:
        return f"{self.tag}n{host}"

    def __enter__(self) -> Hosts:
        if NAMESPACES:
            switch = f"{self.tag}s"
            ip("netns", "add", switch)
            ip("-n", switch, "link", "add", "br0", "type", "bridge")
            ip("-n", switch, "link", "set", "br0", "up")
            for host in range(self.count):
                space, port = self.space(host), f"p{host}"
                ip("netns", "add", space)
                ip("-n", space, "link", "set", "lo", "up")
                ip("-n", space, "link", "add", "eth0", "type", "veth", "peer", "name", port,
                   "netns", switch)  # fmt: skip
                ip("-n", switch, "link", "set", port, "master", "br0", "up")
                ip("-n", space, "addr", "add", f"10.231.7.{host + 1}/24", "dev", "eth0")
                ip("-n", space, "link", "set", "eth0", "up")
        return self

    def __exit__(self, *error: object) -> None:
        for _, process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        for space in [self.space(h) for h in range(self.count)] + [f"{self.tag}s"]:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)

    def start(self, host: int, argv, rank: int, world: int, skew: int = 0) -> subprocess.Popen:
        """Start a process of a run on a host; its clock may be ahead by some seconds."""
        place = {
            "RANK": str(rank), "WORLD_SIZE": str(world), "LOCAL_RANK": "0",
            "MASTER_ADDR": "10.231.7.1" if NAMESPACES else "127.0.0.1", "MASTER_PORT": "29617",
            "GLOO_SOCKET_IFNAME": "eth0" if NAMESPACES else "lo",
        }  # fmt: skip
        command = [sys.executable, "-m", "symnmf", *map(str, argv)]
        if NAMESPACES:
            clock = ["-T", f"--monotonic={skew}", "--fork"] if skew else []
            words = f'hostname host{host}; exec "$@"'
            enter = ["ip", "netns", "exec", self.space(host), "unshare", "--uts", *clock]
            command = [*enter, "sh", "-c", words, "sh", *command]
        process = subprocess.Popen(
            command, env={**faults.ENVIRONMENT, **place}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self.processes.append((host, process))
        return process

    def kill(self, host: int) -> None:
        """End every process of a host at once, without a word to the others."""
        for where, process in self.processes:
            if where == host:
                os.killpg(process.pid, signal.SIGKILL)

    def cut(self, host: int, mended: bool = False) -> None:
        """Cut the link of a host, or mend it."""
        ip("-n", f"{self.tag}s", "link", "set", f"p{host}", "up" if mended else "down")

    def shape(self, host: int, words: str) -> None:
        """Shape the link of a host, as ``tc netem`` takes it: ``delay 10ms loss 1%``."""
        ip("netns", "exec", self.space(host), "tc", "qdisc", "replace", "dev", "eth0", "root",
           "netem", *words.split())  # fmt: skip


def orphans(words: str) -> list[int]:
    """Processes whose command line contains some words."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if words in line and "pytest" not in line:
            found.append(int(path.parent.name))
    return found
