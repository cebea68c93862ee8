/* SPDX-License-Identifier: Apache-2.0 */
/* Offers the command line on the VMM's own console (docs/consoles.md). */
#pragma once

/* Takes what was typed. It starts and stops guests at once, even while a guest holds the CPU. The
 * UART's interrupt calls it with interrupts masked. */
void command_input(void);
/* Prints the answers to the lines that were entered. The idle vCPU calls it. The longest answer is
 * that of `counters`, some 100,000 instructions, between which interrupts are let in. */
void command_answer(void);
