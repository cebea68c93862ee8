# SPDX-License-Identifier: Apache-2.0
"""The reference of what loads have seen of masked sections."""

from pathlib import Path

import pytest

from gandalf.masked import docs
from gandalf.masked.docs import Seen, keep_seen, read_reference, seen_by_load, write_seen


def test_a_load_must_not_reach_what_it_has_reached_by_chance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs, "SEEN", tmp_path)
    monkeypatch.setattr(docs, "REFERENCE", tmp_path / "reference")
    write_seen("crowd", {"line": 900, "take_down": 700}, ["line", "take_down"])
    write_seen("linux", {"line": 300, "chips": 100})
    write_seen("traps", {"line": 400, "chips": 50})
    keep_seen()
    reference = read_reference()
    assert reference == {
        "line": Seen(900, "crowd", "traps"),
        "take_down": Seen(700, "crowd", ""),
        "chips": Seen(100, "linux", "linux"),
    }
    assert seen_by_load(reference, "crowd") == set()
    assert seen_by_load(reference, "traps") == {"line"}
