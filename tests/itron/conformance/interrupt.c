/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: DEF_INH and DEF_EXC. The interrupts are those of serial ports at which nothing is: one
 * interrupts as soon as it may, because it has sent everything.
 */
#include "suite.h"

/* A 16550: its registers, and bits of them. */
#define UART_INTERRUPTS 1
#define UART_IDENTIFICATION 2
#define UART_MODEM_CONTROL 4
#define INTERRUPT_SENT 0x02
#define MODEM_INTERRUPTS 0x08 /* OUT2: lets interrupts out */

struct line {
	UH port;
	volatile UINT count;
	void (*volatile work)(void);
};

static struct line master = { .port = 0x2f8 }, slave = { .port = 0x3e8 }, last = { .port = 0x2e8 };

static void io_write(UH port, UB value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static UB io_read(UH port)
{
	UB value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static void line_raise(const struct line *line)
{
	io_write((UH)(line->port + UART_MODEM_CONTROL), MODEM_INTERRUPTS);
	io_write((UH)(line->port + UART_INTERRUPTS), INTERRUPT_SENT);
}

/* The handler of each line. */
static void line_handle(struct line *line)
{
	void (*work)(void) = line->work;

	expect(sns_ctx() && !sns_loc());
	io_read((UH)(line->port + UART_IDENTIFICATION));
	io_write((UH)(line->port + UART_INTERRUPTS), 0);
	line->work = NULL;
	if (work)
		work();
	line->count++;
}

void interrupt_master(void)
{
	line_handle(&master);
}

void interrupt_slave(void)
{
	line_handle(&slave);
}

void interrupt_last(void)
{
	line_handle(&last);
}

static volatile UINT ticks;

/* In place of the kernel's own, which does the same here. */
void interrupt_timer(void)
{
	ticks++;
	expect_equal(isig_tim(), E_OK);
}

void in_interrupt(void (*work)(void))
{
	UINT before = master.count;

	master.work = work;
	line_raise(&master);
	while (master.count == before)
		__asm__ volatile("pause");
}

static void activate(void)
{
	expect_equal(iact_tsk(TSK_HIGH), E_OK);
	trace('x');
}

static void line_test(struct line *line)
{
	work_set(TSK_HIGH, trace_self);
	for (UINT i = 1; i <= 3; i++) {
		UINT before = line->count;

		line->work = activate;
		line_raise(line);
		while (line->count == before)
			__asm__ volatile("pause");
		expect(traced("xh"));
		dly_tsk(1);
		expect_equal(line->count, before + 1);
	}
}

static void test_master(void)
{
	line_test(&master);
}

static void test_slave(void)
{
	line_test(&slave);
}

static void test_last(void)
{
	line_test(&last);
}

static void test_timer(void)
{
	SYSTIM before;
	UINT count;

	settle();
	before = now();
	count = ticks;
	dly_tsk(9);
	expect_equal(ticks, count + 10);
	expect_equal(now(), before + 10);
}

/* Interrupts wait while the CPU is locked, and all come afterwards. */
static void test_locked(void)
{
	UINT before = master.count + slave.count + last.count;

	loc_cpu();
	line_raise(&master);
	line_raise(&slave);
	line_raise(&last);
	for (volatile UINT i = 0; i < 100000; i++)
		;
	expect_equal(master.count + slave.count + last.count, before);
	unl_cpu();
	dly_tsk(1);
	expect_equal(master.count + slave.count + last.count, before + 3);
}

static void raise_others(void)
{
	UINT before = slave.count;

	line_raise(&slave);
	for (volatile UINT i = 0; i < 100000; i++)
		;
	expect_equal(slave.count, before);
	trace('x');
}

static void trace_slave(void)
{
	trace('y');
}

/* No handler comes while another runs. */
static void test_no_nesting(void)
{
	slave.work = trace_slave;
	in_interrupt(raise_others);
	dly_tsk(1);
	expect(traced("xy"));
	slave.work = trace_slave;
	in_handler(raise_others);
	dly_tsk(1);
	expect(traced("xy"));
}

static void wake_main(void)
{
	expect_equal(iwup_tsk(TSK_MAIN), E_OK);
}

static void raise_slave(void)
{
	line_raise(&slave);
}

/* An interrupt whose handler wakes a task, when only the idle task or a less urgent one runs. */
static void test_wake_up(void)
{
	slave.work = wake_main;
	start(TSK_LOW, raise_slave);
	expect_equal(tslp_tsk(1000), E_OK);
	settle();
}

/* A division by zero, a bad instruction, a bad selector: each 2 bytes long. */
void exception_note(T_EXCINF *information)
{
	exception_noted = *information;
	expect(sns_ctx());
	information->eip += 2;
	information->eflags |= 1; /* carry */
}

static void test_exception_information(void)
{
	UW expected, carry;

	__asm__ volatile("movl $1f, %0\n\txorl %%edx, %%edx\n\txorl %%ecx, %%ecx\n\tclc\n"
			 "1:\tdivl %%ecx\n\tsbbl %1, %1"
			 : "=&r"(expected), "=r"(carry)
			 : "a"(1)
			 : "ecx", "edx", "cc");
	expect_equal(exception_noted.excno, 0);
	expect_equal(exception_noted.error_code, 0);
	expect_equal(exception_noted.eip, expected);
	expect_equal(exception_noted.eflags & 1, 0);
	expect_equal(carry, ~0U);
	__asm__ volatile("movl $1f, %0\n1:\tmovl %1, %%gs" : "=&r"(expected) : "r"(0xfff8));
	expect_equal(exception_noted.excno, 13);
	expect_equal(exception_noted.error_code, 0xfff8);
	expect_equal(exception_noted.eip, expected);
}

static void exception_expect(BOOL context, BOOL locked)
{
	in_exception(NULL);
	expect_equal(exception_noted.context, context);
	expect_equal(exception_noted.locked, locked);
}

static void senses_in_handler(void)
{
	exception_expect(TRUE, FALSE);
	iloc_cpu();
	exception_expect(TRUE, TRUE);
	expect(sns_loc());
	iunl_cpu();
}

/* The state in which the exception happened can be found out in its handler. */
static void test_exception_state(void)
{
	exception_expect(FALSE, FALSE);
	loc_cpu();
	exception_expect(FALSE, TRUE);
	unl_cpu();
	in_handler(senses_in_handler);
	in_interrupt(senses_in_handler);
}

static void activate_high(void)
{
	expect_equal(iact_tsk(TSK_HIGH), E_OK);
	trace('x');
}

static void exception_in_handler(void)
{
	trace('i');
	in_exception(activate_high);
	trace('j');
	expect(sns_ctx());
}

static void test_exception_dispatch(void)
{
	work_set(TSK_HIGH, trace_self);
	in_exception(activate_high);
	expect(traced("xh") && !sns_ctx());
	in_handler(exception_in_handler);
	expect(traced("ixjh"));
	in_interrupt(exception_in_handler);
	expect(traced("ixjh"));
	loc_cpu();
	in_exception(activate_high);
	expect(traced("x") && sns_loc()); /* which keeps the CPU locked */
	unl_cpu();
	expect(traced("h"));
	dis_dsp();
	in_exception(activate_high);
	expect(traced("x"));
	ena_dsp();
	expect(traced("h"));
}

static const struct tap_test tests[] = {
	{ "DEF_INH: a line of the master", test_master },
	{ "DEF_INH: a line of the slave", test_slave },
	{ "DEF_INH: the last line of the master", test_last },
	{ "DEF_INH: the timer", test_timer },
	{ "DEF_INH: interrupts wait while the CPU is locked", test_locked },
	{ "DEF_INH: handlers do not nest", test_no_nesting },
	{ "DEF_INH: a handler wakes a task", test_wake_up },
	{ "DEF_EXC: what the handler is told", test_exception_information },
	{ "DEF_EXC: the state of the system", test_exception_state },
	{ "DEF_EXC: dispatches, and none where there must be none", test_exception_dispatch },
};

const struct tap_group interrupt_tests = TAP_GROUP(tests);
