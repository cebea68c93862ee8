/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: x87 and SSE registers survive whatever other guests do. Two of
 * them side by side, or one beside a Linux that computes, make the VMM switch
 * the state; each uses patterns of its own.
 */
#include "float_check.h"
#include "guest.h"

#define PERIOD 1000 /* microseconds */
#define ROUNDS 300

static struct float_state state;

static uint32_t seed_next(void)
{
	return (uint32_t)time_stamp() * 2654435761U;
}

/* Asleep: others run meanwhile for certain, if there are any. */
static void test_halt(void)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		float_load(&state, seed_next());
		interrupt_wait();
		expect(float_check(&state));
	}
}

/* Awake: others run only if they are more urgent. */
static void test_preempted(void)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		float_load(&state, seed_next());
		time_spin(PERIOD / 2 + i);
		expect(float_check(&state));
	}
}

static void test_hypercall(void)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		float_load(&state, seed_next());
		hypercall(GANDALF_HYPERCALL_NULL, 0, 0);
		expect(float_check(&state));
	}
}

/* As the first use of the FPU finds it. To be run first. */
static void test_initial(void)
{
	uint16_t control, status;
	uint32_t mxcsr = 0x1f80;

	__asm__ volatile("fnstcw %0\n\tfnstsw %1" : "=m"(control), "=m"(status));
	if (float_has_sse())
		__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	expect_equal(control, 0x37f);
	expect_equal(status, 0);
	expect_equal(mxcsr, 0x1f80);
}

static const struct tap_test tests[] = {
	{ "initial", test_initial },
	{ "hypercall", test_hypercall },
	{ "halt", test_halt },
	{ "preempted", test_preempted },
};

static const struct tap_group group = TAP_GROUP(tests);

void main(void)
{
	handlers_install();
	timer_start(PERIOD);
	interrupt_enable();
	tap_run("fpu", &group, 1);
}
