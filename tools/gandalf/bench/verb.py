# SPDX-License-Identifier: Apache-2.0
"""`gandalf bench`: what is measured, against what, and where the results go."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console as RichConsole

from gandalf.base.command import say
from gandalf.base.paths import UserError, shown
from gandalf.bench import bench as benching
from gandalf.bench import cores_targets, lhp_targets, turns_target
from gandalf.bench import report as bench_report
from gandalf.bench.results import Results, compare, lost, read_results, write_results
from gandalf.bench.shares import POLICIES
from gandalf.bench.summary import summary
from gandalf.bench.target import FOLDER as BENCH_FOLDER
from gandalf.bench.target import Target
from gandalf.bench.targets import targets

Full = Annotated[
    bool,
    typer.Option(
        "--full",
        help="With 100,000 activations of the real-time task, not 10,000, on a machine of an "
        "eighth of the speed.",
    ),
]
Cores = Annotated[
    bool,
    typer.Option(
        "--cores",
        help="The systems with several CPUs, which run in Bochs, and not the others. With "
        "--full, 8 CPUs too, and more of everything.",
    ),
]
Lhp = Annotated[
    bool,
    typer.Option(
        "--lhp",
        help="hackbench on four vCPUs beside an RTOS that has a share of a 500 ms cycle of one's "
        "CPU, by policy, as SPUMONE's paper has it: from 10 % to 100 %; with --full, longer "
        "and more runs of each.",
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="POLICY",
        help="With --lhp: only this lock_holder_preemption; may be repeated.",
    ),
]
PageTableCache = Annotated[
    bool,
    typer.Option(
        "--page-table-cache",
        help="The page-table cache of two levels, with each policy and 1 to 32 entries: what it "
        "finds, and what a turn costs, with 1 to 64 processes in turn.",
    ),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="Only the 32-bit systems that take minutes, once their kernels are built.",
    ),
]
Output = Annotated[Path, typer.Option(metavar="FOLDER", help="Where the results go.")]
Cache = Annotated[
    bool | None,
    typer.Option(
        "--cache/--no-cache",
        help="Count misses of caches and TLBs too, by a model. Done anyway if all systems and "
        "operations are measured.",
    ),
]
Systems = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Only this system and its native; may be repeated."),
]
Operations = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Only this one; may be repeated.")
]
Against = Annotated[
    Path | None,
    typer.Option(
        "--compare",
        metavar="OLD.json",
        help="Show what got better or worse. The exit status is 1 if an operation needs over "
        "1 % more instructions, more entries into the VMM, or cannot be measured any more.",
    ),
]


def bench(
    quick: Quick = False,
    cores: Cores = False,
    lhp: Lhp = False,
    policy: Policies = None,
    page_table_cache: PageTableCache = False,
    full: Full = False,
    cache: Cache = None,
    system: Systems = None,
    operation: Operations = None,
    against: Against = None,
    output: Output = BENCH_FOLDER,
) -> None:  # fmt: skip
    """Measure native Linux, Gandalf and Xen with the same operations, in instructions and events.

    Writes results.json, report.md and report.html, after each machine what there is by then. Two
    runs give the same bytes, the date apart. docs/measuring.md says what is measured and how.
    """
    _refuse_mixtures(cores, lhp, page_table_cache, quick, full, cache)
    policies = _policies(lhp, policy)
    old = read_results(against) if against else None
    plan = benching.Plan(tuple(system or ()), tuple(operation or ()), quick)
    model = not (quick or system or operation) if cache is None else cache

    def keep(found: Results) -> None:
        write_results(found, output / "results.json")
        bench_report.write(found, output, _today())

    if page_table_cache:
        known = turns_target.targets()
    else:
        known = _targets(cores, lhp, full, model, policies)
    results = benching.bench(plan, known, say, keep)
    keep(results)
    bench_report.show(results, RichConsole())
    worse = old is not None and _show_what_changed(old, results)
    report = shown(output / "report.html")
    print("\n".join([*summary(results), f"More in {report}, report.md and results.json."]))
    if worse:
        raise typer.Exit(1)


def _targets(
    cores: bool, lhp: bool, full: bool, model: bool, policies: tuple[str, ...]
) -> list[Target]:
    """Return the systems that there are to measure operations of Linux in."""
    if cores:
        return cores_targets.targets(full)
    return lhp_targets.paper_targets(full, policies) if lhp else targets(full, model)


def _refuse_mixtures(
    cores: bool, lhp: bool, page_table_cache: bool, quick: bool, full: bool, cache: bool | None
) -> None:
    """Refuse options of measurements that have nothing in common."""
    if quick and full:
        raise UserError("Give --quick or --full, not both.")
    if cores and (quick or cache):
        raise UserError("Give --cores without --quick and --cache.")
    if lhp and (cores or quick or cache):
        raise UserError("Give --lhp without --cores, --quick and --cache.")
    if page_table_cache and (cores or lhp or quick or full or cache):
        raise UserError(
            "Give --page-table-cache without --cores, --lhp, --quick, --full and --cache."
        )


def _policies(lhp: bool, wanted: list[str] | None) -> tuple[str, ...]:
    """Return the policies to compare."""
    if wanted and not lhp:
        raise UserError("Give --policy with --lhp.")
    unknown = sorted(set(wanted or ()) - set(POLICIES))
    if unknown:
        raise UserError(f"There is no policy {unknown[0]}; there are {', '.join(POLICIES)}.")
    return tuple(policy for policy in POLICIES if not wanted or policy in wanted)


def _today() -> date:
    return datetime.now(UTC).date()


def _show_what_changed(old: Results, results: Results) -> bool:
    """Compare with an earlier run; tell whether something got worse."""
    changes, gone = compare(old, results), lost(old, results)
    bench_report.show_changes(changes, gone, RichConsole())
    return bool(gone) or any(change.verdict == "worse" for change in changes)
