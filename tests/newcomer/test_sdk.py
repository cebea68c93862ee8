# SPDX-License-Identifier: Apache-2.0
"""The SDK from an installed prefix, in an empty directory: as one meets it who has no clone."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest

from gandalf.base.paths import BUILD, ROOT

from .test_first_sight import PATIENCE, leave
from .test_gdb import debugging

KINDS = ("freertos", "itron", "bare")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def plain_environment(prefix: Path) -> dict[str, str]:
    """Return an environment of which nothing leads back to the tree or to its Python."""
    paths = [path for path in os.environ["PATH"].split(":") if not path.startswith(str(ROOT))]
    kept = ("HOME", "LANG", "CCACHE_DIR", "TMPDIR")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "PATH": ":".join([str(prefix / "bin"), *paths]), "TERM": "dumb", "COLUMNS": "120",
    }  # fmt: skip


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the SDK, and move it, as a package would."""
    folder = tmp_path_factory.mktemp("sdk")
    clean = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    first, second = folder / "first", folder / "second"
    for _ in range(2):  # the second time it replaces what is there
        subprocess.run(["make", "install", f"PREFIX={first}"], cwd=ROOT, check=True, env=clean)
    first.rename(second)
    return second


@pytest.fixture
def run(prefix: Path, tmp_path: Path) -> Run:
    """Return a function that runs a command of somebody who has the SDK alone."""

    def run(*words: str, folder: Path = tmp_path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            words, cwd=folder, capture_output=True, text=True, check=False,
            env=plain_environment(prefix), timeout=1800, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    return run


@contextmanager
def on_terminal(prefix: Path, application: Path) -> Iterator["pexpect.spawn[str]"]:
    """Run `make run` in an application's folder, on a terminal."""
    running = pexpect.spawn(
        "make", ["run"], cwd=application, timeout=PATIENCE, encoding="utf-8",
        dimensions=(30, 100), echo=False, env=plain_environment(prefix),
    )  # fmt: skip
    try:
        yield running
    finally:
        running.close(force=True)


def uses(application: Path) -> set[str]:
    """Return the files that the compiler has read for an application."""
    return {
        word.rstrip(":")
        for rules in application.rglob("*.d")
        for word in rules.read_text().replace("\\\n", " ").split()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_an_application_builds_runs_and_is_tested(
    kind: str, run: Run, prefix: Path, tmp_path: Path
) -> None:
    application = tmp_path / "blinker"
    done = run("gandalf", "new", kind, "blinker")
    assert done.returncode == 0, done.stderr
    makefile = (application / "Makefile").read_text()
    assert len(makefile.splitlines()) == 3
    assert makefile.startswith("GANDALF ?= gandalf\n")
    done = run("make", folder=application)
    assert (done.returncode, done.stdout, done.stderr) == (0, "built build/blinker.elf\n", "")
    read = uses(application)
    assert str(prefix / "share/gandalf/abi/gandalf.h") in read
    assert not [path for path in read if path.startswith(f"{ROOT}/")]
    with on_terminal(prefix, application) as terminal:
        terminal.expect("beat 1\r\nbeat 2\r\n")
        leave(terminal)
    done = run("make", "test", folder=application)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    assert run("make", "clean", folder=application).returncode == 0
    assert not (application / "build").exists()


# Answers pings, and nothing else.
NETWORKED = """
#include "FreeRTOS.h"
#include "network_interface.h"
#include "print.h"
#include "task.h"

static void work(void)
{
}

static void network_run(void *unused)
{
	network_interface_run(work);
}

void vApplicationIdleHook(void)
{
	interrupt_wait();
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
	failure("stack overflow", name, 0);
}

void failure(const char *what, const char *where, unsigned int line)
{
	print("%s: %s %u\\n", what, where, line);
	for (;;)
		;
}

void main(void)
{
	ip4_addr_t address;

	IP4_ADDR(&address, 10, 0, 0, 2);
	print("network: %s\\n", network_interface_open(&address) ? "there" : "missing");
	xTaskCreate(network_run, "network", 1024, NULL, 1, NULL);
	vTaskStartScheduler();
}
"""
PEER = """
[[guest]]
name = "peer"
kind = "rtos"
image = "./build/app.elf"
memory = "1M"
priority = 5

[[network]]
name = "lan"
between = ["app", "peer"]
"""


def test_an_application_speaks_tcp_ip(run: Run, tmp_path: Path) -> None:
    application = tmp_path / "app"
    run("gandalf", "new", "freertos", "app")
    makefile, system = application / "Makefile", application / "system.toml"
    makefile.write_text("NETWORK := lwip\n" + makefile.read_text())
    system.write_text(system.read_text() + PEER)
    (application / "main.c").write_text(NETWORKED)
    (application / "test_application.py").write_text(
        "def test_both_have_it(machine):\n"
        "    for name in ('app', 'peer'):\n"
        "        machine.expect(name, 'network: there', 60)\n"
    )
    done = run("make", "WARNINGS=", folder=application)
    assert (done.returncode, done.stdout, done.stderr) == (0, "built build/app.elf\n", "")
    assert not [path for path in uses(application) if path.startswith(f"{ROOT}/")]
    done = run("make", "test", folder=application)
    assert "1 passed" in done.stdout, done.stdout


def test_an_image_is_the_same_wherever_it_is_built(run: Run, tmp_path: Path) -> None:
    images = []
    for place in ("here", "there/deeper"):
        run("gandalf", "new", "freertos", f"{place}/app")
        run("make", folder=tmp_path / place / "app")
        images.append((tmp_path / place / "app" / "build" / "app.elf").read_bytes())
    assert images[0] == images[1]


def test_a_test_that_does_not_hold_fails(run: Run, tmp_path: Path) -> None:
    run("gandalf", "new", "bare", "app")
    (tmp_path / "app" / "test_application.py").write_text(
        "def test_it_sings(machine):\n"
        "    machine.expect('app', 'beat 1', 60)\n"
        "    machine.expect('app', 'la', 5)\n"
    )
    done = run("make", "test", folder=tmp_path / "app")
    assert done.returncode != 0
    assert "1 failed" in done.stdout
    assert "beat 1" in done.stdout  # what it said instead


def test_an_application_is_debugged(run: Run, prefix: Path, tmp_path: Path) -> None:
    run("gandalf", "new", "freertos", "app")
    run("make", folder=tmp_path / "app")
    system, command = tmp_path / "app" / "system.toml", [str(prefix / "bin" / "gandalf")]
    with debugging(system, "app", command) as session:
        session.do("-break-insert main.c:beat_run")
        stop = session.run()
        assert stop["frame"]["func"] == "beat_run"
        assert Path(stop["frame"]["fullname"]).resolve() == tmp_path / "app" / "main.c"
        threads = session.do("-thread-info")["threads"]
        assert {"beat", "print"} <= {thread["name"] for thread in threads}


def test_a_mistake_is_explained(run: Run, prefix: Path, tmp_path: Path) -> None:
    run("gandalf", "new", "bare", "app")
    main = tmp_path / "app" / "main.c"
    main.write_text(main.read_text().replace("seconds = mill", "__builtin_trap(); seconds = mill"))
    line = main.read_text()[: main.read_text().index("__builtin_trap")].count("\n") + 1
    with on_terminal(prefix, tmp_path / "app") as terminal:
        terminal.expect("guest app stopped")
        terminal.expect(f"main.c:{line}")


def test_what_the_sdk_says_of_itself(run: Run, prefix: Path) -> None:
    done = run("gandalf", "sdk")
    assert f"installed, in {prefix}/share/gandalf" in done.stdout
    for word in ("guest/rtos", "Apache-2.0", "MIT", "0BSD"):
        assert word in done.stdout
    assert run("gandalf", "sdk", "--path").stdout == f"{prefix}/share/gandalf\n"


def test_what_only_a_clone_can_build_is_said(run: Run, tmp_path: Path) -> None:
    run("gandalf", "new", "bare", "app")
    system = tmp_path / "app" / "system.toml"
    system.write_text(system.read_text().replace("./build/app.elf", "build/freertos/demo.elf"))
    done = run("gandalf", "build", "app/system.toml")
    assert done.returncode == 1
    assert "is built in Gandalf's own tree, and this is an installed SDK" in done.stderr
    done = run("gandalf", "size")
    assert done.returncode == 1
    assert "this is an installed SDK: do this in a clone." in done.stderr


def test_a_makefile_without_its_command_says_so(run: Run, tmp_path: Path) -> None:
    run("gandalf", "new", "bare", "app")
    done = run("make", "GANDALF=/nowhere/gandalf", folder=tmp_path / "app")
    assert done.returncode != 0
    assert "There is no /nowhere/gandalf" in done.stderr


def test_an_application_moved_to_a_path_with_a_space_says_so(run: Run, tmp_path: Path) -> None:
    run("gandalf", "new", "bare", "app")
    (tmp_path / "app").rename(tmp_path / "my app")
    done = run("make", folder=tmp_path / "my app")
    assert done.returncode != 0
    assert "whose path has a space in it: move the application" in done.stderr


@pytest.mark.parametrize(
    ("target", "sentence"),
    [("with space", "choose a PREFIX without spaces"), ("other", "is no SDK of Gandalf")],
)
def test_where_it_cannot_be_installed(tmp_path: Path, target: str, sentence: str) -> None:
    other = tmp_path / target / "share" / "gandalf"
    other.mkdir(parents=True)
    (other / "precious").write_text("")
    done = subprocess.run(
        [BUILD / "venv/bin/python", "-m", "gandalf.sdk.install", tmp_path / target],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert sentence in done.stderr
    assert (other / "precious").exists()
    shutil.rmtree(tmp_path / target)
