/* SPDX-License-Identifier: Apache-2.0 */
/* The idle vCPU, which runs on the boot stack. It starts and releases guests, answers commands, and
 * sleeps when there is nothing to do. */
#pragma once

/* Prepares the watch for guests that keep others from the core. Called at boot. */
void idle_init(void);
/* Runs the idle vCPU from the end of the boot on. */
_Noreturn void idle_run(void);
