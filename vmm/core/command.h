/* SPDX-License-Identifier: Apache-2.0 */
/* The command line on the VMM's own console. */
#pragma once

/* Takes what was typed and executes complete lines, whatever runs: called at
 * the console's interrupt, real IF 0. The longest command, counters, takes about
 * 100,000 instructions. */
void command_input(void);
