/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps what the translated code counts for the CPU that is measured. The code of all CPUs is the
 * same, and adds to the same variables whichever of them executes it: so these are kept where that
 * CPU's turn ends, and are as they were where its next one begins.
 */
#include "turn.h"

#include <pthread.h>
#include <string.h>

#include "fail.h"
#include "measurement.h"
#include "options.h"

/* Who has the turn, and in which thread; nobody has had one. */
static unsigned turn = UINT32_MAX;
static pthread_t thread;

static struct {
	uint64_t instructions;
	uint64_t events[RINGS][EVENT_COUNT];
} kept;

static void counts_keep(void)
{
	kept.instructions = instructions;
	memcpy(kept.events, events, sizeof(events));
}

static void counts_restore(void)
{
	instructions = kept.instructions;
	memcpy(events, kept.events, sizeof(events));
}

static void thread_check(void)
{
	if (turn == UINT32_MAX)
		thread = pthread_self();
	else if (!pthread_equal(thread, pthread_self()))
		fail("CPUs have threads of their own; -accel tcg,thread=single is needed");
}

static void turn_change(unsigned vcpu)
{
	if (turn == options.vcpu)
		counts_keep();
	else if (vcpu == options.vcpu)
		counts_restore();
	turn = vcpu;
}

bool turn_take(unsigned vcpu)
{
	if (vcpu != turn) {
		thread_check();
		turn_change(vcpu);
	}
	return vcpu == options.vcpu;
}

void turn_take_back(void)
{
	if (turn != options.vcpu)
		turn_change(options.vcpu);
}
