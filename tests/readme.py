# SPDX-License-Identifier: Apache-2.0
"""The figures that stand in the README's tables, for the tests that measure them again."""

import re

from gandalf.base.paths import ROOT


def figures(row: str) -> list[list[float]]:
    """Return the numbers of each cell but the first of a table's row, found by how it begins."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith(f"| {row}"))
    return [
        [
            float(word.replace(",", ""))
            for word in re.findall(r"\d[\d,]*\d(?:\.\d+)?|\d(?:\.\d+)?", cell)
        ]
        for cell in line.strip("|").split("|")[1:]
    ]
