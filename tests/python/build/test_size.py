# SPDX-License-Identifier: Apache-2.0
"""What `gandalf size` measures is measured right."""

import subprocess
from dataclasses import replace
from pathlib import Path

from gandalf.build.profile import find_profile
from gandalf.build.size import (
    Measure,
    changed_in_linux,
    count_lines,
    measure_profiles,
    read_sections,
)

CODE = """\
/* a comment
 * over lines */
#include <x.h> /* code */

int f(void) // code
{
\t/* comment */
\treturn "/* no comment */"[0]; /* code
\tcomment */
}
"""

PATCH = """\
--- a/arch/x86/include/asm/irqflags.h
+++ b/arch/x86/include/asm/irqflags.h
@@ -1,7 +1,6 @@
 a
-b
+c
 d
-e
-f
+g
 h
 i
--- a/mm/tlb.c
+++ b/mm/tlb.c
@@ -1,2 +1,3 @@
 a
+b
 c
--- /dev/null
+++ b/drivers/new.c
@@ -0,0 +1,2 @@
+x
+y
"""


def test_lines_of_code() -> None:
    assert count_lines(CODE) == 5
    assert count_lines("") == 0
    assert count_lines("/* only */\n\n\n") == 0
    assert count_lines("movl $1, %eax /* it's */\n\n\tint $0x1e\n# define X 1\n") == 3


def test_lines_changed_in_linux() -> None:
    assert changed_in_linux(PATCH) == (4, 2)


def compile_sections(folder: Path) -> Path:
    """Compile 25 words of text, 15 of data, 50 for all vCPUs and 100 of the trace ring."""
    source = folder / "x.c"
    source.write_text(
        "const int text[25] = {1}; int data[10] = {1}; int bss[5];"
        '__attribute__((section(".vcpu"))) int vcpu[50];'
        '__attribute__((section(".trace"))) int trace[100];'
    )
    output = folder / "x.o"
    subprocess.run(
        ["gcc", "-m32", "-ffreestanding", "-c", str(source), "-o", str(output)], check=True
    )
    return output


def test_sections_by_what_they_count_as(tmp_path: Path) -> None:
    sections = read_sections(compile_sections(tmp_path))
    assert sections.total("data") == 60
    assert sections.total("per vCPU") == 200
    assert sections.total("trace ring") == 400
    assert sections.total("text") == 100


def test_each_profile_has_all_budgets(tmp_path: Path) -> None:
    profile = replace(find_profile("rtos"), budget=99)
    text, data, vcpu = measure_profiles([(profile, compile_sections(tmp_path))])
    assert (text.name, text.value, text.kept) == ("VMM text and read-only data, rtos", 100, False)
    assert (data.name, data.value, data.kept) == ("VMM static data, rtos", 60, True)
    # Of nine vCPUs that an image has room for, the last one's share is rounded up.
    assert (vcpu.name, vcpu.value, vcpu.kept) == ("VMM data per vCPU, rtos", 23, True)


def test_budgets() -> None:
    assert Measure("x", 10, 10, "lines").kept
    assert not Measure("x", 11, 10, "lines").kept
