# SPDX-License-Identifier: Apache-2.0
"""`gandalf push` and `gandalf pull`: a file is in Linux whole and right, or not at all."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from gandalf.base.paths import UserError
from gandalf.console.demultiplex import VMM_CONSOLE
from gandalf.run import copying

from .systems import DEFAULT, PATIENCE, PROMPT, Boot

# Does not shrink when it is packed, has every byte, and is no multiple of what goes at once.
CONTENT = b"".join(hashlib.sha256(b"%d" % n).digest() for n in range(400))[:10_011]
DIGEST = hashlib.sha256(CONTENT).hexdigest()
TOOL = [sys.executable, "-m", "gandalf.cli"]


def test_a_file_goes_into_linux_and_comes_back(machine: Boot) -> None:
    percent: list[int] = []
    copying.push(machine, "linux", CONTENT, "/root/it's", 0o755, percent.append)
    machine.expect("linux", PROMPT, PATIENCE)
    assert machine.shell("ls /root/it*; cat /root/it* | sha256sum") == f"/root/it's\n{DIGEST}  -\n"
    assert machine.shell("stat -c %a /root/it*") == "755\n"
    assert percent == sorted(percent)
    assert percent[-1] == 100
    assert copying.pull(machine, "linux", "/root/it's") == CONTENT
    machine.expect("linux", PROMPT, PATIENCE)


@pytest.mark.parametrize("content", [b"", b"a", b"\n" * 100_000], ids=["empty", "one", "long"])
def test_files_of_other_sizes(machine: Boot, content: bytes) -> None:
    copying.push(machine, "linux", content, "/root/sizes")
    machine.expect("linux", PROMPT, PATIENCE)
    assert copying.pull(machine, "linux", "/root/sizes") == content
    machine.expect("linux", PROMPT, PATIENCE)


def test_the_user_learns_why_a_file_cannot_be_copied(machine: Boot) -> None:
    with pytest.raises(UserError, match=r"^/none/file cannot be written: .*nonexistent directory"):
        copying.push(machine, "linux", CONTENT, "/none/file")
    machine.expect("linux", PROMPT, PATIENCE)
    with pytest.raises(UserError, match=r"^/none/file cannot be read: .*[Nn]o such file"):
        copying.pull(machine, "linux", "/none/file")
    machine.expect("linux", PROMPT, PATIENCE)
    with pytest.raises(UserError, match=r"^/root cannot be written: .*is a folder"):
        copying.push(machine, "linux", CONTENT, "/root")
    machine.expect("linux", PROMPT, PATIENCE)
    assert machine.shell("ls -A / | grep part", status=1) == ""
    assert machine.shell("stty -a").find(" -echo ") < 0


def test_what_is_damaged_on_the_way_replaces_nothing(
    machine: Boot, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.shell("echo before > /root/kept")
    send = machine.send_raw

    def damage(keys: bytes) -> None:
        send(keys.replace(b"A", b"B") if len(keys) > 500 and b";" not in keys else keys)

    monkeypatch.setattr(machine, "send_raw", damage)
    with pytest.raises(UserError, match=r"^/root/kept cannot be written: "):
        copying.push(machine, "linux", CONTENT, "/root/kept")
    monkeypatch.undo()
    machine.expect("linux", PROMPT, PATIENCE)
    assert machine.shell("cat /root/kept") == "before\n"


def test_it_is_done_beside_a_terminal(tmp_path: Path) -> None:
    """`gandalf run` lends its line, whose other consoles are seen meanwhile."""
    (tmp_path / "file").write_bytes(CONTENT)
    run = pexpect.spawn(TOOL[0], [*TOOL[1:], "run", str(DEFAULT)], timeout=PATIENCE)
    try:
        # It may have to wait until another suite has built a kernel.
        run.expect(PROMPT, timeout=5 * PATIENCE)
        push = [*TOOL, "push", str(DEFAULT), str(tmp_path / "file"), "/root/"]
        pull = [*TOOL, "pull", str(DEFAULT), "/root/file", str(tmp_path / "back")]
        for words in (push, pull):
            ended = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
            assert ended.returncode == 0, ended.stderr
        assert (tmp_path / "back").read_bytes() == CONTENT
        run.send("echo typed $((6 * 7))\r")
        run.expect("typed 42")
        run.send(b"\x01x")
        run.expect(pexpect.EOF)
    finally:
        run.close(force=True)
    ended = subprocess.run(push, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 1
    assert "Nobody runs" in ended.stderr
    assert VMM_CONSOLE not in ended.stderr
