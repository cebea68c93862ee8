/* SPDX-License-Identifier: Apache-2.0 */
/* Linux guests: entries from rings 1 and 3, the virtual interrupt flag, start
 * and stop. */
#pragma once

#include "core/vm.h"

struct pc;

/* false if memory for it is lacking. */
bool linux_create(struct vm *vm);

/* Whether the guest's kernel has interrupts enabled: the virtual flag on a
 * shared CPU, the real one on a dedicated one. Ring 3 always has. */
bool linux_interrupts_enabled(const struct pc *pc);
void linux_set_interrupts(struct pc *pc, bool enabled);
