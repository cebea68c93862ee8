/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says on which CPUs a guest is to be. The system table names them. In an image for guests with one
 * vCPU single/guest_cpus.h takes the place of this.
 */
#pragma once

#include "abi/table.h"
#include "lib/types.h"

/* Returns whether the CPUs on which a guest is to be are there and have room for its vCPUs, and fit
 * its kind, as its slice must. */
bool guest_has_cpus(const struct gandalf_table *table, const struct gandalf_guest *guest);
/* Returns which CPUs these are, as bits. */
u32 guest_cpus(const struct gandalf_guest *guest);
/* Returns whether a vCPU of the guest can be on a CPU: the one that the table names for it, or if
 * the guest's vCPUs move, each of the guest's for all but the first. */
bool guest_has_seat(const struct gandalf_guest *guest, u32 number, u32 cpu);
