/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: every hypercall of an RTOS, with good arguments and with those
 * that must be answered by an error.
 */
#include <string.h>

#include "guest.h"
#include "print.h"

#define PERIOD 1000 /* microseconds */
#define LONG_LINES 100
#define LONG_LINE_SIZE 60

/* Written by the handler. */
static volatile struct {
	uint64_t expiry;
	uint32_t overruns;
} last;

static void timer_note(struct handler_frame *frame)
{
	(void)frame;
	last.expiry = shared_page->timer_expiry;
	last.overruns = shared_page->timer_overruns;
}

static void timer_wait(uint32_t interrupts)
{
	uint32_t until = interrupt_count[GANDALF_VECTOR_TIMER] + interrupts;

	while ((int32_t)(until - interrupt_count[GANDALF_VECTOR_TIMER]) > 0)
		interrupt_wait();
}

static void test_entry(void)
{
	uint16_t cs, ds, es, fs, gs, ss;

	__asm__("movw %%cs, %0; movw %%ds, %1; movw %%es, %2" : "=r"(cs), "=r"(ds), "=r"(es));
	__asm__("movw %%fs, %0; movw %%gs, %1; movw %%ss, %2" : "=r"(fs), "=r"(gs), "=r"(ss));
	expect_equal(cs, own_code());
	expect_equal(ds, own_data());
	expect_equal(es, own_data());
	expect_equal(fs, own_data());
	expect_equal(gs, own_data());
	expect_equal(ss, own_data());
	expect_equal(shared_page->interrupt_flag, 0);
	expect_equal(shared_page->pending, 0);
}

static void test_shared_page(void)
{
	expect_equal(shared_page->abi_version, GANDALF_ABI_VERSION);
	expect_equal((uint32_t)shared_page + 0x1000, shared_page->memory_size);
	expect(shared_page->tsc_khz > 1000);
}

/* In ring 3 the segments are flat, and pages keep the guest in. */
static void test_segment_limit(void)
{
	uint32_t end = cpu_ring() == 3 ? 0xffffffff : shared_page->memory_size - 1;
	uint32_t limit;

	__asm__("lsl %1, %0" : "=r"(limit) : "r"(GANDALF_RTOS_DATA));
	expect_equal(limit, end);
	__asm__("lsl %1, %0" : "=r"(limit) : "r"(GANDALF_RTOS_CODE));
	expect_equal(limit, end);
}

static void test_address_zero(void)
{
	volatile uint32_t *zero = (uint32_t *)(interrupt_count[0] * 4);

	*zero = 0x5a5aa5a5;
	expect_equal(*zero, 0x5a5aa5a5);
}

static void test_null(void)
{
	expect_equal(hypercall(GANDALF_HYPERCALL_NULL, 0, 0), 0);
}

static void test_registers_kept(void)
{
	uint32_t a = GANDALF_HYPERCALL_NULL, b = 0x11111111, c = 0x22222222, d = 0x33333333;
	uint32_t si = 0x44444444, di = 0x55555555, flags;

	__asm__ volatile("stc\n\tpushl %%ebp\n\tmovl $0x66666666, %%ebp\n\tint %6\n\t"
			 "pushfl\n\tcmpl $0x66666666, %%ebp\n\tje 1f\n\txorl %%ebx, %%ebx\n"
			 "1:\tpopl %%eax\n\tpopl %%ebp"
			 : "+a"(a), "+b"(b), "+c"(c), "+d"(d), "+S"(si), "+D"(di)
			 : "i"(GANDALF_HYPERCALL_VECTOR)
			 : "memory", "cc");
	flags = a;
	expect_equal(b, 0x11111111);
	expect_equal(c, 0x22222222);
	expect_equal(d, 0x33333333);
	expect_equal(si, 0x44444444);
	expect_equal(di, 0x55555555);
	expect_equal(flags & 1, 1); /* CF */
}

static void test_segments_kept(void)
{
	uint16_t fs, gs;

	__asm__ volatile("movw %%cs, %%ax\n\tmovw %%ax, %%fs\n\txorw %%ax, %%ax\n\tmovw %%ax, %%gs"
			 : : : "eax");
	hypercall(GANDALF_HYPERCALL_NULL, 0, 0);
	__asm__ volatile("movw %%fs, %0\n\tmovw %%gs, %1" : "=r"(fs), "=r"(gs));
	expect_equal(fs, own_code());
	expect_equal(gs, 0);
	__asm__ volatile("movw %w0, %%fs\n\tmovw %w0, %%gs" : : "r"(GANDALF_RTOS_DATA));
}

static void test_interrupt_flag(void)
{
	const uint32_t set = GANDALF_INTERRUPT_FLAG;

	expect_equal(hypercall(GANDALF_HYPERCALL_INTERRUPT_FLAG, set, 0), 0);
	expect_equal(shared_page->interrupt_flag, set);
	expect_equal(hypercall(GANDALF_HYPERCALL_INTERRUPT_FLAG, 0, 0), set);
	expect_equal(shared_page->interrupt_flag, 0);
	expect_equal(hypercall(GANDALF_HYPERCALL_INTERRUPT_FLAG, 1, 0), GANDALF_ERROR_ARGUMENT);
	expect_equal(shared_page->interrupt_flag, 0);
}

static void test_timer_arguments(void)
{
	expect_equal(timer_start(GANDALF_TIMER_MINIMUM - 1), GANDALF_ERROR_ARGUMENT);
	expect_equal(timer_start(1000001), GANDALF_ERROR_ARGUMENT);
	expect_equal(timer_start(0xffffffff), GANDALF_ERROR_ARGUMENT);
	expect_equal(timer_start(1000000), 0);
	expect_equal(timer_start(0), 0);
}

static void test_timer_first_expiry(void)
{
	uint64_t start = time_stamp();
	uint32_t ticks = time_ticks(PERIOD);

	expect_equal(timer_start(PERIOD), 0);
	timer_wait(1);
	expect(last.expiry - start >= ticks);
	expect(last.expiry <= time_stamp());
	timer_start(0);
}

static void test_timer_stops(void)
{
	uint32_t before;

	timer_start(0);
	interrupt_enable();
	before = interrupt_count[GANDALF_VECTOR_TIMER];
	time_spin(3 * PERIOD);
	expect_equal(interrupt_count[GANDALF_VECTOR_TIMER], before);
	interrupt_disable();
}

/* The interrupts between two expiries and those merged account for the time,
 * however late any of them was served. */
static void timer_account(uint64_t first, uint32_t interrupts, uint32_t overruns)
{
	uint32_t periods = interrupts + overruns;
	uint32_t ticks = (uint32_t)(last.expiry - first);

	expect(ticks - time_ticks(PERIOD * periods) + 2 <= 4);
}

static void test_timer_phase(void)
{
	uint64_t first;
	uint32_t overruns;

	timer_start(PERIOD);
	timer_wait(1);
	first = last.expiry;
	overruns = last.overruns;
	for (unsigned int i = 1; i <= 50; i++) {
		timer_wait(1);
		time_spin(i * 10); /* served late or not, the phase stays */
		timer_account(first, i, last.overruns - overruns);
	}
	timer_start(0);
}

static void test_timer_overruns(void)
{
	uint64_t first;
	uint32_t overruns, interrupts;

	timer_start(PERIOD);
	timer_wait(1);
	interrupt_disable();
	first = last.expiry;
	overruns = last.overruns;
	interrupts = interrupt_count[GANDALF_VECTOR_TIMER];
	time_spin(5 * PERIOD + PERIOD / 2);
	interrupt_enable();
	timer_wait(2);
	interrupt_disable();
	expect(last.overruns - overruns >= 4);
	expect(last.overruns - overruns <= 6);
	timer_account(first, interrupt_count[GANDALF_VECTOR_TIMER] - interrupts,
		      last.overruns - overruns);
	timer_start(0);
}

static void test_timer_restart(void)
{
	timer_start(PERIOD);
	interrupt_disable();
	time_spin(3 * PERIOD);
	timer_start(PERIOD); /* what waited is forgotten, the count begins anew */
	timer_wait(1);
	expect_equal(last.overruns, 0);
	timer_start(0);
}

static void test_timer_shortest(void)
{
	uint64_t first;

	timer_start(GANDALF_TIMER_MINIMUM);
	timer_wait(1);
	first = last.expiry;
	timer_wait(20);
	expect(last.expiry - first >= time_ticks(20 * GANDALF_TIMER_MINIMUM) - 2);
	timer_start(0);
}

static int32_t write_hypercall(const char *text, size_t length)
{
	return hypercall(GANDALF_HYPERCALL_CONSOLE_WRITE, (uint32_t)text, length);
}

static void test_console_write(void)
{
	static const char line[] = "# written by one hypercall\r\n";
	int32_t taken = write_hypercall(line, sizeof(line) - 1);

	expect_equal(taken, sizeof(line) - 1);
	expect_equal(write_hypercall(line, 0), 0);
	expect_equal(write_hypercall(line, GANDALF_CONSOLE_CHUNK + 1), GANDALF_ERROR_ARGUMENT);
}

/* More than any buffer holds. The reader at the other end must see all lines. */
static void test_console_long(void)
{
	for (unsigned int i = 1; i <= LONG_LINES; i++) {
		char line[LONG_LINE_SIZE + 1];

		memset(line, '.', LONG_LINE_SIZE);
		line[LONG_LINE_SIZE] = 0;
		print("# long %u of %u %s\n", i, LONG_LINES, line);
	}
	expect_equal(write_hypercall("", 0), 0);
}

static void test_console_read(void)
{
	char bytes[16];

	expect_equal(console_read(bytes, sizeof(bytes)), 0);
	expect_equal(console_read(bytes, 0), 0);
	expect_equal(hypercall(GANDALF_HYPERCALL_CONSOLE_READ, (uint32_t)bytes,
			       GANDALF_CONSOLE_CHUNK + 1),
		     GANDALF_ERROR_ARGUMENT);
}

static void test_handlers_copied(void)
{
	static struct gandalf_handlers handlers;
	uint32_t before = interrupt_count[GANDALF_VECTOR_TIMER];

	/* None: the interrupt is dropped, but ends the halt. */
	expect_equal(hypercall(GANDALF_HYPERCALL_HANDLERS, (uint32_t)&handlers, 0), 0);
	timer_start(PERIOD);
	interrupt_wait();
	interrupt_disable();
	timer_start(0);
	expect_equal(interrupt_count[GANDALF_VECTOR_TIMER], before);
	handlers_install();
	timer_start(PERIOD);
	timer_wait(1);
	timer_start(0);
	interrupt_disable();
}

static const struct tap_test tests[] = {
	{ "entry-state", test_entry },
	{ "shared-page", test_shared_page },
	{ "segment-limit", test_segment_limit },
	{ "address-zero", test_address_zero },
	{ "null", test_null },
	{ "registers-kept", test_registers_kept },
	{ "segments-kept", test_segments_kept },
	{ "interrupt-flag", test_interrupt_flag },
	{ "timer-arguments", test_timer_arguments },
	{ "timer-first-expiry", test_timer_first_expiry },
	{ "timer-stops", test_timer_stops },
	{ "timer-phase", test_timer_phase },
	{ "timer-overruns", test_timer_overruns },
	{ "timer-restart", test_timer_restart },
	{ "timer-shortest", test_timer_shortest },
	{ "console-write", test_console_write },
	{ "console-long", test_console_long },
	{ "console-read", test_console_read },
	{ "handlers-copied", test_handlers_copied },
};

static const struct tap_group group = TAP_GROUP(tests);

void main(void)
{
	handlers_install();
	interrupt_hook[GANDALF_VECTOR_TIMER] = timer_note;
	tap_run("hypercalls", &group, 1);
}
