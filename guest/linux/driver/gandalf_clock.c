// SPDX-License-Identifier: GPL-2.0-only
/*
 * A clock of Linux's that goes by the time stamp counter, as `tsc` does, and knows its frequency
 * to a millionth. Linux is told the frequency at its start, in kHz and as well as can be measured
 * before guests run, which is wrong by a second a day. The VMM goes on to measure it against the
 * machine's 8254 (gandalf_shared.tsc_rate). As soon as the better figure is there, this clock takes
 * the place of the other one. Programs read it without a system call, as they do the other one.
 */
#include <linux/clocksource.h>
#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/workqueue.h>
#include <asm/msr.h>
#include <asm/vdso/clocksource.h>

#include "gandalf.h"
#include "on_gandalf.h"

/* The unit of tsc_rate in Hz. */
#define RATE_UNIT 10
/* `tsc` has 300, and Linux takes the clock that has most. */
#define RATING 350

static u64 gandalf_clock_read(struct clocksource *clock)
{
	return rdtsc_ordered();
}

static struct clocksource gandalf_clock = {
	.name = "gandalf",
	.rating = RATING,
	.read = gandalf_clock_read,
	.mask = CLOCKSOURCE_MASK(64),
	.flags = CLOCK_SOURCE_IS_CONTINUOUS | CLOCK_SOURCE_VALID_FOR_HRES,
	.vdso_clock_mode = VDSO_CLOCKMODE_TSC,
};

static void clock_look(struct work_struct *work);
/* The better figure may never come. So the work is deferrable: it wakes no idle CPU. */
static DECLARE_DEFERRABLE_WORK(clock_work, clock_look);

/* A frequency from 4.3 GHz on is too much for clocksource_register_hz(). */
static void clock_look(struct work_struct *work)
{
	const struct gandalf_shared *shared = (const void *)GANDALF_SHARED_PAGE;
	u32 rate = READ_ONCE(shared->tsc_rate);

	if (!rate)
		schedule_delayed_work(&clock_work, HZ);
	else if (!__clocksource_register_scale(&gandalf_clock, RATE_UNIT, rate))
		pr_info("gandalf: the clock goes by %u.%05u MHz\n", rate / 100000, rate % 100000);
}

/* A Linux that has the CPU to itself has the 8254, too, and the VMM measures nothing. */
static int __init gandalf_clock_init(void)
{
	if (on_shared_cpu())
		schedule_delayed_work(&clock_work, 0);
	return 0;
}
device_initcall(gandalf_clock_init);
