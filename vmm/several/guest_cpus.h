/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPUs of a guest, as the system table names them. In an image for guests with one vCPU
 * single/guest_cpus.h takes the place of this.
 */
#pragma once

#include "abi/table.h"
#include "lib/types.h"

/* Whether the CPUs on which a guest is to be are there, and fit its kind. One that has CPU 0 begins
 * there, since that CPU decides when the machine is switched off. */
bool guest_has_cpus(const struct gandalf_table *table, const struct gandalf_guest *guest);
/* Which these are, as bits. */
u32 guest_cpus(const struct gandalf_guest *guest);
