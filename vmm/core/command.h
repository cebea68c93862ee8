/* SPDX-License-Identifier: Apache-2.0 */
/* The command line on the VMM's own console. */
#pragma once

/* Takes what was typed, and starts and stops guests, whatever runs: called at the
 * console's interrupt, real IF 0. */
void command_input(void);
/* Prints what the last lines asked for; on the idle vCPU. The longest answer, counters,
 * takes about 100,000 instructions; interrupts are let in between. */
void command_answer(void);
