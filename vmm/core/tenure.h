/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Since when an RTOS has had this core, or Linux and the idle vCPU have. The switch between them
 * notes it (whole.h). Who watches is told once that has lasted for 50 microseconds, so that an RTOS
 * that is done sooner causes nothing. At the switch to an RTOS it costs one deadline.
 */
#pragma once

#include "lib/types.h"

/* When who watches wants to be told again: never in this tenure, after as long, or as soon as
 * other interrupts have come in between. */
enum tenure_told { TENURE_DONE, TENURE_AGAIN, TENURE_AT_ONCE };

/* Has `lasts`, if it is not NULL, be called with interrupts masked when an RTOS has had the core
 * for that time, with true, and with false if Linux has had it and tenure_of_linux() says so.
 * `ended` is called when an RTOS gives the core to Linux or the idle vCPU, with how many ticks it,
 * or several in turn, have had it. */
void tenure_init(enum tenure_told (*lasts)(bool rtos), void (*ended)(u64 ticks));
/* Returns for how many ticks an RTOS has had the core, while it has. */
u64 tenure_lasted(void);
/* Says whether the time that Linux has the core counts, too. */
void tenure_of_linux(bool counts);
/* Note that an RTOS has got the core, and that Linux or the idle vCPU has. Interrupts are
 * masked. */
void tenure_begins(void);
void tenure_ends(void);
