# SPDX-License-Identifier: Apache-2.0
"""Makes an emulator believe that its host is busy with other work, for tests of the tests.

With GANDALF_BUSY_HOST=SEED in the environment every machine that is started
* stands still at random moments, for a random time;
* has its output read late, and a few bytes at a time;
* gets keys one by one, late, while its virtual time goes on: what is typed reaches the guest at
  another instruction in each run;
* is QEMU's thread for input and timers at a disadvantage against that of the CPU.

No verdict of a test may depend on any of that. The seed chooses how, but a run cannot be repeated.
"""

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

VARIABLE = "GANDALF_BUSY_HOST"
# Seconds of the host's clock, each up to a random part of it.
_RUN, _STOP, _LATE_READ, _LATE_KEY = 0.1, 0.02, 0.1, 0.03
_NICE = 19


class BusyHost:
    """Disturbs a process. read, write: what it was read and typed with before."""

    def __init__(
        self,
        seed: int,
        process: int,
        read: Callable[[], bytes],
        write: Callable[[bytes], None],
    ) -> None:
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._process = os.pidfd_open(process)
        self._read, self._write = read, write
        self._read_ahead = b""
        self._keys: SimpleQueue[int] = SimpleQueue()
        with contextlib.suppress(OSError):  # it may have ended already
            _slow_main_thread(process)
        for work in (self._stop_and_continue, self._type):
            threading.Thread(target=work, daemon=True).start()

    def _wait(self, seconds: float) -> None:
        time.sleep(self._random.random() * seconds)

    def _stop_and_continue(self) -> None:
        with contextlib.suppress(OSError):  # the process has ended
            while True:
                self._wait(_RUN)
                signal.pidfd_send_signal(self._process, signal.SIGSTOP)
                self._wait(_STOP)
                signal.pidfd_send_signal(self._process, signal.SIGCONT)

    def _type(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                key = self._keys.get()
                if self._random.random() < 0.5:
                    self._wait(_LATE_KEY)
                self._write(bytes([key]))

    def read(self) -> bytes:
        """Return what has arrived, later."""
        if self._random.random() < 0.1:
            self._wait(_LATE_READ)
        return self._read()

    def write(self, keys: bytes) -> None:
        """Type keys, later."""
        for key in keys:
            self._keys.put(key)


def _slow_main_thread(process: int) -> None:
    """Let all threads of a process share a CPU, and the first one have little of it."""
    cpu = min(os.sched_getaffinity(0))
    os.setpriority(os.PRIO_PROCESS, process, _NICE)
    for thread in Path(f"/proc/{process}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {cpu})
