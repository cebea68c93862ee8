# SPDX-License-Identifier: Apache-2.0
"""Every mistake in a description is found, all at once, at its line, and nothing else is."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from fakes import GOOD, RTOS_ELF, elf_bytes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from gandalf.base.paths import ROOT, UserError
from gandalf.description.check import check, show
from gandalf.description.quantities import parse_port_range, parse_size, size_text
from gandalf.guests.places import Variant

Describe = Callable[[str], Path]


def mistakes(path: Path) -> list[tuple[int, str]]:
    return [(item.line, item.sentence) for item in sorted(set(check(path).system.mistakes))]


def test_a_good_description_has_none(describe: Describe) -> None:
    assert mistakes(describe(GOOD)) == []


@pytest.mark.parametrize("path", sorted((ROOT / "systems").glob("*.toml")), ids=lambda p: p.stem)
def test_the_systems_of_the_tree_are_right(path: Path) -> None:
    assert check(path).system.messages() == []


NINE_PORTS = [str(port) for port in range(784, 793)]
# What is replaced in GOOD, by what, the line of the mistake, and part of its sentence.
SINGLE = [
    ('memory = "128M"', 'memory = "128M"\nmemroy = 1', 3, "did you mean `memory`?"),
    ('memory = "128M"\n', "", 1, "The field `memory` is missing"),
    ('"128M"', "128", 2, "must be a size in quotation marks"),
    ('"128M"', '"128X"', 2, "must be a size in quotation marks"),
    ('"128M"', '"8G"', 2, "less than 4G"),
    ('"128M"', '"3500M"', 2, "must be between 16M and 3072M"),
    ('"128M"', '"131073K"', 2, "whole number of MiB"),
    ('"128M"', '"128M"\ncpus = 9', 3, "Gandalf runs on 8 CPUs at most"),
    ('"128M"', '"128M"\ncpus_required = 1', 3, "`cpus_required` must be true or false"),
    ('kind = "linux"', 'kind = "linux"\ncpu = 1', 7, "CPU 1 does not exist: the machine has CPU 0"),
    ('"128M"', '"128M"\ncpus = "1"', 3, "`cpus` must be a whole number"),
    ('"128M"', '"128M"\ncpus = true', 3, "`cpus` must be a whole number"),
    ('"128M"', '"128M"\ncpus = 0', 3, "`cpus` must be at least 1"),
    ('"128M"', '"128M"\nshadow_pool = "6M"', 3, "a multiple of 4M from 4M to 12M"),
    ('"128M"', '"128M"\nshadow_pool = "16M"', 3, "a multiple of 4M from 4M to 12M"),
    ('"128M"', '"70M"', 2, "need 7"),
    ("[machine]", "[machines]", 1, "There is no `machines` here"),
    ("[machine]", "machine = 3\n[x]", 1, "`machine` must be a table"),
    ("\n[[guest]]\nname = \"linux\"", "\n[guest]\nname = \"linux\"", 11, "not valid TOML"),
    ('name = "linux"', 'name = "Linux"', 5, "must be a small letter"),
    ('name = "linux"', 'name = "' + "l" * 16 + '"', 5, "must be a small letter"),
    ('name = "linux"', 'name = "vmm"', 5, "taken by the VMM's own console"),
    ('name = "linux"', 'name = "rtos"', 12, "already taken in line 5"),
    ('kind = "linux"', 'kind = "bsd"', 6, '`kind` must be "linux" or "rtos", not "bsd"'),
    ('kind = "linux"\n', "", 4, '`kind` must be "linux" or "rtos", and is missing here'),
    ('kind = "linux"', 'kind = "linux"\nmode = "both"', 7, '`mode` must be "shared" or'),
    ('kind = "linux"', 'kind = "linux"\nmode = "dedicated"', 7, "rtos on the same CPU"),
    ('kind = "linux"', 'kind = "linux"\ncpu = 1', 7, "CPU 1 does not exist: the machine has CPU 0"),
    ('kind = "linux"', 'kind = "linux"\npriority = 1', 7, "`priority` of a Linux guest is 0"),
    ('kind = "linux"', 'kind = "linux"\nstrict_tls = 1', 7, "`strict_tls` must be true or false"),
    ('kind = "linux"', 'kind = "linux"\ncommand_line = "noapic x"', 7, "Remove `noapic`"),
    ('kind = "linux"', 'kind = "linux"\ncommand_line = "tsc_early_khz=1"', 7, "Remove `tsc_early"),
    ('kind = "linux"', 'kind = "linux"\ncommand_line = "a\\tb"', 7, "printable ASCII"),
    ('kind = "linux"', f'kind = "linux"\ncommand_line = "{"x" * 2000}"', 7, "is too long"),
    ('kind = "linux"', 'kind = "linux"\nimage = "x"', 7, "There is no field `image` here"),
    ('kind = "linux"', 'kind = "linux"\ninterrupts = [4]', 7, "IRQ 4, the serial port"),
    ('kind = "linux"', 'kind = "linux"\ninterrupts = [8]', 7, "IRQ 8, the real-time clock"),
    ('kind = "linux"', 'kind = "linux"\ninterrupts = [16]', 7, "must be at most 15"),
    ('kind = "linux"', 'kind = "linux"\ninterrupts = 5', 7, "must be a list"),
    ('kind = "linux"', 'kind = "linux"\ninterrupts = [5, 5]', 7, "has it already"),
    ('kind = "linux"', 'kind = "linux"\nports = ["0x20"]', 7, "is the interrupt controller"),
    ('kind = "linux"', 'kind = "linux"\nports = ["0x2f-0x30"]', 7, "0x30-0x31 is the interrupt"),
    ('kind = "linux"', 'kind = "linux"\nports = ["0x22"]', 7, "is the switch from the interrupt"),
    ('kind = "linux"', 'kind = "linux"\nports = ["0x3f0-0x3f8"]', 7, "serial port of the consoles"),
    ('kind = "linux"', 'kind = "linux"\nports = ["0xfff-0x1000"]', 7, "0xfff is the last"),
    ('kind = "linux"', 'kind = "linux"\nports = ["0x310-0x300"]', 7, "ends before it begins"),
    ('kind = "linux"', 'kind = "linux"\nports = [5]', 7, "must be ports in quotation marks"),
    ('kind = "linux"', 'kind = "linux"\nports = ["0x300", "0x300"]', 7, "has 0x300 already"),
    ('kind = "linux"', f'kind = "linux"\nports = {NINE_PORTS}', 7, "8 is the most"),
    ('kind = "linux"', 'kind = "linux"\nmemory_base = "1M"', 7, "must be a multiple of 4M"),
    ('kind = "linux"', 'kind = "linux"\nmemory_base = "0x0"', 7, "overlaps that of BIOS"),
    ('kind = "linux"', 'kind = "linux"\nrestart_limit = -1', 7, "must be at least 0"),
    ('kind = "linux"', 'kind = "linux"\non_fault = "ignore"', 7, '"restart" or "stop"'),
    ('memory = "64M"', 'memory = "63M"', 9, "`memory` of linux must be a multiple of 4M"),
    ('memory = "64M"', 'memory = "0"', 9, "must be at least"),
    ('memory = "64M"', 'memory = "16M"', 9, "The kernel ./vmlinux does not fit"),
    ("./vmlinux", "./nothing", 7, "there is no file"),
    ("./vmlinux", "build/linux/unknown/vmlinux", 7, "there is no file"),
    ("./vmlinux", "./initrd", 7, "is neither an ELF file (vmlinux) nor a bzImage"),
    ("./vmlinux", "./rtos.elf", 7, "is linked below 1 MiB"),
    ("./initrd", "./nothing", 8, "there is no file"),
    ("./rtos.elf", "./nothing", 14, "there is no file"),
    ("./rtos.elf", "./initrd", 14, "is not an ELF file"),
    ("./rtos.elf", "./bzImage", 14, "is not an ELF file"),
    ("./rtos.elf", "./vmlinux", 15, "does not fit: it ends at 18M"),
    ('memory = "1M"', 'memory = "12K"', 15, "only 8K can be used"),
    ('memory = "1M"', 'memory = "1000"', 15, "at least 8K"),
    ('memory = "1M"', 'memory = "40M"', 15, "the VMM can map 32M"),
    ('memory = "1M"', 'memory = "1M"\nmemory_base = "0x200000"', 16, "overlaps that of VMM"),
    ("priority = 10\n", "", 11, "The field `priority` is missing"),
    ("priority = 10", "priority = 0", 16, "must be 1 to 255"),
    ("priority = 10", "priority = 256", 16, "must be at most 255"),
    ("priority = 10", "priority = 1.5", 16, "must be a whole number"),
    ("priority = 10", 'priority = 10\n[console]\nfocus = "x"', 18, 'names "x"'),
    ("priority = 10", 'priority = 10\n[console]\nuart = "com9"', 18, '"com1", "com2", "none"'),
    ("priority = 10", "priority = 10\n[console]\nuart = {port = 0x3f8}", 18, "interrupt` is m"),
    ("priority = 10", "priority = 10\n[console]\nuart = {port = 0x60, interrupt=4}", 18, "overlap"),
    ("priority = 10", "priority = 10\n[console]\nuart = {port = 1000, interrupt=8}", 18, "IRQ 8"),
    ("priority = 10",
     "priority = 10\n[console]\nuart = {port = 1000, interrupt=4, baud=1}", 18, "one of 1152"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "part"), SINGLE)
def test_one_mistake(describe: Describe, old: str, new: str, line: int, part: str) -> None:
    assert old in GOOD
    found = mistakes(describe(GOOD.replace(old, new, 1)))
    assert [at for at, sentence in found if part in sentence] == [line], found


@pytest.mark.parametrize("index", range(len(SINGLE)))
def test_a_mistake_does_not_bring_many_others(describe: Describe, index: int) -> None:
    old, new, _, _ = SINGLE[index]
    assert len(mistakes(describe(GOOD.replace(old, new, 1)))) <= 2


def test_all_mistakes_at_once(describe: Describe) -> None:
    text = GOOD.replace('"128M"', '"128M"\ncpus = 9\nspeed = 1')
    text = text.replace("./vmlinux", "./nothing").replace('"1M"', "1").replace("= 10", '= "x"')
    text = text.replace('kind = "rtos"', 'kind = "rtos"\ninterrupts = [0, "a", 5, 4]')
    found = mistakes(describe(text))
    assert [line for line, _ in found] == [3, 4, 9, 16, 16, 16, 18, 19]


def test_messages_have_file_and_line(describe: Describe) -> None:
    path = describe(GOOD.replace('"128M"', '"x"'))
    assert check(path).system.messages()[0].startswith(f"{path}:2: `memory` must be")


CHANNEL = '[[channel]]\nname = "line"\nbetween = ["linux", "rtos"]\n'
# What is replaced in CHANNEL, by what, the line of it, and part of the mistake's sentence.
CHANNEL_MISTAKES = [
    ('name = "line"\n', "", 1, "The field `name` is missing"),
    ('"line"', '"Line"', 2, "must be a small letter"),
    ('["linux", "rtos"]', '["linux"]', 3, "`between`"),
    ('["linux", "rtos"]', '["linux", "rtos", "x"]', 3, "`between`"),
    ('["linux", "rtos"]', '["linux", "other"]', 3, "there is no such guest; there are linux, rtos"),
    ('["linux", "rtos"]', '["rtos", "rtos"]', 3, "two different guests"),
    ('"rtos"]\n', '"rtos"]\nsize = "3K"\n', 4, "a multiple of 4K up to 1M"),
    ('"rtos"]\n', '"rtos"]\nsize = "2M"\n', 4, "a multiple of 4K up to 1M"),
    ("[[channel]]", "[channel]", 1, "must be a table"),
]


@pytest.mark.parametrize(("old", "new", "line", "part"), CHANNEL_MISTAKES)
def test_mistakes_of_a_channel(
    describe: Describe, old: str, new: str, line: int, part: str
) -> None:
    text = GOOD + CHANNEL.replace(old, new, 1)
    found = check(describe(text)).system.mistakes
    start = GOOD.count("\n")
    assert [mistake.line - start for mistake in found] == [line], found
    assert part in found[0].sentence


def test_channels_have_names_and_lines_of_their_own(describe: Describe) -> None:
    assert check(describe(GOOD + CHANNEL)).system.messages() == []
    (found,) = check(describe(GOOD + CHANNEL + CHANNEL)).system.mistakes
    assert 'There is a channel "line" already' in found.sentence
    many = "".join(CHANNEL.replace("line", f"line{number}") for number in range(9))
    (found,) = check(describe(GOOD + many)).system.mistakes
    assert "too many channels: 8 is the most" in found.sentence
    doorbell = GOOD.replace('kind = "linux"', 'kind = "linux"\ninterrupts = [10]')
    (found,) = check(describe(doorbell + CHANNEL)).system.mistakes
    assert "IRQ 10 is the doorbell" in found.sentence


NETWORK = '[[network]]\nbetween = ["linux", "rtos"]\n'
NETWORK_MISTAKES = [
    ("between", 'name = "a-name-too-long"\nbetween', 2, "up to 10 more of a-z"),
    ("between", 'speed = "1G"\nbetween', 2, "There is no field `speed` here"),
    ('["linux", "rtos"]', '["linux", "other"]', 2, "there is no such guest; there are linux, rtos"),
    ('["linux", "rtos"]', '["rtos", "rtos"]', 2, "two different guests"),
    ('"rtos"]\n', '"rtos"]\nsize = "2M"\n', 3, "`size` of a network must be a multiple of 4K"),
    ("[[network]]", "[network]", 1, "A network must be a table"),
]


@pytest.mark.parametrize(("old", "new", "line", "part"), NETWORK_MISTAKES)
def test_mistakes_of_a_network(
    describe: Describe, old: str, new: str, line: int, part: str
) -> None:
    text = GOOD + NETWORK.replace(old, new, 1)
    found = check(describe(text)).system.mistakes
    start = GOOD.count("\n")
    assert [mistake.line - start for mistake in found] == [line], found
    assert part in found[0].sentence


def test_networks_have_names_of_their_own(describe: Describe) -> None:
    """A channel may be called the same; all of them together are no more than eight."""
    channel = CHANNEL.replace("line", "net0")
    assert check(describe(GOOD + NETWORK + channel)).system.messages() == []
    (found,) = check(describe(GOOD + NETWORK + NETWORK)).system.mistakes
    assert 'There is a network "net0" already' in found.sentence
    many = "".join(CHANNEL.replace("line", f"line{number}") for number in range(8))
    (found,) = check(describe(GOOD + many + NETWORK)).system.mistakes
    assert "too many channels: 8 is the most" in found.sentence


@pytest.mark.parametrize("part", [CHANNEL, NETWORK])
def test_two_linuxes_share_no_memory(describe: Describe, part: str) -> None:
    """The second would be told an address that is no memory of its own."""
    start = GOOD.index("[[guest]]")
    second = GOOD[start : GOOD.index("[[guest]]", start + 1)].replace('"linux"', '"second"', 1)
    text = GOOD + second.replace('kind = "linux"', 'kind = "linux"\ncpu = 1')
    text = text.replace("[machine]\n", "[machine]\ncpus = 2\n", 1)
    text += part.replace('"linux", "rtos"', '"linux", "second"')
    found = [mistake.sentence for mistake in check(describe(text)).system.mistakes]
    assert any("linux and second are both a Linux" in sentence for sentence in found), found


def test_two_guests_cannot_have_the_same(describe: Describe) -> None:
    extra = '\ninterrupts = [5]\nports = ["0x300-0x30f"]\n'
    text = GOOD.replace('memory = "64M"', 'memory = "64M"' + extra)
    text += 'interrupts = [7, 5]\nports = ["0x30f-0x310"]\n'
    found = mistakes(describe(text))
    assert [line for line, _ in found] == [20, 21]
    assert "IRQ 5 is given to rtos, but linux has it already." in found[0][1]
    assert "Ports 0x30f-0x310 are given to rtos, but linux has 0x300-0x30f" in found[1][1]


def test_two_guests_cannot_overlap(describe: Describe) -> None:
    text = GOOD.replace('memory = "64M"', 'memory = "64M"\nmemory_base = "8M"')
    text += 'memory_base = "0x4700000"\n'
    found = mistakes(describe(text))
    assert [line for line, _ in found] == [18]
    assert "overlaps that of linux" in found[0][1]


def test_one_linux_on_a_cpu(describe: Describe) -> None:
    second = '\n[[guest]]\nname = "b"\nkind = "linux"\nkernel = "./vmlinux"\nmemory = "32M"\n'
    found = mistakes(describe(GOOD + second))
    assert [(line, "already has a Linux guest" in text) for line, text in found] == [(20, True)]


def test_too_many_guests(describe: Describe) -> None:
    text = '[machine]\nmemory = "64M"\n'
    for number in range(10):
        text += f'[[guest]]\nname = "g{number}"\nkind = "rtos"\nimage = "./rtos.elf"\n'
        text += 'memory = "64K"\npriority = 1\n'
    found = mistakes(describe(text))
    assert [(line, "9 is the most" in sentence) for line, sentence in found] == [(57, True)]


def test_dedicated_linux_has_everything(describe: Describe) -> None:
    text = GOOD[: GOOD.index('[[guest]]\nname = "rtos"')]
    text += 'mode = "dedicated"\nports = ["0x300"]\ninterrupts = [5]\n'
    assert [line for line, _ in mistakes(describe(text))] == [12, 13]


def test_no_guest(describe: Describe) -> None:
    assert mistakes(describe('[machine]\nmemory = "64M"\n')) == [
        (1, "There must be at least one [[guest]].")
    ]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (elf_bytes([(0, b"x", 1)], 0, machine=62), "another machine"),
        (elf_bytes([(0, b"x", 1)], 0, kind=3), "not linked to a fixed address"),
        (elf_bytes([(0, b"x", 1)], 0, bits=2), "for 32-bit x86"),
        (elf_bytes([], 0), "nothing to load"),
        (elf_bytes([(0, b"x", 1)], 0x500), "entry point 0x500 outside"),
        (elf_bytes([(0, b"xx", 1)], 0), "cut short"),
        (elf_bytes([(0, b"x", 0x2000), (0x1000, b"x", 1)], 0), "overlap at 0x1000"),
        (RTOS_ELF[:-4], "cut short"),
        (RTOS_ELF[:60], "ELF"),
        (b"\x7fELF", "damaged ELF"),
    ],
)
def test_bad_elf(describe: Describe, folder: Path, content: bytes, part: str) -> None:
    (folder / "rtos.elf").write_bytes(content)
    found = mistakes(describe(GOOD))
    assert len(found) == 1
    assert found[0][0] == 14
    assert part in found[0][1]


def test_bad_bzimage(describe: Describe, folder: Path) -> None:
    good = (folder / "bzImage").read_bytes()
    text = GOOD.replace("./vmlinux", "./bzImage")
    assert mistakes(describe(text)) == []
    (folder / "bzImage").write_bytes(good[:0x206] + b"\x02\x02" + good[0x208:])
    assert "boot protocol 0x202" in mistakes(describe(text))[0][1]
    (folder / "bzImage").write_bytes(good[:0x250])
    assert "cut short" in mistakes(describe(text))[0][1]


def test_ports_between_the_copies_of_chips_can_be_given(describe: Describe) -> None:
    """Those of a Super I/O chip's configuration."""
    ports = 'kind = "linux"\nports = ["0x2e-0x2f", "0x4e-0x4f"]'
    assert mistakes(describe(GOOD.replace('kind = "linux"', ports))) == []


def test_the_console_s_uart_is_not_the_screen(describe: Describe) -> None:
    text = GOOD + "[console]\nuart = { port = 0x3d8, interrupt = 5 }\nscreen = "
    assert mistakes(describe(text + "false\n")) == []
    assert any(
        "the screen of the" in sentence for _, sentence in mistakes(describe(text + "true\n"))
    )


@pytest.mark.parametrize("ramdisk", ["", 'initrd = "./initrd"\n'])
def test_a_kernel_ends_in_front_of_its_channels(describe: Describe, ramdisk: str) -> None:
    """The kernel takes 16M to 18M of 24M, and channels are at the end of that."""
    text = GOOD.replace('initrd = "./initrd"\n', ramdisk).replace('"64M"', '"24M"')
    sized = CHANNEL.replace("line", "line{}") + 'size = "1M"\n'
    five = "".join(sized.format(number) for number in range(5))
    assert mistakes(describe(text + five)) == []
    (found,) = mistakes(describe(text + five + sized.format(5) + sized.format(6)))
    assert "The kernel ./vmlinux does not fit: it ends at 18M" in found[1]
    assert "only 17M can be used" in found[1]


def test_an_entry_is_in_what_the_file_has(describe: Describe, folder: Path) -> None:
    """The VMM finds it in an image, of which what is filled with zeros is no part."""
    for entry, told in ((0x203F, False), (0x2040, True)):
        image = elf_bytes([(0x1000, b"\xf4" * 64, 64), (0x2000, b"\xf4" * 64, 4096)], entry)
        (folder / "rtos.elf").write_bytes(image)
        found = [sentence for _, sentence in mistakes(describe(GOOD))]
        assert any(f"entry point {entry:#x} outside" in sentence for sentence in found) == told


def test_rtoses_and_their_channels_fit_into_what_the_vmm_maps(describe: Describe) -> None:
    """32 MiB for each CPU, with a page in front of each RTOS."""
    second = GOOD[GOOD.rindex("[[guest]]") :].replace('"rtos"', '"second"', 1)
    for one, other, told in (("15M", "16368K", False), ("15M", "16M", True)):
        text = (GOOD + second).replace('"128M"', '"256M"').replace('"1M"', f'"{one}"', 1)
        text = text.replace('"1M"', f'"{other}"', 1).replace("= 10", "= 11", 1)
        channel = CHANNEL + 'size = "1M"\n'
        found = [sentence for _, sentence in mistakes(describe(text + channel))]
        assert any("All RTOSes of CPU 0" in sentence for sentence in found) == told, found
    text = text.replace("[machine]", "[machine]\ncpus = 2").replace("= 11", "= 11\ncpu = 1")
    assert mistakes(describe(text + channel)) == []


def test_initrd_that_does_not_fit(describe: Describe, folder: Path) -> None:
    (folder / "initrd").write_bytes(bytes(20 << 20))
    text = GOOD.replace('memory = "64M"', 'memory = "32M"')
    found = mistakes(describe(text))
    assert [(line, "initial RAM disk" in sentence) for line, sentence in found] == [(9, True)]


def test_images_have_any_size_for_which_there_is_memory(describe: Describe, folder: Path) -> None:
    (folder / "initrd").write_bytes(bytes(30 << 20))
    assert mistakes(describe(GOOD.replace('"128M"', '"256M"'))) == []
    text = GOOD.replace('"128M"', '"96M"')
    assert any("the guests' images (" in sentence for _, sentence in mistakes(describe(text)))


def test_images_to_be_built_may_be_missing(
    describe: Describe, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gandalf.description.guests.BUILD", folder / "build")
    text = GOOD.replace('"./vmlinux"', f'"{folder}/build/linux/patched/vmlinux"')
    text = text.replace('"./rtos.elf"', f'"{folder}/build/freertos/demo.elf"')
    text = text.replace('"./initrd"', f'"{folder}/build/rootfs/initramfs.cpio"')
    checked = check(describe(text))
    assert checked.system.mistakes == []
    assert checked.loaded == [None, None]


@pytest.mark.parametrize("mode", ["shared", "dedicated"])
@pytest.mark.parametrize("image", ["vmlinux", "arch/x86/boot/bzImage"])
@pytest.mark.parametrize("variant", get_args(Variant))
def test_each_kernel_of_the_tool_is_for_one_mode_at_most(
    describe: Describe, folder: Path, monkeypatch: pytest.MonkeyPatch, variant: str, image: str,
    mode: str,
) -> None:  # fmt: skip
    monkeypatch.setattr("gandalf.description.guests.BUILD", folder / "build")
    text = GOOD[: GOOD.index('[[guest]]\nname = "rtos"')] + f'mode = "{mode}"\n'
    text = text.replace("./vmlinux", f"{folder}/build/linux/{variant}/{image}")
    wanted = dict.fromkeys(("native", "dedicated"), "dedicated")
    wanted |= dict.fromkeys((variant for variant in get_args(Variant) if "smp" in variant), "none")
    wanted["complete-native"] = "dedicated"
    found = mistakes(describe(text))
    if mode == wanted.get(variant, "shared"):
        assert found == []
        return
    ((line, sentence),) = found
    assert line == 7
    assert f'The kernel `{variant}` does not run with mode "{mode}"' in sentence
    assert f"build/linux/{'native' if mode == 'dedicated' else 'patched'}/vmlinux" in sentence


def test_only_test_guests_that_exist_can_be_built(describe: Describe) -> None:
    text = GOOD.replace("./rtos.elf", "build/tests/heartbeat.elf")
    assert mistakes(describe(text)) == []
    assert "there is no file" in mistakes(describe(text.replace("heartbeat", "nothing")))[0][1]


def test_unreadable_description(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        check(tmp_path / "none.toml")


def test_the_map_names_every_owner(describe: Describe) -> None:
    text = GOOD.replace('memory = "64M"', 'memory = "64M"\ninterrupts = [7]')
    text += 'ports = ["0x300-0x30f"]\n'
    output = io.StringIO()
    show(check(describe(text)), Console(file=output, width=200))
    lines = [" ".join(line.replace("│", " ").split()) for line in output.getvalue().splitlines()]
    assert "0x00400000 0x043fffff 64M linux" in lines
    assert "0x04c00000 0x04cfffff 1M rtos" in lines
    assert "IRQ 7 printer linux" in lines
    assert "IRQ 4 serial port of the consoles VMM" in lines
    assert "0x300-0x30f rtos" in lines
    assert "0x20-0x21 interrupt controller VMM" in lines
    assert "virtual periodic timer ticks of the RTOS rtos" in lines
    assert sum(line.startswith("IRQ") for line in lines) == 16


def test_the_map_of_a_dedicated_linux(describe: Describe) -> None:
    text = GOOD[: GOOD.index('[[guest]]\nname = "rtos"')] + 'mode = "dedicated"\n'
    output = io.StringIO()
    show(check(describe(text)), Console(file=output, width=200))
    lines = [" ".join(line.replace("│", " ").split()) for line in output.getvalue().splitlines()]
    assert "0x0-0xffff all of them linux" in lines
    assert "IRQ 0 interval timer linux" in lines


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("1K", 1024), ("3M", 3 << 20), ("2G", 2 << 30), ("0x10", 16)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size
    assert parse_size(size_text(size)) == size


@given(st.integers(0, 2**32 - 1))
def test_sizes_round_trip(size: int) -> None:
    assert parse_size(size_text(size)) == size


@given(st.integers(0, 65535), st.integers(0, 65535))
def test_ports_round_trip(first: int, last: int) -> None:
    text = f"{min(first, last):#x}-{max(first, last)}"
    ports = parse_port_range(text)
    assert parse_port_range(str(ports)) == ports


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(
    st.dictionaries(
        st.sampled_from(
            ["name", "kind", "memory", "priority", "image", "kernel", "ports", "interrupts", "cpu"]
        ),
        st.sampled_from(
            ['"linux"', '"rtos"', '"1M"', "3", "-1", "[]", '["0x80"]', "[1]", "{}", '""', "true"]
        ),
    )
)
def test_no_description_upsets_the_checker(describe: Describe, fields: dict[str, str]) -> None:
    text = '[machine]\nmemory = "64M"\n[[guest]]\n'
    text += "".join(f"{name} = {value}\n" for name, value in fields.items())
    for line, sentence in mistakes(describe(text)):
        assert 1 <= line <= text.count("\n")
        assert sentence.strip()
