"""Storage on disk: atomic writes, locks, manifests, journals and readers of untrusted files."""

from symnmf.storage.atomic_files import about_to, atomic, write_json, write_text, writing
from symnmf.storage.locking import lock
from symnmf.storage.manifest import (
    MANIFEST,
    check_free,
    checksum,
    held,
    read_manifest,
    read_while_written,
    remove_all_but,
    write_manifest,
    write_set,
)
from symnmf.storage.spreadsheet import FORMULA, csv_text, safe_cell
from symnmf.storage.tensors import pack_json, plain, read_tensors, unpack_json, write_tensors
from symnmf.storage.untrusted import read_json

__all__ = [
    "FORMULA",
    "MANIFEST",
    "about_to",
    "atomic",
    "check_free",
    "checksum",
    "csv_text",
    "held",
    "lock",
    "pack_json",
    "plain",
    "read_json",
    "read_manifest",
    "read_tensors",
    "read_while_written",
    "remove_all_but",
    "safe_cell",
    "unpack_json",
    "write_json",
    "write_manifest",
    "write_set",
    "write_tensors",
    "write_text",
    "writing",
]
