# SPDX-License-Identifier: Apache-2.0
"""The module: its table survives the way there and back, and holds what the description says."""

import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from fakes import GOOD, elf_bytes
from hypothesis import given
from hypothesis import strategies as st

from gandalf.base.abi import abi
from gandalf.base.paths import UserError
from gandalf.description.check import check
from gandalf.description.compose import compose
from gandalf.description.table import Table, TableError, TableGuest, TableImage, unpack

Describe = Callable[[str], Path]

U32 = st.integers(0, 2**32 - 1)
U16 = st.integers(0, 2**16 - 1)
NAMES = st.from_regex(r"\A[a-z][a-z0-9_-]{0,14}\Z")

GUESTS = st.builds(
    TableGuest,
    name=NAMES, kind=U32, priority=U32, memory_base=U32, memory_size=U32, entry=U32,
    boot_parameters=U32, command_line=U32, command_line_size=U32, on_reboot=U32, on_fault=U32,
    restart_limit=U32, interrupts=U32, flags=U32, watchdog_ms=U32,
    port_ranges=st.lists(st.tuples(U16, U16), max_size=8).map(tuple),
)  # fmt: skip
IMAGES = st.builds(
    TableImage,
    guest=U32, offset=U32, file_size=U32, room=U32, load_address=U32, memory_size=U32, checksum=U32,
    name=NAMES,
)  # fmt: skip
TABLES = st.builds(
    Table,
    module_size=U32, pool_base=U32, pool_size=U32, console_port=U32, console_interrupt=U32,
    console_baud=U32, focus=U32, flags=U32,
    guests=st.lists(GUESTS, max_size=9).map(tuple),
    images=st.lists(IMAGES, max_size=48).map(tuple),
)  # fmt: skip


@given(TABLES)
def test_a_table_survives_packing(table: Table) -> None:
    assert unpack(table.pack()) == table


@given(TABLES, st.integers(0), st.integers(0, 7))
def test_every_flipped_bit_is_noticed(table: Table, place: int, bit: int) -> None:
    content = bytearray(table.pack())
    content[place % len(content)] ^= 1 << bit
    with pytest.raises(TableError):
        unpack(bytes(content))


def test_a_short_table_is_noticed() -> None:
    with pytest.raises(TableError, match="too short"):
        unpack(b"GDFT")


def test_the_module_holds_what_the_description_says(describe: Describe) -> None:
    text = GOOD.replace(
        'memory = "64M"', 'memory = "64M"\ninterrupts = [5, 7]\nstrict_tls = true\ncontrol = true'
    )
    text += 'ports = ["0x300-0x30f", "0x320"]\non_reboot = "restart"\nrestart_limit = 7\n'
    text += "watchdog_ms = 250\n"
    text += '[console]\nfocus = "rtos"\nuart = "com2"\n'
    module = compose(check(describe(text)))
    table = unpack(module)
    linux, rtos = table.guests
    assert table.module_size == len(module)
    assert (table.pool_base, table.pool_size) == (68 << 20, 8 << 20)
    assert (table.console_port, table.console_interrupt, table.console_baud) == (0x2F8, 3, 115200)
    assert table.focus == 1
    assert (linux.name, linux.kind) == ("linux", abi()["KIND_LINUX_SHARED"])
    assert (linux.memory_base, linux.memory_size) == (4 << 20, 64 << 20)
    assert (linux.entry, linux.interrupts) == (0x1000000, 1 << 5 | 1 << 7)
    assert linux.flags == abi()["GUEST_STRICT_TLS"] | abi()["GUEST_CONTROL"]
    assert (linux.watchdog_ms, rtos.watchdog_ms) == (0, 250)
    assert linux.on_reboot == abi()["POLICY_RESTART"]
    assert (rtos.name, rtos.kind, rtos.priority) == ("rtos", abi()["KIND_RTOS"], 10)
    assert (rtos.memory_base, rtos.memory_size, rtos.entry) == (76 << 20, 1 << 20, 0x1000)
    assert rtos.port_ranges == ((0x300, 0x30F), (0x320, 0x320))
    assert (rtos.on_fault, rtos.restart_limit) == (abi()["POLICY_STOP"], 7)


def test_every_image_is_where_the_table_says(describe: Describe, folder: Path) -> None:
    module = compose(check(describe(GOOD)))
    table = unpack(module)
    assert [image.name for image in table.images] == [
        "kernel", "boot parameters", "command line", "initrd", "image",
    ]  # fmt: skip
    ends = [0]
    for image in table.images:
        content = module[image.offset : image.offset + image.file_size]
        assert len(content) == image.file_size
        assert zlib.crc32(content) == image.checksum
        assert image.memory_size >= image.file_size
        assert image.room == image.file_size
        assert image.load_address + image.memory_size <= table.guests[image.guest].memory_size
        assert image.offset >= ends[-1]
        ends.append(image.offset + image.file_size)
    initrd = table.images[3]
    assert initrd.load_address == (64 << 20) - 8192
    place = initrd.offset
    assert module[place : place + initrd.file_size] == (folder / "initrd").read_bytes()


def test_nothing_overlaps_in_memory(describe: Describe) -> None:
    table = unpack(compose(check(describe(GOOD))))
    regions = sorted((guest.memory_base, guest.memory_size) for guest in table.guests)
    regions = sorted([*regions, (table.pool_base, table.pool_size), (0x100000, 0x300000)])
    for (start, size), (following, _) in pairwise(regions):
        assert start + size <= following


def test_what_a_bzimage_brings_is_kept(describe: Describe) -> None:
    module = compose(check(describe(GOOD.replace("./vmlinux", "./bzImage"))))
    kernel, parameters = unpack(module).images[:2]
    assert (kernel.load_address, kernel.file_size, kernel.memory_size) == (1 << 24, 5000, 4 << 20)
    page = module[parameters.offset : parameters.offset + parameters.file_size]
    assert page[0x201] == 0x66
    assert int.from_bytes(page[0x258:0x260], "little") == 1 << 24


def test_fixed_places_are_kept(describe: Describe) -> None:
    text = GOOD.replace('memory = "64M"', 'memory = "64M"\nmemory_base = "32M"')
    table = unpack(compose(check(describe(text))))
    assert table.guests[0].memory_base == 32 << 20
    assert (table.pool_base, table.guests[1].memory_base) == (4 << 20, 12 << 20)


def test_a_dedicated_linux_is_one(describe: Describe) -> None:
    text = GOOD[: GOOD.index('[[guest]]\nname = "rtos"')] + 'mode = "dedicated"\n'
    table = unpack(compose(check(describe(text))))
    assert table.guests[0].kind == abi()["KIND_LINUX_DEDICATED"]


def test_a_machine_without_a_serial_port(describe: Describe) -> None:
    table = unpack(compose(check(describe(GOOD + '[console]\nuart = "none"\n'))))
    assert (table.console_port, table.console_interrupt, table.console_baud) == (0, 0, 0)


def test_the_same_input_gives_the_same_bytes(describe: Describe) -> None:
    path = describe(GOOD)
    assert compose(check(path)) == compose(check(path))
    assert compose(check(path, deterministic=True)) != compose(check(path))


def test_an_rtos_has_one_image_from_address_0(describe: Describe, folder: Path) -> None:
    """Holes between its segments become zeros; what follows the last byte of the file is none."""
    parts = [(0x1000, b"code", 0x800), (0x3000, b"data", 0x5000)]
    (folder / "rtos.elf").write_bytes(elf_bytes(parts, 0x1000))
    module = compose(check(describe(GOOD)))
    image = unpack(module).images[-1]
    assert (image.load_address, image.file_size, image.memory_size) == (0, 0x3004, 0x8000)
    content = module[image.offset :][: image.file_size]
    assert content == b"code".rjust(0x1004, b"\0") + b"data".rjust(0x2000, b"\0")


def test_another_image_has_room_where_a_guest_manages_others(describe: Describe) -> None:
    for more, room in (("control = true", (1 << 20) - 0x1000), ("", None)):
        text = GOOD.replace('memory = "64M"', f'memory = "64M"\n{more}')
        image = unpack(compose(check(describe(text)))).images[-1]
        assert image.room == (room or image.file_size)
        module = compose(check(describe(text + 'image_room = "64K"\n')))
        image = unpack(module).images[-1]
        assert image.room == 64 << 10
        assert image.offset + image.room <= len(module)


def test_channels_lie_in_linuxs_memory_or_alone(describe: Describe) -> None:
    more = GOOD[GOOD.index('[[guest]]\nname = "rtos"') :].replace('"rtos"\nkind', '"more"\nkind')
    text = GOOD + more
    for name, first, second in (("one", "linux", "rtos"), ("two", "rtos", "linux"),
                                ("three", "more", "rtos")):  # fmt: skip
        text += f'[[channel]]\nname = "{name}"\nbetween = ["{first}", "{second}"]\n'
    table = unpack(compose(check(describe(text))))
    linux = table.guests[0]
    end = linux.memory_base + linux.memory_size
    one, two, three = table.channels
    assert (one.name, one.guests, one.base, one.size) == ("one", (0, 1), end - 0x2000, 0x2000)
    assert (two.guests, two.base) == ((1, 0), end - 0x4000)
    assert three.guests == (2, 1)
    assert not any(
        three.base < guest.memory_base + guest.memory_size
        and guest.memory_base < three.base + three.size
        for guest in table.guests
    )
    initrd = next(image for image in table.images if image.name == "initrd")
    assert initrd.load_address + initrd.file_size <= linux.memory_size - 0x4000


def test_a_network_is_a_channel_of_a_special_name(describe: Describe) -> None:
    network = '[[network]]\nname = "lan"\nbetween = ["linux", "rtos"]\n'
    (channel,) = unpack(compose(check(describe(GOOD + network)))).channels
    assert (channel.name, channel.guests, channel.size) == ("net:lan", (0, 1), 256 << 10)


@pytest.mark.parametrize("room", ["1K", "1M", "2M"])
def test_a_room_that_cannot_be_is_a_mistake(describe: Describe, room: str) -> None:
    checked = check(describe(GOOD + f'image_room = "{room}"\n'))
    assert ["image_room" in mistake.sentence for mistake in checked.system.mistakes] == [True]


def test_too_many_segments(describe: Describe, folder: Path) -> None:
    parts = [(0x1000000 + 0x1000 * n, b"x", 1) for n in range(50)]
    (folder / "vmlinux").write_bytes(elf_bytes(parts, 0x1000000))
    with pytest.raises(UserError, match="54 segments; 48 fit"):
        compose(check(describe(GOOD)))
