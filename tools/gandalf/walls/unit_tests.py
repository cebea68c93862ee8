# SPDX-License-Identifier: Apache-2.0
"""Compares the folders of the unit tests with those of what they test; finds what is twice.

tests/unit/FOLDER/test_NAME.c tests a source of vmm/FOLDER, or a header of abi/, and
tests/unit/guest/FOLDER/test_NAME.c one of guest/FOLDER. So whoever looks at a source knows where
its tests are.
"""

import re
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
        is_guest = folder.parts[:1] == ("guest",)
        tested = str(folder) if is_guest else f"vmm/{folder}"
        linked = Path("..") / folder if is_guest else folder
        if not (root / tested).is_dir():
            found.append(f"tests/unit/{file}: there is no folder {tested}")
        elif sources and not any(Path(source).parent == linked for source in sources):
            found.append(f"tests/unit/{file}: it links no source of {tested}")
    names = Counter(Path(file).name for file in tests)
    found += [f"{name} is there {times} times" for name, times in names.items() if times > 1]
    return found


# A function at the first column, with what it returns in front; not a prototype.
_FUNCTION = re.compile(
    r"^(?:__attribute__\(\(\w+\)\) )?(?!static\b|typedef\b|return\b)"
    r"[A-Za-z_][\w \t*]*?[ \t*](\w+)\([^;{}]*\)\s*\{",
    re.MULTILINE,
)
_CALLED = re.compile(r"\b([a-z_]\w*)\(")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_OWN = "Own stand-ins"


def _named(text: str) -> set[str]:
    """Return the functions that comments of a test name as its own stand-ins."""
    comments = [comment for comment in _COMMENT.findall(text) if _OWN in comment]
    return {name for comment in comments for name in _CALLED.findall(comment)}


def check_stand_ins(root: Path) -> list[str]:
    """Return a sentence for each stand-in of a function of the VMM that is there once more.

    One is enough: the fake VMM's in tests/unit/fake, or that of the only test that needs it. A
    test that has another one names it in a comment that says why.
    """
    vmm = set[str]()
    for path in (root / "vmm").rglob("*.[ch]"):
        vmm.update(_CALLED.findall(path.read_text()))
    texts = {
        path.relative_to(root): path.read_text()
        for folder in ("tests/unit", "tests/fuzz")
        for path in sorted((root / folder).rglob("*.[ch]"))
    }
    places: dict[str, list[Path]] = {}
    for path, text in texts.items():
        for name in vmm.intersection(_FUNCTION.findall(_COMMENT.sub("", text))):
            places.setdefault(name, []).append(path)
    found = []
    for name, paths in sorted(places.items()):
        unnamed = [path for path in paths if name not in _named(texts[path])]
        if len(unnamed) > 1:
            found.append(f"{name}() has a stand-in in {', '.join(map(str, unnamed))}")
    return found
