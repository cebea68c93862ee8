/* SPDX-License-Identifier: Apache-2.0 */
/* What each core says of its guests to the others. */
#pragma once

#include "core/vm.h"

/* On each core that has others beside it: what it says each second begins. */
void notice_init(void);
/* Tells the others what has become of this core's guests; on the idle vCPU. Returns whether this
 * core may switch the machine off once no guest runs. */
MUST_CHECK bool notice_attend(void);
/* Tells the others a state of a guest of this core, and its counters. */
void notice_write(const struct vm *vm, u32 state);
/* Says of the guests of this core that they have stopped, since the core does. */
void notice_give_up(void);
