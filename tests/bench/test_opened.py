# SPDX-License-Identifier: Apache-2.0
"""The way of an RTOS's memory with two levels that was not taken: pages opened while it runs.

The VMM has an address space for each RTOS (vmm/two_level/rtos_space.h). Here it is changed into one
that maps the RTOSes' pages as user pages everywhere, where it maps them for itself, and takes them
from ring 3 in the page directory. That directory is changed at each switch to the RTOS and back:
the one that is loaded, or the VMM's own. One RTOS alone is in its 4 MiB.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gandalf.bench import bench as benching
from gandalf.bench import switch as bench_switch
from gandalf.bench import targets
from gandalf.bench.results import Result
from gandalf.bench.target import Log
from gandalf.build.build import Built, build
from tests.boot.changed import substitute
from tests.boot.systems import PATIENCE, Boot
from tests.boot.test_two_level_rtos import FIRST, attackers
from tests.boot.two_level import changed_vmm

pytestmark = pytest.mark.long

# In the stack of each process of Linux.
STACK = 0xBFFFFC00
CREATE = """bool rtos_space_create(struct vm *vm)
{
	vm->vcpus->cr3 = CR3;
	vm->vcpus->opened = vm->linear >> LARGE_PAGE_SHIFT;
	vm->vcpus->pages = (vm->guest->memory_size + vm->vcpus->rtos->channel_bytes) >> PAGE_SHIFT;
	return true;
}

void rtos_space_start(UNUSED struct vcpu *vcpu)
{
}

"""
LOADED = "(core.cr3 == idle_vcpu.cr3 ? memory_directory : (u32 *)pool_pointer(core.cr3))"
SWITCH = """
	if (from->opened != 0) {
		u32 page = (from->opened << LARGE_PAGE_SHIFT) + PAGE_SIZE;
		u32 end = page + from->pages * PAGE_SIZE * EACH_PAGE;

		DIRECTORY[from->opened] &= ~PTE_U;
		for (; page != end; page += PAGE_SIZE)
			invlpg(page);
	}
	if (to->opened != 0)
		DIRECTORY[to->opened] |= PTE_U;
	if (to->cr3 != 0 && (to->cr3 != core.cr3 || (from->opened != 0 && !EACH_PAGE))) {
"""


@dataclass(frozen=True)
class Way:
    """Where pages are opened, and how the TLB forgets them: one by one, or all of them."""

    name: str
    loaded: bool
    each_page: bool

    def change(self, folder: Path) -> None:
        """Change the VMM's sources."""
        vmm = folder / "vmm"
        space = vmm / "guests" / "rtos" / "two_level" / "space.c"
        text = space.read_text()
        begin, end = text.index("/* Returns the entry of the VMM's"), text.index("/* Without a")
        text = text[:begin] + CREATE + text[end:]
        text = text.replace("CR3", "0" if self.loaded else "idle_vcpu.cr3")
        space.write_text(text.replace("#define ENTRIES 1024u", '#include "core/core.h"'))
        substitute(
            vmm / "two_level" / "rtos_space.h",
            "rtos_space_base(UNUSED const struct vm *vm)\n{\n\treturn 0;",
            "rtos_space_base(const struct vm *vm)\n{\n\treturn vm->linear;",
        )
        registers = "/* FXSAVE or FNSAVE image */"
        substitute(
            vmm / "arch" / "ia32" / "state.h", registers, f"{registers}\n\tu32 opened, pages;"
        )
        substitute(
            vmm / "arch" / "ia32" / "memory.c",
            "(physical + offset) | PTE_P | PTE_A | PTE_D | PTE_G;",
            "(physical + offset) | PTE_P | PTE_A | PTE_D | PTE_W | PTE_U;",
        )
        code = SWITCH.replace("DIRECTORY", LOADED if self.loaded else "memory_directory")
        header = vmm / "arch" / "ia32" / "switch.h"
        substitute(
            header, "\n\tif (to->cr3 != 0 && to->cr3 != core.cr3) {\n",
            code.replace("EACH_PAGE", str(int(self.each_page))),
        )  # fmt: skip
        core = '#include "core/core.h"'
        substitute(header, core, f'{core}\n#include "core/pool.h"\n#include "arch/ia32/memory.h"')

    def build(self) -> Path:
        """Build such a VMM; returns the image."""
        return changed_vmm(f"opened-{self.name}", self.change)


WAYS = (
    Way("loaded", loaded=True, each_page=False),
    Way("pages", loaded=True, each_page=True),
    Way("vmm", loaded=False, each_page=False),
)


def switch() -> Result:
    """Measure a switch between Linux and an RTOS."""
    target = targets.Switch("gandalf-two-level", description="gandalf-two-level-switch")
    found = benching.bench(benching.Plan(), [target], lambda _: None)
    assert not found.absent
    return found.results[0]


@pytest.fixture(scope="module")
def own() -> Result:
    """The same where the RTOS has an address space of its own."""
    return switch()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_to_open_pages_takes_longer(own: Result, way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    vmm, points = way.build(), bench_switch.points

    def build_with(path: Path, log: Log, deterministic: bool) -> Built:
        return replace(build(path, log, deterministic=deterministic), vmm=vmm)

    monkeypatch.setattr(targets, "build", build_with)
    monkeypatch.setattr(
        bench_switch, "points", lambda linux, *rtos: points(linux, *(FIRST + at for at in rtos))
    )
    found = switch()
    print(f"os_switch: {found.instructions}, own address space: {own.instructions}")
    assert found.instructions > own.instructions
    assert found.events["cr3_load"] <= own.events["cr3_load"]


def stack_is_read(name: str, address: int, vmm: Path | None = None) -> bool:
    """Have an RTOS read the stack of a process of Linux that works; say whether it can."""
    with Boot.start(attackers(f"two-level-opened-{name}"), vmm=vmm) as machine:
        machine.wait_for_shell()
        machine.expect("reach", r"^reach: ready\n", PATIENCE)
        machine.shell("while :; do :; done & true")
        machine.skip("reach")
        machine.send("reach", f"read {address:x}\n")
        return "reached" in machine.expect("reach", r"^reach: (?:reached read|ready)", PATIENCE)[0]


def test_an_rtos_reaches_linux_where_its_address_space_is_loaded() -> None:
    """Nothing keeps its pages from ring 3; the RTOS's linear addresses begin at FIRST."""
    beyond = (STACK - FIRST) & 0xFFFFFFFF
    assert stack_is_read("loaded", beyond, WAYS[0].build())
    assert not stack_is_read("vmm", beyond, WAYS[2].build())
    assert not stack_is_read("own", STACK)
