# SPDX-License-Identifier: Apache-2.0
"""The machines of `gandalf bench --page-table-cache`: one for each cache."""

from pathlib import Path

from gandalf.bench import latency, turns
from gandalf.bench import workload as bench_workload
from gandalf.bench.machines import SYSTEMS, own_command_line, own_script
from gandalf.bench.target import FOLDER, Log, Run, Target, machine_text, scratch, watch
from gandalf.bench.workload import Work
from gandalf.build.build import build, build_kernels
from gandalf.run.options import options_for

_BASE = SYSTEMS / "gandalf-turns.toml"
_PROGRAM = bench_workload.PROGRAMS / "32" / turns.PROGRAM
_RINGS = 'rings = "two-level"'


class Turns(Target):
    """A Linux whose VMM has a cache of some entries and a policy. It is measured by Linux alone."""

    native: str | None = None
    operations = turns.OPERATIONS
    share = 8.0

    def __init__(self, cache: turns.Cache) -> None:
        self.name, self._cache = cache.name, cache

    def _description(self) -> Path:
        """Write the description, which differs from the others' in the cache alone."""
        cache, path = self._cache, FOLDER / "systems" / f"{self.name}.toml"
        fields = f'cache_entries = {cache.entries}\ncache_policy = "{cache.policy}"'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_BASE.read_text().replace(_RINGS, f"{_RINGS}\n{fields}"))
        return path

    def prepare(self, log: Log) -> None:
        build_kernels(_BASE, log)

    def run(self, work: tuple[Work, ...], log: Log) -> Run:  # noqa: ARG002 - has its own
        own_script(FOLDER / "script-turns", turns.script(), log, {f"bin/{turns.PROGRAM}": _PROGRAM})
        built = build(self._description(), log, deterministic=True)
        with scratch() as folder:
            options = options_for(built, True, None, ())
            text = latency.guests_text(built.names, watch(options, folder))
        return Run(
            bench_workload.parse(text), (), hex, True, machine_text(options),
            own_command_line(built),
            more={operation: turns.found(operation, text) for operation in self.operations},
        )  # fmt: skip


def targets() -> list[Target]:
    """Return all caches' machines."""
    return [Turns(cache) for cache in turns.CACHES]
