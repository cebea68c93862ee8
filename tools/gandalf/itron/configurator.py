# SPDX-License-Identifier: Apache-2.0
"""The static configurator of the ITRON kernel: makes kernel_cfg.c and kernel_id.h.

guest/itron/kernel/configuration.h says what they hold. The same configuration gives the same
bytes; with a mistake in it no file is touched.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from gandalf.base.command import run
from gandalf.base.paths import UserError, shown
from gandalf.itron.checker import KINDS, Configuration, Object
from gandalf.itron.objects import check_statements
from gandalf.itron.statements import Statement, read_statements
from gandalf.itron.tokens import Source

OUTPUTS = ("kernel_cfg.c", "kernel_id.h")
# The TNUM_ of each kind, its table and the fields that are copied, each with its cast.
_TABLES = {
    "CRE_TSK": ("TNUM_TSKID", "task", ()),
    "CRE_SEM": ("TNUM_SEMID", "semaphore", ("sematr", "isemcnt", "maxsem")),
    "CRE_FLG": ("TNUM_FLGID", "eventflag", ("flgatr", "iflgptn")),
    "CRE_DTQ": ("TNUM_DTQID", "dataqueue", ()),
    "CRE_MBX": ("TNUM_MBXID", "mailbox", ("mbxatr", "maxmpri")),
    "CRE_MPF": ("TNUM_MPFID", "mempool", ()),
    "CRE_CYC": ("TNUM_CYCID", "cyclic", ("cycatr", "exinf", "cychdr", "cyctim", "cycphs")),
}
_CASTS = {
    "sematr": "ATR", "isemcnt": "UINT", "maxsem": "UINT", "flgatr": "ATR", "iflgptn": "FLGPTN",
    "mbxatr": "ATR", "maxmpri": "PRI", "cycatr": "ATR", "exinf": "VP_INT", "cychdr": "FP",
    "cyctim": "RELTIM", "cycphs": "RELTIM", "tskatr": "ATR", "task": "FP", "itskpri": "PRI",
    "inhno": "INHNO", "inthdr": "FP", "excno": "EXCNO", "exchdr": "FP", "inirtn": "FP",
}  # fmt: skip


def _field(name: str, text: str) -> str:
    return f".{name} = ({_CASTS[name]})({text})"


def _fields(item: Object, names: Iterable[str]) -> list[str]:
    return [_field(name, item[name]) for name in names]


def _task(item: Object, exceptions: dict[int, Statement]) -> tuple[list[str], list[str]]:
    """Return the memory of a task and the fields of its element."""
    stack = f"stack_{item.number}"
    memory = [
        f"static char {stack}[STACK_SIZE({item['stksz']})] __attribute__((aligned(TALIGN_STK)));"
    ]
    routine = exceptions.get(item.number)
    texrtn = f"(FP)({routine.parameters['texrtn'].text})" if routine else "NULL"
    fields = _fields(item, ("tskatr", "exinf", "task", "itskpri"))
    return memory, [*fields, f".stksz = sizeof({stack})", f".stk = {stack}", f".texrtn = {texrtn}"]


def _data_queue(item: Object) -> tuple[list[str], list[str]]:
    name, count = f"queue_{item.number}", item["dtqcnt"]
    memory = [f"static VP_INT {name}[(UINT)({count})];"]
    address = f"(UINT)({count}) ? {name} : NULL"
    return memory, [
        f".dtqatr = (ATR)({item['dtqatr']})", f".dtqcnt = (UINT)({count})", f".dtq = {address}",
    ]  # fmt: skip


def _pool(item: Object) -> tuple[list[str], list[str]]:
    name, count, size = f"pool_{item.number}", item["blkcnt"], item["blksz"]
    memory = [f"static VP {name}[TSZ_MPF({count}, {size}) / sizeof(VP)];"]
    return memory, [
        f".mpfatr = (ATR)({item['mpfatr']})", f".blkcnt = (UINT)({count})",
        f".blksz = TSZ_BLK({size})", f".mpf = {name}",
    ]  # fmt: skip


def _element(kind: str, item: Object, configuration: Configuration) -> tuple[list[str], list[str]]:
    match kind:
        case "CRE_TSK":
            return _task(item, configuration.exceptions)
        case "CRE_DTQ":
            return _data_queue(item)
        case "CRE_MPF":
            return _pool(item)
    return [], _fields(item, _TABLES[kind][2])


def _table(name: str, count: str, elements: Sequence[tuple[str, list[str]]]) -> list[str]:
    """Return a table of configuration.h; elements: each with its comment."""
    lines = [f"const struct {name}_configuration {name}_configuration[{count}] = {{"]
    for comment, fields in elements:
        lines.append(f"\t{{ /* {comment} */" if comment else "\t{")
        lines += [f"\t\t{text}," for text in fields]
        lines.append("\t},")
    return [*lines, "};", ""]


def _objects(kind: str, configuration: Configuration) -> list[str]:
    count, name, _ = _TABLES[kind]
    items = {item.number: item for item in configuration.objects[kind]}
    lines: list[str] = []
    elements: list[tuple[str, list[str]]] = []
    for number in range(1, max(items, default=0) + 1):
        item = items.get(number)
        if item is None:
            attribute = {"task": "tskatr", "semaphore": "sematr", "eventflag": "flgatr",
                         "dataqueue": "dtqatr", "mailbox": "mbxatr", "mempool": "mpfatr",
                         "cyclic": "cycatr"}[name]  # fmt: skip
            elements.append((f"there is no {number}", [f".{attribute} = CONFIGURATION_GAP"]))
            continue
        memory, fields = _element(kind, item, configuration)
        lines += memory
        elements.append((item.name or str(number), fields))
    return [*lines, *_table(name, count, elements)]


def _handlers(name: str, count: str, statements: Sequence[Statement]) -> list[str]:
    names = {
        "interrupt": ("inhno", "inthdr"),
        "exception": ("excno", "exchdr"),
        "initialization": ("exinf", "inirtn"),
    }[name]
    elements = [
        ("", [_field(one, statement.parameters[one].text) for one in names])
        for statement in statements
    ]
    return _table(name, count, elements)


def _assertions(source: Source, configuration: Configuration) -> list[str]:
    """Return what C checks; its messages name the configuration's lines."""
    lines = []
    for assertion in sorted(configuration.assertions, key=lambda item: item.place):
        # Every character of a string that C might read otherwise is escaped.
        lines += [
            f"#line {assertion.place.line} {json.dumps(source.path.name, ensure_ascii=False)}",
            f"_Static_assert({assertion.condition}, {json.dumps(assertion.sentence)});",
        ]
    return [*lines, ""] if lines else []


def kernel_cfg(source: Source, configuration: Configuration) -> str:
    """Return the text of kernel_cfg.c."""
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        "/* The kernel's objects. Written by the configurator; do not change it. */",
        '#include "configuration.h"',
        '#include "kernel_id.h"',
        *configuration.includes,
        "",
        "#define STACK_SIZE(size) (((SIZE)(size) + TALIGN_STK - 1) & ~(SIZE)(TALIGN_STK - 1))",
        "",
    ]
    for kind in KINDS:
        lines += _objects(kind, configuration)
    lines += _handlers("interrupt", "TNUM_INHNO", configuration.interrupt_handlers)
    lines += _handlers("exception", "TNUM_EXCNO", configuration.exception_handlers)
    lines += _handlers("initialization", "TNUM_INIRTN", configuration.initialisers)
    lines += _assertions(source, configuration)
    return "\n".join([*lines, '#include "storage.h"', ""])


def kernel_id(configuration: Configuration) -> str:
    """Return the text of kernel_id.h."""
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        "/* The IDs of the objects. Written by the configurator; do not change it. */",
        "#ifndef KERNEL_ID_H",
        "#define KERNEL_ID_H",
        "",
    ]
    for kind in KINDS:
        items = configuration.objects[kind]
        lines += [f"#define {item.name} {item.number}" for item in items if item.name]
        lines += [f"#define {_TABLES[kind][0]} {max((item.number for item in items), default=0)}"]
    lines += [
        f"#define TNUM_INHNO {len(configuration.interrupt_handlers)}",
        f"#define TNUM_EXCNO {len(configuration.exception_handlers)}",
        f"#define TNUM_INIRTN {len(configuration.initialisers)}",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def configure(path: Path) -> dict[str, str]:
    """Return the output files of a configuration by name. Raises UserError with all mistakes."""
    source = Source(path)
    configuration = check_statements(source, read_statements(source))
    source.check()
    return {
        "kernel_cfg.c": kernel_cfg(source, configuration),
        "kernel_id.h": kernel_id(configuration),
    }


def write_outputs(path: Path, folder: Path) -> None:
    """Make the output files of a configuration; a file that would not change is left alone."""
    texts = configure(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            output = folder / name
            if not output.is_file() or output.read_bytes() != text.encode():
                output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{shown(folder)} cannot be written: {error.strerror}.") from error


InputFile = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT.cfg", help="System configuration file; see docs/itron-configuring.md."
    ),
]
OutputFolder = Annotated[
    Path, typer.Option("--output-dir", metavar="DIR", help="Where the two files go.")
]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def itron_configure(input_file: InputFile, output_dir: OutputFolder = Path()) -> None:
    """Turn the static API of an ITRON configuration into kernel_cfg.c and kernel_id.h.

    All mistakes are shown at once, each as FILE:LINE:COLUMN: SENTENCE, and then no file is written.
    What depends on a header of yours is checked by the C compiler, with the same lines.
    """
    write_outputs(input_file, output_dir)


if __name__ == "__main__":
    run(app)
