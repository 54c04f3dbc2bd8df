"""Files of tables: the format is found from the content, not from the ending of the name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import pandas as pd

from symnmf.data.header_rows import RawTable, find_table
from symnmf.data.text_encoding import OTHER_SCRIPT, decode
from symnmf.data.text_lines import CellRows, text_rows
from symnmf.errors import InvalidFile, InvalidInput, spelled
from symnmf.storage.untrusted import (
    ALWAYS_UNPACKED_BYTES,
    MAX_EXPANSION,
    check_expansion,
    read_arrow,
    read_parquet,
    reading,
)

#: First bytes of files that hold no table we can read → what they are.
OTHER_FILES = {
    b"%PDF": "a PDF document",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "a database",
    b"\x93NUMPY": "an array of numpy without names and dates",
    b"CDF\x01": "a NetCDF file",
    b"CDF\x02": "a NetCDF file",
    b"GRIB": "a GRIB file",
    b"X\n\x00\x00\x00": "a data file of R",
    b"7z\xbc\xaf": "compressed with 7-Zip",
    b"Rar!": "compressed with RAR",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"RDX": "a data file of R",
    b"\x80\x03": "a Python pickle, which may run code when it is read",
    b"\x80\x04": "a Python pickle, which may run code when it is read",
    b"\x80\x05": "a Python pickle, which may run code when it is read",
    b"MATLAB": "a data file of Matlab",
    b"<stata": "a data file of Stata",
    **{
        bytes((version, order)): "a data file of Stata"
        for version in range(113, 120)
        for order in (1, 2)
    },
    b"$FL2": "a data file of SPSS",
    b"$FL3": "a data file of SPSS",
    bytes(12) + b"\xc2\xea\x81\x60": "a data file of SAS",
    b"\x00\x01\x00\x00Standard": "a database of Access",
}
#: Remedy for them.
SAVE_IT = "Save the table as .csv, .parquet or .xlsx"
#: First bytes of compressed files → how they are opened.
PACKED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
#: Parts of documents that hold no table we can read → what they are.
OTHER_DOCUMENTS = {
    "content.xml": "an OpenDocument spreadsheet",
    "word/document.xml": "a text document",
    "xl/workbook.bin": "a binary workbook",
    "Index/Document.iwa": "a document of Apple's Numbers",
}
#: A part of a workbook that is protected by a password.
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
#: Parts of a workbook, by which it is told from other archives.
WORKBOOK = "xl/workbook.xml"


def read_file(path: Path, sheet: str | None = None) -> RawTable | pd.DataFrame:
    """The cells of a file: of text or a workbook as a raw table, of parquet and feather as a frame.

    Arguments:
        path: path of the file.
        sheet: sheet of a workbook; by default the first one that is not empty.

    Raises:
        InvalidFile: the file is missing or holds no table.
    """
    cells = read_rows(path, sheet)
    if cells is not None:
        with reading(path):
            return find_table(cells)
    with reading(path), path.open("rb") as file:
        begin = file.read(16)
        return read_parquet(path) if begin.startswith(b"PAR1") else read_arrow(path)


def read_rows(path: Path, sheet: str | None = None) -> CellRows | None:
    """The rows of a text file or a workbook; None for .parquet and .feather files.

    Arguments:
        path: path of the file.
        sheet: sheet of a workbook; by default the first one that is not empty.

    Raises:
        InvalidFile: the file is missing or holds no table.
        InvalidInput: a sheet was named, and the file is no workbook or has no such sheet.
    """
    if path.is_dir():
        raise InvalidFile(str(path), "is a folder", "Pass the path of a file")
    if not path.exists():
        raise InvalidFile(str(path), "does not exist", _near(path))
    if not path.is_file():
        raise InvalidFile(str(path), "is not a file", "Check the path")
    with reading(path):
        with path.open("rb") as file:
            begin = file.read(16)
        if sheet is not None and not begin.startswith((b"\xd0\xcf\x11\xe0", b"PK\x03\x04")):
            raise InvalidInput(
                "sheet",
                f"got {sheet!r}, but {path} is no workbook",
                "Leave it out, or pass an .xlsx or .xls file",
            )
        if begin.startswith((b"PAR1", b"ARROW1", b"FEA1")):
            return None
        if begin.startswith(b"\xd0\xcf\x11\xe0"):
            return _old_workbook(path, sheet)
        if begin.startswith(b"PK\x03\x04"):
            return _archive(path, sheet)
        for mark, words in OTHER_FILES.items():
            if begin.startswith(mark):
                raise InvalidFile(str(path), f"is {words}", SAVE_IT)
        if path.suffix.lower() in (".parquet", ".feather", ".xlsx", ".xls", ".xlsm"):
            words = path.suffix.lower()
            text_like = b"," in begin or b";" in begin or b"\t" in begin or b"<" in begin
            if not begin or not text_like:
                raise InvalidFile(
                    str(path), f"cannot be read: it is no {words} file", "Save or download it again"
                )
        packed = next((how for mark, how in PACKED.items() if begin.startswith(mark)), None)
        content = path.read_bytes() if packed is None else _unpacked(path, packed)
        if packed is not None:
            _check_inside(content, path)
        return _text(content, str(path))


def _text(content: bytes, source: str) -> CellRows:
    text, note = decode(content, source)
    notes = [] if note is None or note == OTHER_SCRIPT else [note]
    rows = text_rows(text, source, notes)
    if note == OTHER_SCRIPT:
        rows.cautions.append(note)
    return rows


def _check_inside(content: bytes, path: Path) -> None:
    """Raise an error if a compressed file holds anything but text."""
    other = next((words for mark, words in OTHER_FILES.items() if content.startswith(mark)), None)
    if other is not None:
        raise InvalidFile(str(path), f"is {other}", SAVE_IT)
    inside = None
    if content.startswith((b"PAR1", b"ARROW1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", *PACKED)):
        inside = "a table that is compressed once more"
    if content[257:262] == b"ustar":
        inside = "an archive (tar)"
    if inside is not None:
        raise InvalidFile(str(path), f"is {inside}", "Unpack it and pass the file that it holds")


def _near(path: Path) -> str:
    """Remedy for a missing file: names that are nearly the same."""
    from difflib import get_close_matches

    try:
        names = [p.name for p in path.parent.iterdir()][:2000]
    except OSError:
        return "Check the path"
    near = [n for n in names if n.lower() == path.name.lower()]
    near = near or get_close_matches(path.name, names, 1, 0.8)
    return f"Check the path; did you mean {near[0]}?" if near else "Check the path"


def _unpacked(path: Path, opened: Callable[..., Any]) -> bytes:
    """The content of a compressed file, up to the size that an honest table may have."""
    most = max(ALWAYS_UNPACKED_BYTES, MAX_EXPANSION * path.stat().st_size)
    try:
        with opened(path) as file:
            content: bytes = file.read(most + 1)
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as broken:
        raise InvalidFile(
            str(path), "is damaged: it ends too early", "Save or download it again"
        ) from broken
    if len(content) > most:
        check_expansion(path, float(2 * len(content)))
    return content


def _archive(path: Path, sheet: str | None) -> CellRows:
    """A workbook, or an archive with one table of text."""
    try:
        with ZipFile(path) as archive:
            members = [m for m in archive.infolist() if not m.is_dir()]
            check_expansion(path, float(sum(m.file_size for m in members)))
            names = [m.filename for m in members]
            if WORKBOOK in names:
                return _workbook(path, sheet)
            tables = [m for m in names if m.lower().endswith((".csv", ".txt", ".tsv", ".dat"))]
            tables = [m for m in tables if not m.startswith("__MACOSX")]
            tables = [m for m in tables if m.lower().endswith(".csv")] or tables
            for part, words in OTHER_DOCUMENTS.items():
                if part in names:
                    raise InvalidFile(str(path), f"is {words}", "Save it as .xlsx or .csv")
            if len(tables) == 1:
                return _text(archive.read(tables[0]), str(path))
    except BadZipFile as broken:
        raise InvalidFile(str(path), "is damaged", "Save or download it again") from broken
    what = f"{len(tables)} tables" if tables else "no table of text"
    held = ", ".join((tables or names)[:3])
    raise InvalidFile(
        str(path), f"is an archive with {what} ({held})", "Unpack it and pass one file"
    )


def _workbook(path: Path, sheet: str | None) -> CellRows:
    try:
        from openpyxl import load_workbook
    except ImportError as missing:
        raise _needs("openpyxl", path) from missing
    book = load_workbook(io.BytesIO(path.read_bytes()), read_only=True, data_only=True)
    try:
        sheets = {s.title: s for s in book.worksheets if hasattr(s, "iter_rows")}
        hidden = [name for name, s in sheets.items() if s.sheet_state != "visible"]
        rows = {}
        for name in _wanted(path, list(sheets), hidden, sheet):
            rows[name] = [list(row) for row in sheets[name].iter_rows(values_only=True)]
            if sheet is None and _is_table(rows[name]):
                break
        return _sheet_rows(path, rows, len(sheets))
    finally:
        book.close()


def _old_workbook(path: Path, sheet: str | None) -> CellRows:
    try:
        import xlrd
    except ImportError as missing:
        raise _needs("xlrd", path) from missing
    content = path.read_bytes()
    try:
        book = xlrd.open_workbook(file_contents=content, on_demand=True)
    except Exception as broken:  # xlrd raises errors of many types
        if ENCRYPTED in content or "encrypted" in str(broken):
            raise InvalidFile(
                str(path),
                "is protected by a password",
                "Open it in a spreadsheet and save it without the password",
            ) from broken
        raise InvalidFile(
            str(path), "cannot be read: it is no workbook", "Save the sheet as .csv"
        ) from broken
    rows = {}
    for name in _wanted(path, book.sheet_names(), [], sheet):
        page = book.sheet_by_name(name)
        rows[name] = [
            [_old_cell(page.cell(i, j), book.datemode, xlrd) for j in range(page.ncols)]
            for i in range(page.nrows)
        ]
        if sheet is None and _is_table(rows[name]):
            break
    return _sheet_rows(path, rows, book.nsheets)


def _old_cell(cell: Any, datemode: int, xlrd: Any) -> Any:
    if cell.ctype == xlrd.XL_CELL_DATE:
        return xlrd.xldate_as_datetime(cell.value, datemode)
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return "#N/A"
    return None if cell.ctype in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK) else cell.value


def _needs(package: str, path: Path) -> InvalidInput:
    return InvalidFile(
        str(path),
        f"is a workbook, and the package {package} is not installed",
        f"Install it with `pip install symnmf[excel]`, or save the sheet as .csv ({package})",
    )


def _wanted(path: Path, names: list[str], hidden: list[str], sheet: str | None) -> list[str]:
    """Sheets to try, in order."""
    if sheet is None:
        return [n for n in names if n not in hidden] or names
    if sheet not in names:
        raise InvalidInput(
            "sheet", f"{path} has no sheet {sheet!r}", f"Its sheets are {', '.join(names)}"
        )
    return [sheet]


def _filled(row: list[Any]) -> bool:
    return any(cell is not None and str(cell).strip() for cell in row)


def _is_table(rows: list[list[Any]]) -> bool:
    """Whether a sheet has several rows with several numbers or dates; others hold notes."""
    wide = sum(sum(cell is not None and cell != "" for cell in row) >= 2 for row in rows)
    return wide >= 3 and any(isinstance(cell, int | float) for row in rows for cell in row)


def _sheet_rows(path: Path, sheets: dict[str, list[list[Any]]], count: int) -> CellRows:
    """The rows of the last sheet that was read, as text."""
    name, rows = next(reversed(sheets.items()))
    if not _is_table(rows):  # no sheet holds a table of numbers: the first with any content
        filled = [(n, r) for n, r in sheets.items() if any(_filled(row) for row in r)]
        name, rows = filled[0] if filled else (name, rows)
    numbers = [i + 1 for i, row in enumerate(rows) if _filled(row)]
    if not numbers:
        raise InvalidFile(str(path), "is empty", "Pass a sheet with a header and rows")
    cells = [[_cell_text(cell) for cell in rows[i - 1]] for i in numbers]
    used = [j for j in range(max(map(len, cells))) if any(j < len(r) and r[j] for r in cells)]
    first = used[0]
    cells = [row[first : used[-1] + 1] for row in cells]
    notes = (
        []
        if count == 1
        else [f"sheet {name!r} of {count} sheets; another: {spelled('sheet', 'NAME')}"]
    )
    return CellRows(str(path), "row", numbers, notes=notes, rows=cells)


def _cell_text(cell: Any) -> str:
    """A cell of a workbook as text that is read back as the same value."""
    from datetime import date, datetime, time

    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, datetime):
        whole = cell.time() == time(0)
        return cell.strftime("%Y-%m-%d") if whole else cell.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return repr(cell) if isinstance(cell, float) else str(cell).strip()
