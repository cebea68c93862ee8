# SPDX-License-Identifier: Apache-2.0
"""The tasks of a FreeRTOS guest, each of which a debugger shows as a thread."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gandalf.base.abi import abi
from gandalf.build.structures import Place, read_structures, read_variables
from gandalf.debug.state import Register

_STRUCTURES = ("tskTCB", "xLIST", "xLIST_ITEM")
_CURRENT = "pxCurrentTCB"
_RUNNING = "xSchedulerRunning"
# Lists of tasks, of which the first is an array with one for each priority.
_LISTS = {
    "pxReadyTasksLists": "ready", "xDelayedTaskList1": "delayed", "xDelayedTaskList2": "delayed",
    "xPendingReadyList": "ready", "xSuspendedTaskList": "waiting",
}  # fmt: skip
# What port.S leaves on the stack of a task that does not run, from its top: a pointer to its
# floating-point state, its interrupt flag, PUSHA, and the frame of an interrupt.
_STACKED = ("edi", "esi", "ebp", "", "ebx", "edx", "ecx", "eax", "eip", "cs", "eflags")
_FIRST = 8
_MOST_TASKS = 256

ReadGuest = Callable[[int, int], bytes]


@dataclass(frozen=True)
class Task:
    """A task. tcb: the address of its control block, which is also its number."""

    tcb: int
    name: str
    state: str


class FreeRtos:
    """The tasks of a guest. read: memory of the guest, by its own addresses."""

    def __init__(self, image: Path, read: ReadGuest) -> None:
        self._read = read
        self._structures = read_structures(image, _STRUCTURES)
        self._variables = read_variables(image, (_CURRENT, _RUNNING, *_LISTS))

    @property
    def is_there(self) -> bool:
        """Whether the guest is a FreeRTOS whose image says how its tasks are laid out."""
        return {_CURRENT, _RUNNING} <= set(self._variables) and (
            self._structures.keys() == set(_STRUCTURES)
        )

    def _number(self, address: int, place: Place) -> int:
        return int.from_bytes(self._read(address + place.offset, place.size), "little")

    def current(self) -> int:
        """Return the task that runs, or would run next; 0 before the scheduler has started.

        main() makes tasks before that, and is none of them: who steps over it stays in it.
        """
        if not self._number(self._variables[_RUNNING].offset, Place(0, 4)):
            return 0
        return self._number(self._variables[_CURRENT].offset, Place(0, 4))

    def tasks(self) -> list[Task]:
        """Return all tasks but deleted ones; none before the scheduler has started."""
        current = self.current()
        if not current:
            return []
        found = {current: "running"}
        for name, state in _LISTS.items():
            for tcb in self._listed(name):
                found.setdefault(tcb, state)
        return [Task(tcb, self._name(tcb), state) for tcb, state in sorted(found.items())]

    def _name(self, tcb: int) -> str:
        place = self._structures["tskTCB"].members["pcTaskName"]
        content = self._read(tcb + place.offset, place.size)
        return content.partition(b"\0")[0].decode("ascii", "replace")

    def _listed(self, name: str) -> Iterator[int]:
        """Yield the tasks in a list, or in an array of lists, that FreeRTOS has initialised."""
        variable, size = self._variables.get(name), self._structures["xLIST"].size
        for start in (
            range(variable.offset, variable.offset + variable.size, size) if variable else ()
        ):
            yield from self._items(start)

    def _items(self, start: int) -> Iterator[int]:
        members, item = self._structures["xLIST"].members, self._structures["xLIST_ITEM"].members
        end = start + members["xListEnd"].offset
        at = self._number(end, item["pxNext"])
        for _ in range(_MOST_TASKS):
            if at in (end, 0):
                return
            yield self._number(at, item["pvOwner"])
            at = self._number(at, item["pxNext"])

    def saved(self, tcb: int) -> dict[str, Register]:
        """Return the registers with which a task that does not run will go on.

        The addresses of the registers are the guest's own.
        """
        top = self._number(tcb, self._structures["tskTCB"].members["pxTopOfStack"])
        registers = {
            name: Register(self._number(top, Place(offset, 4)), top + offset)
            for name, offset in zip(_STACKED, range(_FIRST, 100, 4), strict=False)
            if name
        }
        registers["esp"] = Register(top + _FIRST + 4 * len(_STACKED), None)
        for name in ("ss", "ds", "es", "fs", "gs"):
            registers[name] = Register(abi()["RTOS_DATA"], None)
        return registers
