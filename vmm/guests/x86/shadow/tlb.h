/* SPDX-License-Identifier: Apache-2.0 */
/* Flushes the CPU's own TLB, where INVLPG is not enough. */
#pragma once

#include "arch/ia32/cpu.h"

/* Drops all entries of the TLB except global ones. */
static inline void tlb_flush(void)
{
	cr3_write(cr3_read());
}

/* Drops all entries of the TLB. */
static inline void tlb_flush_global(void)
{
	u32 cr4 = cr4_read();

	if (cr4 & CR4_PGE) {
		cr4_write(cr4 & ~CR4_PGE);
		cr4_write(cr4);
	} else {
		tlb_flush();
	}
}
