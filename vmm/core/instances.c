/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the variables of another instance: those of core 0 are where the image was loaded. */
#include "core/instances.h"

#include "arch.h"
#include "core/module.h"
#include "masked_state.h"

/* The page table of an instance is the last page of the core's pool (arch/ia32/instance.c). */
void core_read(u32 index, void *to, const void *variable, u32 size)
{
	u32 table = index == 0 ? 0
			       : system_table.pool_base + (index + 1) * system_table.pool_size -
					 PAGE_SIZE;

	EXPECTS_MASKED();
	instance_read(table, to, variable, size);
}
