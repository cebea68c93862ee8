/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: when an RTOS's interrupts are delivered, and what a handler finds.
 */
#include "guest.h"

#define PERIOD 1000 /* microseconds */
#define TIMER GANDALF_VECTOR_TIMER

/* window.S */
extern volatile uint32_t window_count, window_lowest, window_delay;
void window_store(void);
void window_hypercall(void);
uint32_t window_loop(uint32_t count);

static volatile struct {
	uint32_t flag, cs, eip, latency;
} seen;

static void note(struct handler_frame *frame)
{
	seen.flag = shared_page->interrupt_flag;
	seen.cs = frame->cs;
	seen.eip = frame->eip;
	seen.latency = (uint32_t)(time_stamp() - shared_page->timer_expiry);
}

static void timer_begin(void)
{
	interrupt_disable();
	interrupt_hook[TIMER] = note;
	interrupt_count[TIMER] = 0;
	timer_start(PERIOD);
}

static void timer_end(void)
{
	timer_start(0);
	interrupt_disable();
	interrupt_hook[TIMER] = NULL;
	interrupt_return_flag = GANDALF_INTERRUPT_FLAG;
}

static void test_deferred(void)
{
	timer_begin();
	expect_equal(shared_page->pending, 0);
	time_spin(PERIOD * 3 / 2);
	expect_equal(interrupt_count[TIMER], 0);
	expect(shared_page->pending != 0);
	interrupt_enable();
	expect_equal(interrupt_count[TIMER], 1);
	expect_equal(shared_page->pending, 0);
	timer_end();
}

static void test_by_hypercall(void)
{
	int32_t old = hypercall(GANDALF_HYPERCALL_NULL, 0, 0);
	uint32_t count;

	timer_begin();
	time_spin(PERIOD * 3 / 2);
	__asm__ volatile("int %2\n\tmovl %3, %1"
			 : "=a"(old), "=&r"(count)
			 : "i"(GANDALF_HYPERCALL_VECTOR), "m"(interrupt_count[TIMER]),
			   "a"(GANDALF_HYPERCALL_INTERRUPT_FLAG), "b"(GANDALF_INTERRUPT_FLAG)
			 : "memory");
	expect_equal(count, 1);
	expect_equal(old, 0);
	timer_end();
}

static void test_while_running(void)
{
	timer_begin();
	shared_page->interrupt_flag = GANDALF_INTERRUPT_FLAG;
	time_spin(PERIOD * 5 / 2);
	expect(interrupt_count[TIMER] >= 2);
	expect_equal(shared_page->interrupt_flag, GANDALF_INTERRUPT_FLAG);
	timer_end();
}

static void test_frame(void)
{
	uint32_t start, end;

	timer_begin();
	__asm__ volatile("movl $1f, %0\n\tmovl $2f, %1\n\tmovl %4, (%3)\n"
			 "1:\tcmpl $0, %2\n\tje 1b\n2:"
			 : "=&r"(start), "=&r"(end)
			 : "m"(interrupt_count[TIMER]), "r"(shared_page),
			   "i"(GANDALF_INTERRUPT_FLAG)
			 : "memory", "cc");
	expect(seen.eip >= start && seen.eip < end);
	expect_equal(seen.cs, own_code());
	expect_equal(seen.flag, 0);
	expect(seen.latency < time_ticks(PERIOD));
	timer_end();
}

static void test_return_disabled(void)
{
	timer_begin();
	interrupt_return_flag = 0;
	interrupt_enable();
	time_spin(PERIOD * 7 / 2);
	expect_equal(interrupt_count[TIMER], 1);
	expect_equal(shared_page->interrupt_flag, 0);
	expect(shared_page->pending != 0);
	timer_end();
}

static void nest(struct handler_frame *frame)
{
	note(frame);
	if (interrupt_count[TIMER] >= 4)
		return;
	interrupt_enable();
	time_spin(PERIOD * 2);
	interrupt_disable();
}

static void test_nested(void)
{
	timer_begin();
	interrupt_hook[TIMER] = nest;
	interrupt_enable();
	while (!interrupt_count[TIMER])
		__asm__ volatile("pause");
	interrupt_disable();
	expect(interrupt_count[TIMER] >= 4);
	timer_end();
}

static void test_halt(void)
{
	timer_begin();
	interrupt_wait();
	expect_equal(interrupt_count[TIMER], 1);
	expect_equal(shared_page->interrupt_flag, GANDALF_INTERRUPT_FLAG);
	interrupt_wait();
	expect_equal(interrupt_count[TIMER], 2);
	timer_end();
}

static void test_halt_waiting(void)
{
	uint64_t start;

	timer_begin();
	time_spin(PERIOD * 5 / 4);
	start = time_stamp();
	interrupt_wait();
	expect_equal(interrupt_count[TIMER], 1);
	expect(time_stamp() - start < time_ticks(PERIOD / 2));
	timer_end();
}

static void test_halt_return_disabled(void)
{
	timer_begin();
	interrupt_return_flag = 0;
	interrupt_wait();
	expect_equal(interrupt_count[TIMER], 1);
	expect_equal(shared_page->interrupt_flag, 0);
	timer_end();
}

/* A loop that would notice if an interrupt changed any register or flag. */
static void test_registers(void)
{
	uint32_t good, until = 20;

	timer_begin();
	interrupt_enable();
	__asm__ volatile("pushl %%ebp\n\tmovl %%eax, %%ebp\n"
			 "1:\tmovl $0x11111111, %%eax\n\tmovl $0x22222222, %%ebx\n\t"
			 "movl $0x33333333, %%edx\n\tmovl $0x44444444, %%esi\n\t"
			 "movl $0x55555555, %%edi\n\tstc\n\tmovl $100, %%ecx\n"
			 "2:\tjnc 3f\n\tdecl %%ecx\n\tjnz 2b\n\t"
			 "cmpl $0x11111111, %%eax\n\tjne 3f\n\t"
			 "cmpl $0x22222222, %%ebx\n\tjne 3f\n\t"
			 "cmpl $0x33333333, %%edx\n\tjne 3f\n\t"
			 "cmpl $0x44444444, %%esi\n\tjne 3f\n\t"
			 "cmpl $0x55555555, %%edi\n\tjne 3f\n\t"
			 "cmpl %%ebp, %1\n\tjb 1b\n\tmovl $1, %%eax\n\tjmp 4f\n"
			 "3:\txorl %%eax, %%eax\n4:\tpopl %%ebp"
			 : "=a"(good)
			 : "m"(interrupt_count[TIMER]), "a"(until)
			 : "ebx", "ecx", "edx", "esi", "edi", "memory", "cc");
	expect_equal(good, 1);
	timer_end();
}

static void window_test(void (*handler)(void), uint32_t rounds)
{
	static struct gandalf_handlers handlers;
	uint32_t esp;

	handlers.entry[TIMER] = (uint32_t)handler;
	handlers_register(&handlers);
	timer_start(GANDALF_TIMER_MINIMUM);
	esp = window_loop(rounds);
	timer_start(0);
	handlers_install();
	expect_equal(window_lowest, esp - 12);
}

/* The store comes once at each of 120 distances from the expiry that follows. */
static void test_window_store(void)
{
	for (uint32_t i = 0; i < 120; i++) {
		window_delay = time_ticks(GANDALF_TIMER_MINIMUM) - 60 + i;
		window_test(window_store, 3);
	}
}

static void test_window_hypercall(void)
{
	window_test(window_hypercall, 100);
}

static const struct tap_test tests[] = {
	{ "deferred", test_deferred },
	{ "by-hypercall", test_by_hypercall },
	{ "while-running", test_while_running },
	{ "frame", test_frame },
	{ "return-disabled", test_return_disabled },
	{ "nested", test_nested },
	{ "halt", test_halt },
	{ "halt-waiting", test_halt_waiting },
	{ "halt-return-disabled", test_halt_return_disabled },
	{ "registers", test_registers },
	{ "window-store", test_window_store },
	{ "window-hypercall", test_window_hypercall },
};

static const struct tap_group group = TAP_GROUP(tests);

void main(void)
{
	handlers_install();
	tap_run("interrupts", &group, 1);
}
