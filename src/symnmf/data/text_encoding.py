"""The encoding of a text file, and characters of other scripts as ordinary ones."""

from __future__ import annotations

import numpy as np

from symnmf.errors import InvalidFile

#: What is said about a file whose letters cannot be read.
OTHER_SCRIPT = (
    "letters outside ASCII are in an unknown encoding, so that names may be wrong: save the file "
    "as UTF-8"
)
#: Characters that cannot be seen, and digits and marks of other scripts → ordinary ones.
ORDINARY: dict[int, str] = {
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u061c"), ""),
    **dict.fromkeys(range(0x202A, 0x202F), ""),
    **{zero + i: str(i) for zero in (0x660, 0x6F0, 0x966, 0x9E6, 0xFF10) for i in range(10)},
    **dict(zip(map(ord, "٫٬．，％（）￥－"), ".,.,%()¥-", strict=True)),
}


def decode(content: bytes, source: str) -> tuple[bytes, str | None]:
    """The text of a file in UTF-8, and what was decided about its encoding; None for UTF-8.

    Arguments:
        content: the bytes.
        source: name of the file, for the error.

    Raises:
        InvalidFile: the bytes are no text.

    Example:
        >>> decode("a;é".encode("utf-16"), "x.csv")
        (b'a;\\xc3\\xa9', 'encoding UTF-16')
    """
    for mark, name in (
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if content.startswith(mark):
            return _decoded(content, name, source), f"encoding {name.upper()}"
    head = content[:4000]
    if b"\x00" in head.rstrip(b"\x00"):
        zeros = np.frombuffer(head[: len(head) // 2 * 2], np.uint8).reshape(-1, 2) == 0
        for column, name in ((1, "utf-16-le"), (0, "utf-16-be")):
            if zeros[:, column].mean() > 0.4 and zeros[:, 1 - column].mean() < 0.1:
                return _decoded(content, name, source), f"encoding {name.upper()}"
        raise InvalidFile(source, "is no text file (it has zero bytes)", "Pass a table as .csv")
    try:
        if not content.isascii():
            content = content.decode("utf-8-sig").translate(ORDINARY).encode()
        return content, None
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace").replace("\ufffd", "?")
        odd = sum(c < 32 and c not in (9, 10, 13, 26) for c in head)
        if odd > 0.02 * len(head):
            raise InvalidFile(source, "is no text file", "Pass a table as .csv") from None
        if _other_script(content):
            return text.encode(), OTHER_SCRIPT
        return text.encode(), "encoding Latin-1 (Windows-1252)"


def _other_script(content: bytes) -> bool:
    """Whether bytes above 127 stand together, as in Cyrillic, Greek, Chinese and Japanese."""
    high = np.frombuffer(content, np.uint8) > 127
    adjacent = np.zeros_like(high)
    adjacent[1:] |= high[:-1]
    adjacent[:-1] |= high[1:]
    return bool((high & adjacent).sum() > 0.5 * high.sum())


def _decoded(content: bytes, name: str, source: str) -> bytes:
    try:
        return content.decode(name).translate(ORDINARY).encode()
    except UnicodeDecodeError as broken:
        raise InvalidFile(
            source,
            f"is damaged: it begins as {name.upper()} and does not go on so",
            "Save it again",
        ) from broken
