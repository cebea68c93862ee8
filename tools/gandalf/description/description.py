# SPDX-License-Identifier: Apache-2.0
"""The system description: its fields, and how a TOML file becomes them.

docs/system-description.md explains every field; a test holds the two together.
What a field may hold is decided here; how fields, guests and images fit
together is decided in check.py. All mistakes are collected, none is raised.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gandalf.base.abi import abi
from gandalf.base.paths import ROOT, shown
from gandalf.base.toml_lines import Document, Location, TomlError, read_toml
from gandalf.description.keyboard import Keys
from gandalf.description.quantities import PortRange, parse_port_range, parse_size
from gandalf.description.sentences import article, sentence

_BAUDS = (115200, 57600, 38400, 19200, 9600, 4800, 2400, 1200)


def _parse_uart(value: object) -> object:
    if isinstance(value, str):
        if value not in STANDARD_UARTS:
            raise ValueError(
                'must be "com1", "com2", "none" or a table {port = ..., interrupt = ...}'
            )
        return STANDARD_UARTS[value]
    return value


def _check_baud(value: object) -> object:
    if value not in _BAUDS:
        raise ValueError(f"must be one of {', '.join(map(str, _BAUDS))}")
    return value


Size = Annotated[int, BeforeValidator(parse_size)]
Ports = Annotated[PortRange, BeforeValidator(parse_port_range)]
Interrupt = Annotated[int, Field(ge=0, le=15)]
Policy = Literal["restart", "stop"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Machine(_Model):
    """The hardware that the system runs on."""

    memory: Size
    cpus: Annotated[int, Field(ge=1)] = 1
    cpus_required: bool = True
    shadow_pool: Size = 8 << 20
    interruptible: bool = True
    rings: Literal["four", "two-level"] = "four"
    direct_switch: bool = True
    prefill: bool = True
    cache_entries: Annotated[int, Field(ge=1, le=256)] = 8
    cache_hints: bool = True
    global_pages: bool = False
    coherence: Literal["hook", "detect"] = "hook"
    cache_policy: Literal["fifo", "lru", "bimodal"] = "bimodal"


class Uart(_Model):
    """The serial port of the VMM, which carries all consoles."""

    port: Annotated[int, Field(ge=1, le=0xFF8)]
    interrupt: Interrupt
    baud: Annotated[int, BeforeValidator(_check_baud)] = 115200


COM1 = Uart(port=0x3F8, interrupt=4)
COM2 = Uart(port=0x2F8, interrupt=3)
STANDARD_UARTS: dict[str, Uart | None] = {"com1": COM1, "com2": COM2, "none": None}


class Console(_Model):
    """Where the consoles are, and which has the keyboard at the start."""

    uart: Annotated[Uart | None, BeforeValidator(_parse_uart)] = COM1
    focus: str | None = None
    screen: bool = False
    keys: Keys = {}


class _Guest(_Model):
    """What every guest has."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,14}$")]
    cpu: Annotated[int, Field(ge=0)] = 0
    memory: Size
    memory_base: Size | None = None
    on_fault: Policy = "stop"
    restart_limit: Annotated[int, Field(ge=0, le=1000)] = 3
    watchdog_ms: Annotated[int, Field(ge=0, le=3_600_000)] = 0
    interrupts: list[Interrupt] = []
    ports: list[Ports] = []


# Policies against lock-holder preemption that not every profile of the VMM has.
REMEDIES = ("delayed", "pull", "trap")
# The one of them that not every profile with the others has.
TRAP = "trap"


class LinuxGuest(_Guest):
    """A Linux system, its kernel in ring 1 and its processes in ring 3."""

    kind: Literal["linux"]
    mode: Literal["shared", "dedicated"] = "shared"
    cpus: list[Annotated[int, Field(ge=0)]] | None = None
    slice_us: Annotated[int, Field(ge=500, le=100_000)] = 1000
    yielding_spin: bool = True
    migrate: bool = False
    lock_holder_preemption: Literal["none", "delayed", "trap", "on-demand", "pull"] = "none"
    delay_limit_us: Annotated[int, Field(ge=5, le=10_000)] = 100
    kernel: str
    initrd: str | None = None
    command_line: str = "console=ttyS0"
    on_reboot: Policy = "restart"
    priority: Annotated[int, Field(ge=0, le=255)] = 0
    strict_tls: bool = False
    control: bool = False


class RtosGuest(_Guest):
    """A real-time system in ring 1 with segments of its own."""

    kind: Literal["rtos"]
    image: str
    image_room: Size | None = None
    on_reboot: Policy = "stop"
    priority: Annotated[int, Field(ge=0, le=255)]


Guest = LinuxGuest | RtosGuest


class Channel(_Model):
    """Memory that two guests share, with a ring of bytes in each direction."""

    table: ClassVar[str] = "channel"

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,14}$")]
    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    size: Size = 8 << 10

    @property
    def shared_name(self) -> str:
        """The name that its guests find."""
        return self.name


class Network(Channel):
    """A channel with a ring of Ethernet frames in each direction (abi/network.h)."""

    table: ClassVar[str] = "network"

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,10}$")] = "net0"
    size: Size = 256 << 10

    @property
    def shared_name(self) -> str:
        """The name that its guests find, which says that it is a network."""
        return abi()["NETWORK_PREFIX"].to_bytes(4, "little").decode() + self.name


# Taken instead of a value that is missing or wrong, so that the rest of the
# description is checked all the same. What depends on it is not reported.
_STAND_INS: dict[str, Any] = {
    "memory": "16M", "name": "guest", "kernel": "", "image": "", "priority": 1,
    "port": 0x3F8, "interrupt": 4, "between": ["", ""],
}  # fmt: skip


@dataclass(frozen=True, order=True)
class Mistake:
    """One mistake in a description, as `file:line: sentence`."""

    line: int
    sentence: str


@dataclass
class System:
    """A description as read, with its mistakes so far and what they make doubtful."""

    path: Path
    document: Document
    machine: Machine
    console: Console
    guests: list[tuple[int, Guest]] = field(default_factory=list)
    channels: list[tuple[int, Channel]] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    doubtful: set[Location] = field(default_factory=set)
    # Where the items of a list stand in the file, if wrong ones were left out.
    positions: dict[Location, list[int]] = field(default_factory=dict)

    def mistake(self, sentence: str, location: Location, *others: Location) -> None:
        """Note a mistake at a location, unless it follows from an earlier one."""
        if not any(self.is_doubtful(place) for place in (location, *others)):
            self.mistakes.append(Mistake(self.document.line(location), sentence))

    def item(self, location: Location, index: int) -> Location:
        """Return the location of a list's item, by its index among the items that are right."""
        positions = self.positions.get(location)
        return (*location, positions[index] if positions else index)

    def is_doubtful(self, location: Location) -> bool:
        """Tell whether a value was missing or wrong and has a stand-in."""
        return any(location[:length] in self.doubtful for length in range(1, len(location) + 1))

    def messages(self) -> list[str]:
        """Return every mistake as `file:line: sentence`, in the order of the file."""
        return [f"{shown(self.path)}:{item.line}: {item.sentence}" for item in
                sorted(set(self.mistakes))]  # fmt: skip

    def located(self) -> Iterator[tuple[Location, Guest]]:
        """Yield the guests with their locations in the file."""
        for index, guest in self.guests:
            yield ("guest", index), guest

    def place_of(self, name: str) -> int | None:
        """Return the index of the guest of a name among the guests; None: there is none."""
        names = [guest.name for _, guest in self.guests]
        return names.index(name) if name in names else None

    def channel_bytes(self, guest: Guest) -> int:
        """Return the bytes of a guest's channels."""
        return sum(channel.size for _, channel in self.channels if guest.name in channel.between)

    def resolve(self, name: str) -> Path:
        """Return the file that an image's name in this description means."""
        base = self.path.parent if name.startswith(("./", "../")) else ROOT
        return (base / name).resolve()

    def focus(self) -> int:
        """Return the index of the guest whose console has the keyboard first."""
        guests = [guest for _, guest in self.guests]
        named = [n for n, guest in enumerate(guests) if guest.name == self.console.focus]
        linux = [n for n, guest in enumerate(guests) if guest.kind == "linux"]
        return (named + linux + [0])[0]


def _validate(system: System, model: type[BaseModel], data: dict[str, Any], base: Location) -> Any:
    """Return the model, with stand-ins for the fields that are wrong or missing."""
    try:
        return model.model_validate(data)
    except ValidationError as failure:
        errors = failure.errors()
    good = dict(data)
    left_out: dict[str, set[int]] = {}
    unsure: set[Location] = set()
    for error in errors:
        name, *inner = error["loc"]
        system.mistake(sentence(error, model, Uart), base + error["loc"])
        if inner and isinstance(inner[0], int):
            left_out.setdefault(str(name), set()).add(inner[0])
            continue
        unsure.add((*base, name))
        good.pop(str(name), None)
        known = model.model_fields.get(str(name))
        if name in _STAND_INS and known is not None and known.is_required():
            good[str(name)] = _STAND_INS[str(name)]
    system.doubtful |= unsure
    for name, wrong in left_out.items():
        kept = [index for index in range(len(data[name])) if index not in wrong]
        system.positions[(*base, name)] = kept
        good[name] = [data[name][index] for index in kept]
    return model.model_validate(good)


def _table(system: System, name: str) -> dict[str, Any]:
    """Return a table of the file; an empty one, and a mistake, if it is something else."""
    value = system.document.data.get(name, {})
    if isinstance(value, dict):
        return value
    system.mistake(f"`{name}` must be a table: write [{name}] on a line of its own.", (name,))
    system.doubtful.add((name,))
    return {}


def _read_guest(system: System, index: int, data: object) -> None:
    base: Location = ("guest", index)
    if not isinstance(data, dict):
        system.mistake("A guest must be a table: write [[guest]] on a line of its own.", base)
        return
    kinds: dict[object, type[BaseModel]] = {"linux": LinuxGuest, "rtos": RtosGuest}
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        wrong = f"not {article(kind)}" if "kind" in data else "and is missing here"
        system.mistake(f'`kind` must be "linux" or "rtos", {wrong}.', (*base, "kind"))
        system.doubtful.add((*base, "kind"))
        kind = "rtos" if "image" in data else "linux"
        data = {**data, "kind": kind}
    system.guests.append((index, _validate(system, kinds[kind], data, base)))


def _read_channels(system: System, model: type[Channel]) -> None:
    """Read the channels of one kind."""
    name = model.table
    channels = system.document.data.get(name, [])
    if not isinstance(channels, list) or not all(isinstance(data, dict) for data in channels):
        system.mistake(f"A {name} must be a table: write [[{name}]] on a line.", (name,))
        return
    for index, data in enumerate(channels):
        system.channels.append((index, _validate(system, model, data, (name, index))))


def read_description(path: Path) -> System:
    """Read a description. What is wrong with its fields is in .mistakes of the result.

    Raises OSError if the file cannot be read.
    """
    placeholder = Machine.model_validate({"memory": "256M"})
    try:
        document = read_toml(path)
    except TomlError as error:
        system = System(path, Document({}), placeholder, Console())
        system.mistakes.append(Mistake(error.line, f"This is not valid TOML: {error}."))
        return system
    system = System(path, document, placeholder, Console())
    for name in document.data:
        if name not in ("machine", "console", "guest", "channel", "network"):
            system.mistake(
                f"There is no `{name}` here; known are [machine], [console], [[guest]], "
                "[[channel]] and [[network]].",
                (name,),
            )
    system.machine = _validate(system, Machine, _table(system, "machine"), ("machine",))
    system.console = _validate(system, Console, _table(system, "console"), ("console",))
    guests = document.data.get("guest", [])
    if not isinstance(guests, list) or not guests:
        system.mistake("There must be at least one [[guest]].", ("guest",))
        return system
    for index, data in enumerate(guests):
        _read_guest(system, index, data)
    for model in (Channel, Network):
        _read_channels(system, model)
    return system
