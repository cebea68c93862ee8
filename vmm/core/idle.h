/* SPDX-License-Identifier: Apache-2.0 */
/* The idle vCPU, which owns the boot stack: it starts and releases guests and serves commands. */
#pragma once

void idle_init(void);
/* Behind the boot: never returns. */
_Noreturn void idle_run(void);
