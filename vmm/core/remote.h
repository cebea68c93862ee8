/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guests of other cores, as this core knows them: enough to name, watch, ring and command them.
 */
#pragma once

#include "core/vm.h"

/* Its timer begins: what other cores are told each second. */
void remote_init(void);
/* What the messages ask for (message.h). */
void remote_rung(u32 place);
void remote_perform(u32 from, u32 place);
void remote_learn(u32 from, u32 place);
void remote_line(u32 irq);
/* Says what has changed in the life of this core's guests; on the idle vCPU. */
void remote_publish(void);
/* Says of the guests of this core that they have stopped, since the core does. */
void remote_give_up(void);
