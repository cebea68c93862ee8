# SPDX-License-Identifier: Apache-2.0
"""Compares the folders of the unit tests with those of what they test.

tests/unit/FOLDER/test_NAME.c tests a source of vmm/FOLDER, or a header of abi/. So whoever looks
at a source knows where its tests are.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path


def check_mirror(root: Path, tests: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence for each test that stands where nothing is that it tests.

    tests: by the path in tests/unit, the sources of vmm/ that the test is linked with.
    """
    found = []
    for file, sources in tests.items():
        folder = Path(file).parent
        if folder == Path("abi"):
            continue
        if not (root / "vmm" / folder).is_dir():
            found.append(f"tests/unit/{file}: there is no folder vmm/{folder}")
        elif sources and not any(Path(source).parent == folder for source in sources):
            found.append(f"tests/unit/{file}: it links no source of vmm/{folder}")
    names = Counter(Path(file).name for file in tests)
    found += [f"{name} is there {times} times" for name, times in names.items() if times > 1]
    return found
