"""A link that delays and loses packets, between network namespaces, without ``tc netem``.

Run as a program: ``slow_link.py SECONDS LOSS SPACE SPACE …``. Each namespace gets a device
``eth0`` whose frames this program hands to all other namespaces, later or not at all. It prints
``ready`` and ends when its standard input is closed. Needs root and ``/dev/net/tun``.
"""

import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import sys
import time

NEWNET, TUNSETIFF, TAP, BARE = 0x40000000, 0x400454CA, 0x0002, 0x1000
#: Bytes of the largest frame.
FRAME = 65536


def device(space: str) -> int:
    """A new device ``eth0`` in a namespace, as a descriptor that reads and writes its frames."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{space}") as file:
        if libc.setns(file.fileno(), NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter {space}")
    made = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(made, TUNSETIFF, struct.pack("16sH", b"eth0", TAP | BARE))
    return made


def relay(seconds: float, loss: float, spaces: list[str]) -> None:
    """Hand on frames until the standard input is closed."""
    ports = [device(space) for space in spaces]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    draw, waiting, number = random.Random(0), [], 0
    while True:
        rest = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for port in select.select([*ports, sys.stdin], [], [], rest)[0]:
            if port is sys.stdin:
                return
            frame = os.read(port, FRAME)
            if draw.random() >= loss:
                number += 1
                heapq.heappush(waiting, (time.monotonic() + seconds, number, port, frame))
        while waiting and waiting[0][0] <= time.monotonic():
            *_, origin, frame = heapq.heappop(waiting)
            for port in ports:
                if port != origin:
                    try:
                        os.write(port, frame)
                    except OSError:  # the device is down, or its queue is full: the frame is lost
                        continue


if __name__ == "__main__":
    relay(float(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
