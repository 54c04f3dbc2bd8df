"""Every file of the corpus: read rightly, or refused with words that help."""

import re
import warnings

import agencies
import cell_forms
import documents
import exports
import further_files
import numpy as np
import pandas as pd
import pytest
import strangers
from corpus import NAMES, build

from symnmf.cli.app import OPTION_OF
from symnmf.data import IsMatrix, read_matrix, read_panel
from symnmf.data.classes import read_classes
from symnmf.data.matrix_checks import sensible_matrix
from symnmf.errors import DataWarning, SymnmfError, speaking
from symnmf.operators import as_operator

#: Words of Python that have no place in a message to a person.
PYTHON_WORDS = re.compile(
    r"Traceback|dtype|NoneType|DataFrame|ndarray|KeyError|ValueError|TypeError|object|<class|"
    r"float64|int64|tokeniz|codec|\bnp\.|\bpd\.|list index|=True|='"
)
PARTS = (further_files, exports, agencies, cell_forms, documents, strangers)
CASES = [*build(), *(case for part in PARTS for case in part.build())]


def read(case, path):
    """What the reader of the kind of the case returns, and all that it said."""
    with warnings.catch_warnings(record=True) as warned, speaking(OPTION_OF):
        warnings.simplefilter("always")
        if case.kind == "classes":
            found = read_classes(path)
            return found, [str(w.message) for w in warned]
        if case.kind == "matrix by itself":
            with pytest.raises(IsMatrix):
                read_panel(path, kind="auto")
        if case.kind.startswith("matrix"):
            S, notes = sensible_matrix(read_matrix(path), **case.options)
            return as_operator(S), notes
        panel = read_panel(path, kind=case.kind, **case.options)
    assert all(w.category is DataWarning for w in warned), [str(w.message) for w in warned]
    return panel, [*panel.summary.steps, *panel.summary.cautions]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_file(case, tmp_path):
    path = tmp_path / case.name
    path.write_bytes(case.content)
    if case.values is None:
        with pytest.raises(SymnmfError) as caught:
            read(case, path)
        message = str(caught.value)
        for words in case.says:
            assert words in message
        assert not PYTHON_WORDS.search(message.replace(str(path), "")), message
        return
    found, said = read(case, path)
    text = "\n".join(said)
    for words in case.says:
        assert words in text
    assert not PYTHON_WORDS.search(text.replace(str(path), "")), text
    if case.kind == "classes":
        assert list(found) == NAMES
        assert found["XOM"] == "energy"
        return
    if case.kind.startswith("matrix"):
        assert tuple(found.names or ()) == case.names
        np.testing.assert_allclose(found.to_dense(), case.values, atol=1e-6)
        return
    assert found.names == case.names
    values = case.values
    if found.summary.kind == "prices":
        values = np.diff(np.log(values), axis=0)
    np.testing.assert_allclose(found.values, values, rtol=1e-6, atol=1e-9)
    if case.first is None:
        assert found.dates is None
    else:
        days = pd.DatetimeIndex(found.dates)
        if found.summary.kind == "prices":
            assert days[0] > pd.Timestamp(case.first)
        else:
            assert days[0].normalize() == pd.Timestamp(case.first)
        assert days.is_monotonic_increasing


def test_the_corpus_is_large_enough():
    assert len(CASES) >= 760
    assert len({case.name for case in CASES}) == len(CASES)
    assert sum(case.values is not None for case in CASES) >= 490
