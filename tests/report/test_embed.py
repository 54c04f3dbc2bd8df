"""Data inside the page: JSON that stays inside its script element."""

import json

import pytest

from symnmf.report.embed import embedded_size, script_json

STRANGE = ["</script><script>alert(1)</script>", "<!--", "a\u2028b\u2029c", "it's", "&amp;", "é🚀"]


def test_no_text_can_end_the_element():
    text = script_json({"names": STRANGE})
    assert text.isascii()
    assert not set("<>&'") & set(text)
    assert json.loads(text) == {"names": STRANGE}
    assert embedded_size({"names": STRANGE}) == len(str(text).encode("utf-8"))


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_json_cannot_hold_is_an_error(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json([number])
