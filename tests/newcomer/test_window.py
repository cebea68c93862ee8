# SPDX-License-Identifier: Apache-2.0
"""Linux's terminal is as programs expect one: it knows its size, and /dev/fd is there."""

import os

from gandalf.measure.measure import SHELL_PROMPT

from .test_first_sight import leave, make_run

# A shell that shares its process group with what it runs, so that it gets the signal.
_WATCH = "trap 'echo now \\$(stty size)' WINCH; echo ready; while :; do sleep 1; done"


def test_linux_knows_the_windows_size_and_learns_of_changes() -> None:
    with make_run() as terminal:
        terminal.expect(SHELL_PROMPT)
        terminal.send("stty size\r")
        terminal.expect(r"\n30 100\r")
        terminal.send(f'sh -c "{_WATCH}"\r')
        terminal.expect(r"\nready\r")
        terminal.setwinsize(40, 120)
        terminal.expect(r"\nnow 40 120\r")
        terminal.send("\x03")
        terminal.expect(SHELL_PROMPT)
        leave(terminal)


def test_what_is_typed_arrives_and_a_report_is_taken_out_of_it() -> None:
    with make_run() as terminal:
        terminal.expect(SHELL_PROMPT)
        # One report that does not go on as one, one that is begun anew, and a whole one.
        os.write(terminal.child_fd, b"echo \xc3\xa9a\xff12;xb\xff9\xff24;81t; stty size\r")
        terminal.expect("\n\u00e9axb\r\n24 81\r")
        leave(terminal)


def test_dev_fd_is_there() -> None:
    with make_run() as terminal:
        terminal.expect(SHELL_PROMPT)
        terminal.send("seq 3 | cat /dev/fd/0 /dev/stdin > /dev/fd/1\r")
        terminal.expect("\n1\r\n2\r\n3\r\n")
        terminal.send("echo to the other > /dev/stderr\r")
        terminal.expect("\nto the other\r\n")
        leave(terminal)
