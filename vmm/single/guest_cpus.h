/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says on which CPU a guest is to be, in an image for guests with one vCPU. several/guest_cpus.h
 * documents these functions, and is for guests with several.
 */
#pragma once

#include "abi/table.h"
#include "lib/types.h"

static inline bool guest_has_cpus(const struct gandalf_table *table,
				  const struct gandalf_guest *guest)
{
	return guest->cpu < table->cpus;
}

static inline u32 guest_cpus(const struct gandalf_guest *guest)
{
	return 1u << guest->cpu;
}
