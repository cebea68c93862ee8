/* SPDX-License-Identifier: Apache-2.0 */
/* Measures for how long RTOSes and Linux have this core (tenure.h). */
#include "core/tenure.h"

#include "arch.h"
#include "core/core.h"
#include "core/part.h"
#include "core/time.h"
#include "lib/owner.h"
#include "masked_state.h"

/* A millisecond divided by this is long. */
#define TENURE_RATE 20u

OF_CORE static struct deadline tenure;
OF_CORE static u64 since;     /* when an RTOS has last got the core, or Linux */
OF_CORE static bool of_linux; /* Linux's time counts, too */
OF_CORE static enum tenure_told (*told)(bool rtos); /* NULL: nobody is told */
OF_CORE static void (*told_end)(u64 ticks); /* NULL: nobody is told */

/* The deadline stays where it is when another tenure begins, and is moved once here. */
static u64 tenure_expire(UNUSED struct deadline *deadline)
{
	bool rtos = part_page_own()->of_rtos != 0;
	u64 now = rdtsc(), end = since + time_tsc_khz / TENURE_RATE;

	if (!rtos && !of_linux)
		return TIME_NEVER;
	if (now < end)
		return end;
	switch (told(rtos)) {
	case TENURE_AT_ONCE:
		return now;
	case TENURE_AGAIN:
		return now + time_tsc_khz / TENURE_RATE;
	default:
		return TIME_NEVER;
	}
}

static void tenure_watch(void)
{
	since = rdtsc();
	if (told != NULL && !deadline_is_set(&tenure))
		deadline_set(&tenure, since + time_tsc_khz / TENURE_RATE);
}

void tenure_begins(void)
{
	EXPECTS_MASKED();
	if (part_page_own()->of_rtos != 0)
		return; /* it had lent the core (loan.h) */
	part_page_own()->of_rtos = true;
	tenure_watch();
}

u64 tenure_lasted(void)
{
	return rdtsc() - since;
}

void tenure_ends(void)
{
	if (told_end != NULL)
		told_end(tenure_lasted());
	part_page_own()->of_rtos = false;
	if (of_linux)
		tenure_watch();
}

void tenure_of_linux(bool counts)
{
	of_linux = counts;
}

void tenure_init(enum tenure_told (*lasts)(bool rtos), void (*ended)(u64 ticks))
{
	deadline_init(&tenure, tenure_expire, 0);
	told = lasts;
	told_end = ended;
	core.unusual |= SWITCH_OF_SOME;
}
