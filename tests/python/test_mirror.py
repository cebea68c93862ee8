# SPDX-License-Identifier: Apache-2.0
"""What `make check` says of unit tests that stand where nothing is that they test."""

from pathlib import Path

import pytest

from gandalf.walls.unit_tests import check_mirror


@pytest.mark.parametrize(
    ("tests", "found"),
    [
        ({"core/test_vm.c": ["lib/math.c", "core/vm.c"]}, []),
        ({"abi/test_channel.c": [], "core/test_string.c": []}, []),
        ({"test_vm.c": ["core/vm.c"]}, ["tests/unit/test_vm.c: it links no source of vmm/."]),
        (
            {"core/test_math.c": ["lib/math.c"]},
            ["tests/unit/core/test_math.c: it links no source of vmm/core"],
        ),
        (
            {"kernel/test_vm.c": ["core/vm.c"]},
            ["tests/unit/kernel/test_vm.c: there is no folder vmm/kernel"],
        ),
        (
            {"core/test_vm.c": ["core/vm.c"], "lib/test_vm.c": ["lib/vm.c"]},
            ["test_vm.c is there 2 times"],
        ),
    ],
)
def test_a_test_in_another_folder_is_named(
    tmp_path: Path, tests: dict[str, list[str]], found: list[str]
) -> None:
    for folder in ("core", "lib"):
        (tmp_path / "vmm" / folder).mkdir(parents=True)
    assert check_mirror(tmp_path, tests) == found
