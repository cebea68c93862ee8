# SPDX-License-Identifier: Apache-2.0
"""What a hypervisor is, beside what it does: bytes and lines of Gandalf, and bytes of Xen.

Nothing runs for it: Gandalf's are those of `gandalf size` and of the memory map, Xen's are in its
image and in the symbols that it was asked for.
"""

from collections.abc import Callable, Iterable

from elftools.elf.elffile import ELFFile

from gandalf.bench import amd64 as bench_amd64
from gandalf.bench import amd64_names
from gandalf.build import size
from gandalf.build.build import build_vmm
from gandalf.description.description import Machine
from gandalf.description.layout import VMM_END, VMM_START

# The bench's systems have the pool that a description has by itself.
_POOL = int(Machine.model_fields["shadow_pool"].default)
Log = Callable[[str], None]


def _gandalf() -> dict[str, int]:
    _, measures = size.measure(build_vmm())
    return {
        **{f"{item.name}, {item.unit}": item.value for item in measures},
        "memory for the VMM, bytes": VMM_END - VMM_START,
        "memory for shadow page tables, bytes": _POOL,
    }


def _xen(log: Log) -> dict[str, int]:
    """Its read-only data are not told from what it writes; both are in the image."""
    addresses = amd64_names.names(bench_amd64.XEN, log).addresses
    with bench_amd64.build_xen(log).open("rb") as file:
        loaded = [part["p_memsz"] for part in ELFFile(file).iter_segments("PT_LOAD")]
    return {
        "text without that of the start, bytes": addresses["_etext"] - addresses["_stext"],
        "text of the start, bytes": addresses["_einittext"] - addresses["_sinittext"],
        "image in memory, bytes": sum(loaded),
    }


def footprint(systems: Iterable[str], log: Log) -> dict[str, dict[str, int]]:
    """Return the figures of the hypervisors among systems that have run, by name."""
    names = set(systems)
    found = {}
    if any(name.startswith("gandalf-") for name in names):
        found["gandalf"] = _gandalf()
    if bench_amd64.XEN in names:
        found["xen"] = _xen(log)
    return found
