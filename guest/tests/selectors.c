/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: of all 65,536 selectors an RTOS can load its own two and null,
 * and nothing else, into any segment register.
 */
#include "guest.h"
#include "print.h"

#define GP 13
#define NP 11
#define SS 12

/* Its own, with a requested privilege level that leaves them usable in its ring, 1 or 3. */
static bool is_own(uint32_t selector)
{
	return (selector & ~cpu_ring()) == (GANDALF_RTOS_DATA & ~3U) ||
	       (selector & ~cpu_ring()) == (GANDALF_RTOS_CODE & ~3U);
}

static void check(uint32_t selector, bool allowed)
{
	if (!expect_equal(exception.count, allowed ? 0 : 1))
		print("# selector 0x%x\n", selector);
	if (allowed || !exception.count)
		return;
	expect(exception.vector == GP || exception.vector == NP || exception.vector == SS);
	expect_equal(exception.error, selector & ~3U);
}

#define LOAD(segment) \
	static void load_##segment(uint32_t selector) \
	{ \
		EXCEPTION_PROVOKE("movw %w0, %%" #segment, : : "r"(selector)); \
		__asm__ volatile("movw %w0, %%" #segment : : "r"(GANDALF_RTOS_DATA)); \
		check(selector, selector < 4 || is_own(selector)); \
	}

LOAD(fs)
LOAD(gs)
LOAD(es)

/* Without DS nothing can be noted: it is given back in the same breath. */
static void load_ds(uint32_t selector)
{
	EXCEPTION_PROVOKE("movw %w0, %%ds\n\tmovw %w1, %%ds", : : "r"(selector),
			  "r"(GANDALF_RTOS_DATA));
	check(selector, selector < 4 || is_own(selector));
}

static void load_ss(uint32_t selector)
{
	EXCEPTION_PROVOKE("movw %w0, %%ss", : : "r"(selector));
	check(selector, selector == own_data());
}

static void load_all(void (*load)(uint32_t), uint32_t end)
{
	for (uint32_t selector = 0; selector < end; selector++)
		load(selector);
}

static void test_fs(void)
{
	load_all(load_fs, 0x10000);
}

static void test_gs(void)
{
	load_all(load_gs, 0x1000);
}

static void test_es(void)
{
	load_all(load_es, 0x1000);
}

static void test_ds(void)
{
	load_all(load_ds, 0x1000);
}

static void test_ss(void)
{
	load_all(load_ss, 0x1000);
}

static void call_far(uint32_t selector)
{
	const struct {
		uint32_t offset;
		uint16_t selector;
	} __attribute__((packed)) target = { 0, (uint16_t)selector };

	if ((selector & ~3U) == (GANDALF_RTOS_CODE & ~3U))
		return;
	EXCEPTION_PROVOKE("lcall *%0", : : "m"(target) : "memory");
	check(selector, false);
}

static void test_call(void)
{
	load_all(call_far, 0x1000);
}

/* INT n: the hypercall, breakpoint and overflow apart, no gate opens. */
static void test_gates(void)
{
	static uint8_t code[4] = { 0xcd, 0, 0xff, 0xe6 }; /* int; jmp *%esi */

	for (uint32_t vector = 0; vector < 256; vector++) {
		if (vector == GANDALF_HYPERCALL_VECTOR || vector == 3 || vector == 4)
			continue;
		code[1] = (uint8_t)vector;
		EXCEPTION_PROVOKE("movl $1f, %%esi\n\tjmp *%0", : : "r"(code) : "esi", "memory");
		if (!expect_equal(exception.count, 1))
			print("# vector %u\n", vector);
		expect_equal(exception.vector, GP);
		expect_equal(exception.error, vector * 8 + 2);
	}
}

static const struct tap_test tests[] = {
	{ "fs", test_fs },
	{ "gs", test_gs },
	{ "es", test_es },
	{ "ds", test_ds },
	{ "ss", test_ss },
	{ "far-call", test_call },
	{ "gates", test_gates },
};

static const struct tap_group group = TAP_GROUP(tests);

void main(void)
{
	handlers_install();
	tap_run("selectors", &group, 1);
}
