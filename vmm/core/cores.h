/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several cores, each with an instance of the VMM: how they come up, and what the others of the
 * VMM's files call where there may be more than one. An image for one core has without/cores.c.
 */
#pragma once

#include "core/vm.h"
#include "lib/types.h"

/* start.S: what another core than the first runs, on its boot stack. */
_Noreturn void cores_enter(void);
/* First of all: keeps what other instances begin with. */
void cores_keep(void);
/* Gives each core its memory and has it come up; on the one that has booted the machine, before any
 * guest exists. Returns the bytes at the end of this one's pool that it has taken for it. */
MUST_CHECK u32 cores_start(void);
/* Seconds since 1970, by the machine's clock: its chip is core 0's. */
u32 cores_seconds(void);
