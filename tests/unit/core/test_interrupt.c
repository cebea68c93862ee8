/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts of the UART on a machine so slow that it interrupts again in each pause of its own
 * handler: none is served within another on the same stack, nothing that was typed is lost, and
 * whoever has the core instead serves it.
 */
#include "unit.h"

#include <string.h>

#include "fake/asked.h"
#include "fake/last_words.h"

#include "arch/ia32/cpu.h"
#include "core/command.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/schedule.h"
#include "core/work.h"
#include "platform/pc/platform.h"

enum { IRQ = 4, TSC_KHZ = 1000000 };

struct console_mux consoles;
u32 time_tsc_khz;

static struct vcpu guest;
/* Bytes that the UART has; whether it interrupts, and for room; what was done with it. */
static u32 bytes, inputs, tells;
static u32 told; /* of how many inputs the guests have been told */
static bool unmasked, expects_room;
static enum vcpu_state typed; /* what a command makes of the current vCPU */
/* How many handlers are on the stack of the current vCPU now, and were at most. */
static u32 depth, deepest;

/*
 * Own stand-ins: the UART and its consumers (serial_mask_interrupts(), serial_interrupt_again(),
 * serial_expect_room(), log_receive(), log_tell(), command_input()), and log_pump(), which counts
 * what they do in which depth; core_admits() is core.c's.
 */
void serial_mask_interrupts(void)
{
	unmasked = false;
}

void serial_interrupt_again(bool transmit)
{
	unmasked = transmit;
}

void serial_expect_room(bool wanted)
{
	expects_room = wanted;
}

bool log_receive(void)
{
	bool any = bytes != 0;

	bytes = 0;
	return any;
}

void command_input(void)
{
	assert_int_equal(depth, 1);
	core.current->state = typed;
	inputs++;
}

void log_tell(void)
{
	assert_int_equal(depth, 1);
	tells++;
	told = inputs;
}

void log_pump(void)
{
	assert_int_equal(depth, 1);
	expects_room = false; /* nothing is left */
	asked.pumps++;
}

/*
 * Own stand-ins: time_init(), time_interrupt(), time_irq(), time_hardware(), message_interrupt()
 * and the 8259s are there for the UART alone.
 */
void time_init(void)
{
	time_tsc_khz = TSC_KHZ;
}

void time_interrupt(void)
{
	fail();
}

int time_irq(void)
{
	return -1;
}

const char *time_hardware(void)
{
	return "a test";
}

void message_interrupt(void)
{
	fail();
}

bool i8259_acknowledge(unsigned irq)
{
	assert_int_equal(irq, IRQ);
	return true;
}

void i8259_enable(unsigned irq)
{
	assert_int_equal(irq, IRQ);
}

void i8259_init(void)
{
}

void i8259_release(void)
{
	fail();
}

static void uart_interrupts(void)
{
	struct vcpu *vcpu = core.current;

	depth++;
	deepest = depth > deepest ? depth : deepest;
	vcpu->working += depth > 1;
	interrupt_serve(VECTOR_PIC + IRQ);
	vcpu->working -= depth > 1;
	depth--;
}

/* The deadline of the UART, which was made last, is over in every pause. */
static void slow_machine(void)
{
	processor.tsc += TSC_KHZ;
	asked.deadline->time = asked.deadline->expire(asked.deadline);
	if (unmasked)
		uart_interrupts();
}

static void typed_in_a_pause(void)
{
	static u32 pauses;

	bytes += pauses++ % 3 == 1 && pauses < 10;
	slow_machine();
}

static int begin(void **state)
{
	(void)state;
	memset(&asked, 0, sizeof(asked));
	memset(&processor, 0, sizeof(processor));
	memset(&core, 0, sizeof(core));
	guest = idle_vcpu = (struct vcpu){.state = VCPU_RUNNING};
	core.current = &idle_vcpu;
	core.pauses = true;
	bytes = inputs = tells = told = depth = deepest = 0;
	unmasked = true;
	expects_room = false;
	typed = VCPU_RUNNING;
	interrupt_init(IRQ);
	assert_int_equal(time_tsc_khz, TSC_KHZ);
	return 0;
}

/* It interrupts in each pause; the second one is not served, and so there is no third. */
static void the_uart_is_not_served_within_itself(void **state)
{
	(void)state;
	processor.admit = slow_machine;
	uart_interrupts();
	assert_int_equal(deepest, 2);
	assert_int_equal(asked.pumps, 1);
	assert_int_equal(inputs, 0);
	assert_false(idle_vcpu.serves_consoles);
	assert_int_equal(idle_vcpu.working, 0);
}

static void what_is_typed_meanwhile_is_looked_at(void **state)
{
	(void)state;
	bytes = 1;
	processor.admit = typed_in_a_pause;
	uart_interrupts();
	assert_int_equal(deepest, 2);
	assert_int_equal(bytes, 0);
	assert_true(inputs > 1);
	assert_int_equal(told, inputs);
	/* Whoever is told behind the last byte knows of it: nothing waits for another interrupt. */
	inputs = 0;
	processor.admit = NULL;
	uart_interrupts();
	assert_int_equal(inputs, 0);
}

static void another_has_the_core(void)
{
	u32 before = depth;

	if (core.current == &guest)
		return;
	core.current = &guest;
	depth = 0;
	uart_interrupts();
	depth = before;
	core.current = &idle_vcpu;
}

/* It does not wait for the idle vCPU, which may not go on for long. */
static void another_stack_serves_it(void **state)
{
	(void)state;
	processor.admit = another_has_the_core;
	uart_interrupts();
	assert_true(asked.pumps > 1);
	assert_int_equal(deepest, 1);
}

static void another_reads(void)
{
	u32 before = inputs;

	if (core.current == &guest)
		return;
	another_has_the_core();
	assert_true(before > 0 || inputs > before);
}

/* The vCPU on whose stack the steps are is preempted just before it looks at what has come in. */
static void another_stack_reads_what_was_typed(void **state)
{
	(void)state;
	bytes = 1;
	processor.admit = another_reads;
	uart_interrupts();
	assert_true(inputs > 0);
	assert_int_equal(bytes, 0);
}

/* Nothing else interrupts for what is answered to it: the notice of who has the keyboard now. */
static void what_is_typed_while_an_rtos_runs_is_answered(void **state)
{
	u32 waits;

	(void)state;
	core.current = &guest;
	guest.priority = 1;
	bytes = 1;
	unmasked = false;
	uart_interrupts();
	assert_int_equal(inputs, 1);
	assert_int_equal(asked.pumps, 0);
	for (waits = 0; !unmasked; waits++)
		asked.deadline->expire(asked.deadline);
	assert_in_range(waits, 2, 20);
	assert_true(expects_room);
	uart_interrupts();
	assert_int_equal(asked.pumps, 1);
}

/* Has the deadline of the UART expire, behind output of others that has left nothing to send. */
static void later(void)
{
	expects_room = false;
	core.current = &idle_vcpu;
	asked.deadline->expire(asked.deadline);
	assert_true(expects_room && unmasked);
	uart_interrupts();
	assert_int_equal(tells, 1);
	assert_int_equal(asked.pumps, 1);
}

/* No interrupt can be let in then, so that the rest would be one masked section with it. */
static void a_command_that_takes_down_whose_stack_this_is_ends_the_section(void **state)
{
	static const enum vcpu_state states[] = {VCPU_OFF, VCPU_PAUSED};

	for (u32 i = 0; i < ARRAY_SIZE(states); i++) {
		begin(state);
		core.current = &guest;
		bytes = 1;
		typed = states[i];
		uart_interrupts();
		assert_int_equal(inputs, 1);
		assert_int_equal(tells + asked.pumps, 0);
		typed = VCPU_RUNNING;
		later();
	}
}

static void a_stack_without_room_leaves_all_to_a_later_interrupt(void **state)
{
	(void)state;
	bytes = 1;
	idle_vcpu.working = 3;
	uart_interrupts();
	assert_int_equal(inputs + tells + asked.pumps, 0);
	idle_vcpu.working = 2;
	later();
	assert_int_equal(inputs, 1);
}

/* Whatever lets interrupts in: the stack has an end. */
static void nothing_is_let_in_behind_three_interrupts(void **state)
{
	(void)state;
	for (u32 interrupts = 0; interrupts < 6; interrupts++) {
		idle_vcpu.working = (u8)interrupts;
		assert_int_equal(core_admits(), interrupts < 3);
	}
	idle_vcpu.working = 0;
	idle_vcpu.state = VCPU_OFF;
	assert_false(core_admits());
	idle_vcpu.state = VCPU_RUNNING;
	core.pauses = false;
	assert_false(core_admits());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_uart_is_not_served_within_itself, begin),
		cmocka_unit_test_setup(what_is_typed_meanwhile_is_looked_at, begin),
		cmocka_unit_test_setup(another_stack_serves_it, begin),
		cmocka_unit_test_setup(another_stack_reads_what_was_typed, begin),
		cmocka_unit_test_setup(what_is_typed_while_an_rtos_runs_is_answered, begin),
		cmocka_unit_test_setup(
			a_command_that_takes_down_whose_stack_this_is_ends_the_section, begin),
		cmocka_unit_test_setup(a_stack_without_room_leaves_all_to_a_later_interrupt, begin),
		cmocka_unit_test_setup(nothing_is_let_in_behind_three_interrupts, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
