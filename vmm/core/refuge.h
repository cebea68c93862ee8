/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the core on which a vCPU goes on that is not to stay where an RTOS is (preemption.h). */
#pragma once

#include "core/vm.h"

/* Notes on which cores there are RTOSes, from the system's description. */
void refuge_init(void);
/* Returns whether there is an RTOS on a core. */
bool refuge_has_rtos(u32 cpu);
/* Returns where the VM's vCPU goes by a policy; this core: nowhere. Then RTOSes are at work on the
 * other cores, if *taken becomes true. */
u32 refuge_find(const struct vm *vm, u32 policy, bool *taken);
