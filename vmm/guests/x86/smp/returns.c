/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows where a kernel with several vCPUs returns to its processes, if there are two levels of
 * privilege (guests/x86/two_level/return.c). All vCPUs have the same memory, so an INT3 that one
 * has put there is executed by all. Each core notes what its own vCPUs have put, for all to read. A
 * vCPU that starts again finds its kernel as it was, but for that of another life of the guest.
 */
#include "guests/x86/smp/smp.h"

volatile u32 *smp_returns(const struct x86 *x86)
{
	volatile struct smp_page *page = flush_log_of(core.index);
	u32 life = part_life_here(x86->vm);

	if (page->returns_life != life)
		for (u32 i = 0; i < RETURN_PLACES; i++)
			page->returns[i] = 0;
	page->returns_life = life;
	return page->returns;
}

bool smp_return_is_known(const struct x86 *x86, u32 eip)
{
	u32 life = part_life_here(x86->vm);

	for (u32 rest = x86->smp->cpus; rest != 0; rest &= rest - 1) {
		volatile struct smp_page *page = flush_log_of((u32)__builtin_ctz(rest));

		for (u32 i = 0; i < RETURN_PLACES; i++)
			if (page->returns[i] == eip && page->returns_life == life)
				return true;
	}
	return false;
}
