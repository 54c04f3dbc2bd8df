"""The folder of a result: one set of files, written at once under one lock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from symnmf import storage
from symnmf.analysis.pipeline import Analysis
from symnmf.core.packing import pack_result, unpack_result
from symnmf.core.result import Result
from symnmf.defaults import SAVE_EVERY
from symnmf.errors import InvalidFile, spelled
from symnmf.grouping.naming import group_names
from symnmf.grouping.result_tables import history_table, labels_table, loadings_table
from symnmf.storage.atomic_files import json_text
from symnmf.storage.checkpoint import RESUMABLE, Checkpoint
from symnmf.storage.kinds import RESULT
from symnmf.storage.untrusted import complete

#: The folder of the checkpoint, inside that of the result.
CHECKPOINT_FOLDER = "checkpoint"


def save(found: Result | Analysis, folder: str | Path, *, force: bool = False) -> Path:
    """Write a result to a folder.

    The folder gets the model (``model-….safetensors``) and ``manifest.json``, which makes the model
    current in one step: a process that is killed leaves the old result or the new one. Then follow
    the tables: ``loadings`` (csv and parquet), ``labels.csv``, ``history.csv`` and
    ``certificate.json``; groups are numbered from 1. An analysis adds ``data.json``,
    ``classes.csv`` and ``suspects.csv`` (returns that are probably errors), where there are some,
    and with evidence about extremes ``events.csv`` (the groups that each extreme day hit);
    with a portfolio, ``portfolio.csv``, ``portfolio_groups.csv``, ``worst_days.csv`` and
    ``group_returns.csv``.

    Arguments:
        found: what :func:`symnmf.factorize` or :func:`symnmf.analyse` returned.
        folder: folder to write; created when missing.
        force: whether to replace an existing result.

    Returns:
        The folder.

    Raises:
        InvalidFile: the folder holds a result and ``force`` is False.

    Example:
        >>> import tempfile, numpy as np, symnmf as sn
        >>> result = sn.factorize(np.kron(np.eye(2), np.ones((3, 3))), k=2)
        >>> sn.load(sn.save(result, tempfile.mkdtemp())).status.name
        'EXACT'
    """
    with ResultFolder.held(folder, force=force) as held:
        held.write(found)
    return Path(folder)


def load(folder: str | Path) -> Result:
    """Read a result that :func:`save` wrote, after verifying its checksums.

    Arguments:
        folder: folder of the result.

    Raises:
        InvalidFile: the folder holds no result, or the result is damaged.

    Example:
        >>> import tempfile, numpy as np, symnmf as sn
        >>> result = sn.factorize(np.kron(np.eye(2), np.ones((3, 3))), k=2)
        >>> again = load(sn.save(result, tempfile.mkdtemp()))
        >>> bool((again.H == result.H).all()), again.certificate == result.certificate
        (True, True)
    """

    def read() -> Result:
        found, content = storage.read_manifest(Path(folder), RESULT.name)
        with complete(folder, "result", "Run the fit again"):
            return unpack_result(storage.read_tensors(found["model"]), content)

    return storage.read_while_written(Path(folder), read)


class ResultFolder:
    """A folder that one run locks from its beginning until the files of its result are written.

    Arguments:
        folder: folder of the result.
        force: whether an existing result may be replaced.
    """

    def __init__(self, folder: Path, *, force: bool):
        self.folder, self.force = folder, force

    @classmethod
    @contextmanager
    def held(
        cls,
        folder: str | Path,
        *,
        force: bool = False,
        resume: bool = False,
        restarted: bool = False,
    ) -> Iterator[ResultFolder]:
        """Lock the folder, after checking that its contents may be replaced.

        Arguments:
            folder: folder of the result; created when missing.
            force: whether to replace an existing result.
            resume: whether to replace the result of an interrupted run, which is to be continued.
            restarted: whether the same run was started again after one of its processes died; it
                then replaces its own files. The checkpoint rejects a run of another problem.

        Raises:
            InvalidFile: the folder holds files that must not be replaced.
        """
        folder = Path(folder)
        with storage.lock(folder):
            own = restarted and Checkpoint(folder / CHECKPOINT_FOLDER).exists()
            replace = force or own or (resume and _was_cut_off(folder))
            storage.check_free(folder, RESULT, force=replace)
            yield cls(folder, force=force)

    def checkpoint(self, every_seconds: float = SAVE_EVERY) -> Checkpoint:
        """The checkpoint of the run of this folder; the lock of the folder covers it."""
        return Checkpoint(
            self.folder / CHECKPOINT_FOLDER, every_seconds, overwrite=self.force, locked=True
        )

    def write(
        self, found: Result | Analysis, *, report: str | None = None, config: str | None = None
    ) -> None:
        """Write the result, its tables and its report as one set.

        Arguments:
            found: a result or an analysis.
            report: text of ``report.html``.
            config: text of ``config.toml``.
        """
        result = found.result if isinstance(found, Analysis) else found
        model, content = pack_result(result)
        loadings = loadings_table(result)
        tables: dict[str, str | Callable[[Path], Any]] = {
            "loadings.parquet": loadings.to_parquet,
            "loadings.csv": storage.csv_text(loadings),
            "labels.csv": storage.csv_text(labels_table(result, _shares(found))),
            "history.csv": storage.csv_text(history_table(result)),
            "certificate.json": json.dumps(content["certificate"], indent=1) + "\n",
        }
        if isinstance(found, Analysis):
            if found.record:
                tables["data.json"] = json_text(found.record)
            if found.suspects is not None:
                tables["suspects.csv"] = storage.csv_text(found.suspects)
            if found.comparison is not None:
                tables["classes.csv"] = storage.csv_text(found.comparison.table)
            if found.evidence is not None and found.evidence.extremes is not None:
                days = found.evidence.extremes.table(group_names(result))
                tables["events.csv"] = storage.csv_text(days)
            if found.portfolio is not None:
                tables |= found.portfolio.texts()
        if config is not None:
            tables["config.toml"] = config
        if report is not None:
            tables["report.html"] = report
        storage.write_set(self.folder, RESULT, model, content, tables)


def _shares(found: Result | Analysis) -> np.ndarray | None:
    """Confidence of each member, where histories were resampled."""
    if not isinstance(found, Analysis) or found.stability is None:
        return None
    return found.stability.members


def _was_cut_off(folder: Path) -> bool:
    """Whether a folder holds the result of a run that can be continued.

    Raises:
        InvalidFile: the folder holds the result of a run that cannot be continued.
    """
    if storage.held(folder) != RESULT.name:
        return False
    try:
        _, content = storage.read_manifest(folder, RESULT.name)
        status = content["status"]
    except (InvalidFile, KeyError, TypeError):
        return False
    if status not in RESUMABLE:
        raise InvalidFile(
            str(folder),
            f"holds a result that ended {status}, which cannot be continued",
            f"Choose another folder, or pass {spelled('force')} to replace it",
        )
    return True
