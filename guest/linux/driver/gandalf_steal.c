// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells Linux how long a CPU was others' while it could have run: steal time, which `top` shows as
 * `st`. Linux subtracts it from what it charges to the process that was current, and gives CPUs
 * with much of it fewer processes. It has a paravirtual operation for this, so it needs no changed
 * line. The VMM keeps count in the shared page of each vCPU (gandalf_shared.stolen).
 */
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/static_call.h>
#include <linux/stddef.h>
#include <linux/time64.h>
#include <asm/paravirt.h>

#include "gandalf.h"

/*
 * Per CPU: the count when Linux has first read it, what it was last, and the time since the first.
 * The scheduler keeps what it has subtracted so far, and would subtract all time from then on if it
 * ever saw less than that. So another CPU, which has no access to the shared page, reads the time
 * in one piece. Until this CPU runs again it has lost more than that, and makes up for it then.
 */
struct steal {
	u64 first, last;
	bool begun;
	atomic64_t ns;
};
static DEFINE_PER_CPU(struct steal, steals);

static const struct gandalf_shared *const shared = (const void *)GANDALF_SHARED_PAGE;

/* The VMM changes the count between any two instructions. If it carries into the upper half then
 * the CPU reads both anew. */
static u64 stolen_read(void)
{
	const u32 *halves = (const u32 *)&shared->stolen;
	u32 high, low;

	BUILD_BUG_ON(sizeof(shared->stolen) != 2 * sizeof(*halves));
	do {
		high = READ_ONCE(halves[1]);
		low = READ_ONCE(halves[0]);
	} while (high != READ_ONCE(halves[1]));
	return (u64)high << 32 | low;
}

/* Returns nanoseconds. The scheduler asks very often, and mostly nothing has changed. */
static u64 gandalf_steal_clock(int cpu)
{
	struct steal *steal = per_cpu_ptr(&steals, cpu);
	u64 ticks;

	if (cpu != raw_smp_processor_id())
		return atomic64_read(&steal->ns);
	ticks = stolen_read();
	if (!steal->begun) {
		steal->begun = true;
		steal->first = steal->last = ticks;
	}
	if (ticks != steal->last) {
		steal->last = ticks;
		ticks -= steal->first;
		atomic64_set(&steal->ns, mul_u64_u32_div(ticks, USEC_PER_SEC, shared->tsc_khz));
	}
	return atomic64_read(&steal->ns);
}

static int __init gandalf_steal_init(void)
{
	static_call_update(pv_steal_clock, gandalf_steal_clock);
	static_key_slow_inc(&paravirt_steal_enabled);
	static_key_slow_inc(&paravirt_steal_rq_enabled);
	return 0;
}
arch_initcall(gandalf_steal_init);
