/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of consoles between cores: the UART, the screen and the keyboard are core 0's.
 */
#pragma once

#include "core/vm.h"

/* What a core knows between two of its deadlines. */
struct relay_round {
	u32 turn;      /* of all that may have bytes: what was the last to be asked */
	u32 asked;     /* how many in a row had none to move */
	bool held_up;  /* one of them has bytes for which there was no room */
	bool unshown;  /* on core 0: bytes that have come are to be shown */
};

extern struct relay_round relay_round;

/* On each core, once its guests exist. */
void relay_init(void);
/* Something may have to be moved: as soon as interrupts are let in. */
void relay_kick(void);
/* Types bytes for a guest of another core. Returns how many there was room for. Interrupts are
 * masked; it takes some 20 instructions for each. */
u32 relay_type(const struct vm *vm, const u8 *bytes, u32 size);
/* Nothing that this core has put out is left to be moved to core 0; there: what any core has put
 * out is printed. Lets interrupts in, so that there may be more behind it. */
MUST_CHECK bool relay_is_idle(void);
/* Prints the lines of other instances' logs that are complete; on the idle vCPU of core 0. */
void relay_print_logs(void);
/* Moves what this core's consoles hold to core 0, at once; for a core that stops. */
void relay_flush(void);
