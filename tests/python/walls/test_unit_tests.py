# SPDX-License-Identifier: Apache-2.0
"""What `make check` says of unit tests in a wrong folder, and of stand-ins that are there twice."""

from pathlib import Path

import pytest

from gandalf.walls.unit_tests import check_mirror, check_stand_ins


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
        ({"guest/web/test_page.c": ["../guest/web/page.c"]}, []),
        (
            {"guest/web/test_page.c": ["lib/page.c"]},
            ["tests/unit/guest/web/test_page.c: it links no source of guest/web"],
        ),
        (
            {"guest/kernel/test_page.c": ["../guest/kernel/page.c"]},
            ["tests/unit/guest/kernel/test_page.c: there is no folder guest/kernel"],
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
    (tmp_path / "guest" / "web").mkdir(parents=True)
    assert check_mirror(tmp_path, tests) == found


FAKE = "/* The fake VMM. */\n__attribute__((weak)) void vm_stop(struct vm *vm)\n{\n}\n"
OWN = "/* Own stand-ins: vm_stop() ends the test. */\nvoid vm_stop(struct vm *vm)\n{\n}\n"
UNNAMED = "void vm_stop(struct vm *vm)\n{\n}\n"


@pytest.mark.parametrize(
    ("program", "is_right"),
    [
        (OWN, True),
        (UNNAMED, False),
        ("/* Own stand-ins: vm_start() ends the test. */\n" + UNNAMED, False),
        ("/* vm_stop() ends the test. */\n" + UNNAMED, False),
        ("void vm_stop(struct vm *vm);\nstatic void f(void)\n{\n\tvm_stop(0);\n}\n", True),
        ("/*\nvoid vm_stop(struct vm *vm)\n{\n}\n*/\n", True),
        ("void of_the_test(struct vm *vm)\n{\n}\n", True),
    ],
)
def test_a_second_stand_in_is_named(tmp_path: Path, program: str, is_right: bool) -> None:
    texts = {
        "vmm/core/vm.c": "void vm_stop(struct vm *vm)\n{\n}\n",
        "tests/unit/fake/core.c": FAKE + "void of_the_test(void)\n{\n}\n",
        "tests/fuzz/fuzz_vm.c": program,
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    wrong = "vm_stop() has a stand-in in tests/unit/fake/core.c, tests/fuzz/fuzz_vm.c"
    assert check_stand_ins(tmp_path) == ([] if is_right else [wrong])
