/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RTOS guests: every hypercall with every bad argument, the delivery of interrupts,
 * and the window between the store to the flag and IRET.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "fake/rtos.h"

static void an_rtos_starts_as_the_abi_says(void **state)
{
	(void)state;
	vcpu.operations->start(&vcpu);
	assert_int_equal(frame.cs, GANDALF_RTOS_CODE);
	assert_int_equal(frame.ds, GANDALF_RTOS_DATA);
	assert_int_equal(frame.es, GANDALF_RTOS_DATA);
	assert_int_equal(frame.fs, GANDALF_RTOS_DATA);
	assert_int_equal(frame.gs, GANDALF_RTOS_DATA);
	assert_int_equal(frame.ss, GANDALF_RTOS_DATA);
	assert_int_equal(frame.eip, CODE);
	assert_int_equal(frame.eax, GANDALF_ENTRY_MAGIC);
	assert_int_equal(frame.ebx, SHARED);
	assert_int_equal(frame.esp, SHARED);
	assert_int_equal(frame.eflags, EFLAGS_FIXED | EFLAGS_IF);
	for (u32 i = 1; i < SEGMENT_GUEST_ENTRIES; i++) {
		u64 raw = real_tables.gdt[i];
		bool its = i == GANDALF_RTOS_CODE / 8 || i == GANDALF_RTOS_DATA / 8;

		assert_int_equal(raw != 0, its);
		if (!its)
			continue;
		assert_int_equal(descriptor_base(raw), LAYOUT_RTOS);
		assert_int_equal(descriptor_limit(raw), MEMORY + CHANNELS - 1);
		/* Of ring 1, for 32 bits, and not to be marked accessed any more. */
		assert_int_equal(raw >> 40 & 0xff, i == GANDALF_RTOS_CODE / 8 ? 0xbb : 0xb3);
		assert_true((raw & DESCRIPTOR_BIG) != 0);
	}
	assert_int_equal(vcpu.cr0_guest, CR0_PG | CR0_NE | CR0_MP | CR0_ET | CR0_PE);
	for (u32 port = 0; port < GANDALF_PORT_LIMIT; port++)
		assert_int_equal(real_tables.tss.bitmap[port / 8] >> port % 8 & 1,
				 port != 0x300 && port != 0x301 && port != 0x378);
	/* A restart forgets the handlers. */
	page()->interrupt_flag = GANDALF_INTERRUPT_FLAG;
	vcpu.operations->interrupt(&vcpu, 7);
	deliver();
	assert_int_equal(vcpu.counters[COUNTER_dropped_interrupts], 1);
	assert_int_equal(frame.eip, CODE);
}

static void a_sign_of_life_is_passed_on(void **state)
{
	(void)state;
	assert_int_equal(call(GANDALF_HYPERCALL_ALIVE, 0, 0), 0);
	guest.watchdog_ms = 70;
	assert_int_equal(call(GANDALF_HYPERCALL_ALIVE, 0, 0), 70);
	guest.watchdog_ms = 0;
	assert_int_equal(asked.lives, 2);
}

/* What another file of the image adds. */
static u32 added(struct vcpu *which)
{
	return which->frame->ebx + 1;
}
HYPERCALL(40, HYPERCALL_OF_RTOS, added);
HYPERCALL(63, HYPERCALL_OF_ALL, added);
HYPERCALL(41, HYPERCALL_OF_LINUX, added);

static void an_added_hypercall_is_there_for_whom_it_is(void **state)
{
	(void)state;
	assert_int_equal(call(40, 4711, 0), 4712);
	assert_int_equal(call(63, 1, 0), 2);
	call(41, 0, 0);
	assert_int_equal(asked.stops, 1);
	vm.kind = &(const struct guest_kind){ .number = GANDALF_KIND_LINUX_SHARED };
	hypercalls_give(&vcpu);
	assert_ptr_equal(vcpu.hypercalls[41], added);
	assert_ptr_equal(vcpu.hypercalls[63], added);
	assert_null(vcpu.hypercalls[40]);
}

/* Hypercalls */

static void unknown_numbers_stop_the_guest(void **state)
{
	static const u32 bad[] = { 0, 7, 15, GANDALF_HYPERCALL_FLUSH, GANDALF_HYPERCALL_LOAD_TLS,
				   31, 37, 0x80000000, 0xffffffff };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		start(NULL);
		call(bad[i], 0, 0);
		assert_int_equal(asked.stops, 1);
		assert_int_equal(vcpu.state, VCPU_OFF);
		assert_int_equal(strncmp(asked.stop_reason, "unknown hypercall", 17), 0);
	}
	start(NULL);
	assert_int_equal(call(GANDALF_HYPERCALL_NULL, 1, 2), 0);
	assert_int_equal(asked.stops, 0);
}

static void addresses_outside_stop_the_guest(void **state)
{
	static const struct {
		u32 number, address, size;
	} bad[] = {
		{ GANDALF_HYPERCALL_HANDLERS, MEMORY - 252, 0 },
		{ GANDALF_HYPERCALL_HANDLERS, MEMORY, 0 },
		{ GANDALF_HYPERCALL_HANDLERS, 0xffffff80, 0 },
		{ GANDALF_HYPERCALL_HANDLERS, LAYOUT_RTOS, 0 },
		{ GANDALF_HYPERCALL_CONSOLE_WRITE, MEMORY - 7, 8 },
		{ GANDALF_HYPERCALL_CONSOLE_WRITE, 0xfffffff8, 16 },
		{ GANDALF_HYPERCALL_CONSOLE_WRITE, MEMORY + 1, 0 },
		{ GANDALF_HYPERCALL_CONSOLE_WRITE, 0xffffffff, 1 },
		{ GANDALF_HYPERCALL_CONSOLE_READ, MEMORY - 7, 8 },
		{ GANDALF_HYPERCALL_CONSOLE_READ, 0xfffffff8, 16 },
		{ GANDALF_HYPERCALL_CONSOLE_READ, 0x80000000, 256 },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		start(NULL);
		room = typed_count = 100;
		call(bad[i].number, bad[i].address, bad[i].size);
		assert_int_equal(asked.stops, 1);
		assert_non_null(strstr(asked.stop_reason, "bad address"));
		assert_int_equal(room, 100);
		assert_int_equal(typed_first, 0);
	}
}

static void the_last_bytes_of_memory_are_the_guests(void **state)
{
	(void)state;
	room = 256;
	assert_int_equal(call(GANDALF_HYPERCALL_HANDLERS, MEMORY - 256, 0), 0);
	assert_int_equal(call(GANDALF_HYPERCALL_CONSOLE_WRITE, MEMORY - 256, 256), 256);
	assert_int_equal(call(GANDALF_HYPERCALL_CONSOLE_READ, MEMORY - 256, 256), 0);
	assert_int_equal(call(GANDALF_HYPERCALL_CONSOLE_WRITE, MEMORY, 0), 0);
	assert_int_equal(asked.stops, 0);
}

static void chunks_are_bounded(void **state)
{
	static const u32 sizes[] = { GANDALF_CONSOLE_CHUNK + 1, MEMORY + 1, 0xffffffff };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		assert_int_equal(call(GANDALF_HYPERCALL_CONSOLE_WRITE, 0, sizes[i]),
				 (u32)GANDALF_ERROR_ARGUMENT);
		assert_int_equal(call(GANDALF_HYPERCALL_CONSOLE_READ, 0, sizes[i]),
				 (u32)GANDALF_ERROR_ARGUMENT);
	}
	assert_int_equal(asked.stops, 0);
}

static void the_console_takes_what_it_has_room_for(void **state)
{
	(void)state;
	memcpy(memory + 0x3000, "hello, world", 12);
	room = 5;
	assert_int_equal(call(GANDALF_HYPERCALL_CONSOLE_WRITE, 0x3000, 12), 5);
	assert_memory_equal(written, "hello", 5);
	memcpy(typed, "typed", 5);
	typed_count = 5;
	assert_int_equal(call(GANDALF_HYPERCALL_CONSOLE_READ, 0x3100, 3), 3);
	assert_int_equal(call(GANDALF_HYPERCALL_CONSOLE_READ, 0x3103, 200), 2);
	assert_memory_equal(memory + 0x3100, "typed\0", 6);
}

/* Interrupts come in while it prints, and what is for the guest itself ends the call. */
static void printing_lets_interrupts_in(void **state)
{
	(void)state;
	room = 300;
	core.pauses = core.interruptible = true;
	assert_int_equal(call(GANDALF_HYPERCALL_CONSOLE_WRITE, 0x3000, 100), 100);
	assert_in_range(longest, 1, 4);
	assert_int_equal(asked.pumps, 1);
	interrupt_at = written_count + 18;
	assert_int_equal(call(GANDALF_HYPERCALL_CONSOLE_WRITE, 0x3000, 100), 20);
	/* Not for what came before. */
	assert_int_equal(call(GANDALF_HYPERCALL_CONSOLE_WRITE, 0x3000, 3), 3);
	assert_int_equal(asked.pumps, 3);
}

static void every_byte_can_be_typed(void **state)
{
	(void)state;
	for (u32 i = 0; i < 256; i++)
		typed[i] = (char)i;
	typed_count = 256;
	assert_int_equal(call(GANDALF_HYPERCALL_CONSOLE_READ, 0x3000, 256), 256);
	for (u32 i = 0; i < 256; i++)
		assert_int_equal(memory[0x3000 + i], i);
}

static void the_flag_is_one_bit(void **state)
{
	(void)state;
	assert_int_equal(call(GANDALF_HYPERCALL_INTERRUPT_FLAG, GANDALF_INTERRUPT_FLAG, 0), 0);
	assert_int_equal(page()->interrupt_flag, GANDALF_INTERRUPT_FLAG);
	assert_int_equal(call(GANDALF_HYPERCALL_INTERRUPT_FLAG, 1, 0),
			 (u32)GANDALF_ERROR_ARGUMENT);
	assert_int_equal(call(GANDALF_HYPERCALL_INTERRUPT_FLAG, 0xffffffff, 0),
			 (u32)GANDALF_ERROR_ARGUMENT);
	assert_int_equal(page()->interrupt_flag, GANDALF_INTERRUPT_FLAG);
	/* What the guest itself has stored there is read as one bit too. */
	page()->interrupt_flag = 0xfffffdff;
	assert_int_equal(call(GANDALF_HYPERCALL_INTERRUPT_FLAG, 0, 0), 0);
	page()->interrupt_flag = 0xffffffff;
	assert_int_equal(call(GANDALF_HYPERCALL_INTERRUPT_FLAG, 0, 0), GANDALF_INTERRUPT_FLAG);
}

static void halt_sleeps_only_when_nothing_waits(void **state)
{
	(void)state;
	assert_int_equal(call(GANDALF_HYPERCALL_HALT, 0, 0), 0);
	assert_int_equal(vcpu.state, VCPU_HALTED);
	assert_int_equal(page()->interrupt_flag, GANDALF_INTERRUPT_FLAG);
	assert_true(vcpu.attention);
	/* As trap_attend() does. */
	vcpu.attention = false;
	vcpu.operations->interrupt(&vcpu, 7);
	assert_true(vcpu.attention);
	vcpu.state = VCPU_RUNNING;
	page()->interrupt_flag = 0;
	assert_int_equal(call(GANDALF_HYPERCALL_HALT, 0, 0), 0);
	assert_int_equal(vcpu.state, VCPU_RUNNING);
	assert_int_equal(vcpu.counters[COUNTER_halts], 2);
}

static void a_ring_waits_for_who_can_hear_it(void **state)
{
	static struct vcpu other;
	struct vcpu *current = core.current;

	(void)state;
	vm.state = GANDALF_STATE_RUNNING;
	/* Who runs gives way to the one that is rung, if that is more urgent. */
	core.current = &other;
	assert_int_equal(vm.kind->ring(&vm), 0);
	assert_true(other.attention);
	core.current = current;
	vcpu.pending = vcpu.attention = 0;
	assert_int_equal(vm.kind->ring(&vm), 0);
	assert_int_equal(vm.kind->ring(&vm), 0);
	assert_int_equal(vcpu.pending, 1u << (GANDALF_VECTOR_DOORBELL - GANDALF_VECTOR_IRQ));
	assert_true(vcpu.attention);
	vcpu.pending = vcpu.attention = 0;
	vm.state = GANDALF_STATE_STOPPED;
	assert_int_equal(vm.kind->ring(&vm), (u32)GANDALF_ERROR_ARGUMENT);
	vm.state = GANDALF_STATE_RUNNING;
	memset(memory + TABLE, 0, 256);
	call(GANDALF_HYPERCALL_HANDLERS, TABLE, 0);
	assert_int_equal(vm.kind->ring(&vm), (u32)GANDALF_ERROR_ARGUMENT);
	assert_false(vcpu.pending || vcpu.attention);
}

/* Delivery */

static void a_frame_is_what_the_processor_would_push(void **state)
{
	(void)state;
	frame.eflags = 0x10546; /* RF, TF, flags */
	enable();
	vcpu.operations->interrupt(&vcpu, 7);
	deliver();
	assert_int_equal(frame.esp, STACK - 12);
	assert_int_equal(*word(STACK - 12), CODE);
	assert_int_equal(*word(STACK - 8), GANDALF_RTOS_CODE);
	assert_int_equal(*word(STACK - 4), 0x10546);
	assert_int_equal(frame.eip, HANDLER(GANDALF_VECTOR_IRQ + 7));
	assert_int_equal(frame.eflags, 0x446);
	assert_int_equal(page()->interrupt_flag, 0);
	assert_int_equal(page()->pending, 0);
	assert_int_equal(vcpu.counters[COUNTER_deliveries], 1);
	assert_int_equal(vcpu.counters[COUNTER_deferrals], 0);
}

static void a_delivery_is_traced(void **state)
{
	const struct gandalf_trace_event *event =
		&vcpu.trace->events[vcpu.trace->next % GANDALF_TRACE_EVENTS];

	(void)state;
	trace_prepare(vcpu.trace, 5);
	processor.tsc = 4711;
	enable();
	vcpu.operations->interrupt(&vcpu, 7);
	deliver();
	assert_int_equal(event->type, TRACE_deliver);
	assert_int_equal(event->vcpu, 5);
	assert_int_equal(event->first, GANDALF_VECTOR_IRQ + 7);
	assert_int_equal(event->second, CODE);
	assert_true(event->time == 4711);
}

static void an_interrupt_comes_once(void **state)
{
	(void)state;
	for (unsigned irq = 0; irq < 16; irq++) {
		start(NULL);
		vcpu.operations->interrupt(&vcpu, irq);
		enable();
		deliver();
		assert_int_equal(frame.eip, HANDLER(GANDALF_VECTOR_IRQ + irq));
		assert_int_equal(vcpu.pending, 0);
		enable();
		deliver();
		assert_int_equal(frame.esp, STACK - 12);
	}
}

/* The return to the guest looks again, at the next opportunity, and forgets nothing else. */
static void what_has_to_wait_is_remembered(void **state)
{
	(void)state;
	vcpu.operations->interrupt(&vcpu, 7);
	vcpu.attention = ATTENTION_NOW;
	deliver();
	assert_int_equal(vcpu.attention, ATTENTION_NOW | ATTENTION_NEXT);
	assert_int_equal(vcpu.counters[COUNTER_deferrals], 1);
	assert_int_equal(vcpu.counters[COUNTER_deliveries], 0);
	assert_int_equal(page()->pending, 1);
}

static void interrupts_wait_for_the_flag_in_order(void **state)
{
	static const u32 order[] = { GANDALF_VECTOR_TIMER, GANDALF_VECTOR_IRQ + 7,
				     GANDALF_VECTOR_IRQ + 15, GANDALF_VECTOR_CONSOLE };

	(void)state;
	call(GANDALF_HYPERCALL_TIMER, 1000, 0);
	typed_count = 1;
	vcpu.operations->console(&vcpu);
	vcpu.operations->interrupt(&vcpu, 15);
	vcpu.operations->interrupt(&vcpu, 7);
	expire_at(asked.deadline->time);
	deliver();
	assert_int_equal(frame.eip, CODE);
	assert_int_equal(page()->pending, 1);
	for (unsigned i = 0; i < ARRAY_SIZE(order); i++) {
		enable();
		deliver();
		assert_int_equal(frame.eip, HANDLER(order[i]));
		assert_int_equal(page()->pending, i != ARRAY_SIZE(order) - 1);
	}
	assert_int_equal(frame.esp, STACK - 4 * 12);
}

/* It would be asked for again and again, for what nobody reads. */
static void the_console_interrupts_nobody_without_a_handler(void **state)
{
	(void)state;
	assert_int_equal(call(GANDALF_HYPERCALL_HANDLERS, 0x3000, 0), 0); /* nothing is there */
	typed_count = 1;
	vcpu.attention = 0;
	vcpu.operations->console(&vcpu);
	assert_int_equal(vcpu.pending, 0);
	assert_int_equal(vcpu.attention, 0);
	/* A handler that is named later learns of what was typed before. */
	assert_int_equal(call(GANDALF_HYPERCALL_HANDLERS, TABLE, 0), 0);
	enable();
	deliver();
	assert_int_equal(frame.eip, HANDLER(GANDALF_VECTOR_CONSOLE));
}

/* The handler sets the flag and is interrupted at its IRET: the next handler's
 * frame takes the place of the old one, as often as it happens. */
static void the_window_before_iret_does_not_grow_the_stack(void **state)
{
	(void)state;
	enable();
	frame.eflags = 0x246;
	vcpu.operations->interrupt(&vcpu, 7);
	deliver();
	for (unsigned i = 0; i < 100; i++) {
		memory[frame.eip] = 0xcf;
		vcpu.operations->interrupt(&vcpu, 7);
		enable();
		deliver();
		assert_int_equal(frame.esp, STACK - 12);
		assert_int_equal(*word(STACK - 12), CODE);
		assert_int_equal(*word(STACK - 8), GANDALF_RTOS_CODE);
		assert_int_equal(*word(STACK - 4), 0x246);
	}
	assert_int_equal(vcpu.counters[COUNTER_returns], 100);
}

/* The flags are those of the frame that is returned from, and the frame and the IRET may be the
 * last in the guest's memory. */
static void the_return_that_is_done_for_it_is_whole(void **state)
{
	static const u32 places[][2] = {
		{ STACK, CODE }, { MEMORY, CODE }, { STACK, MEMORY - 12 },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++) {
		u32 stack = places[i][0];

		start(NULL);
		frame.esp = stack - 12;
		frame.eip = places[i][1];
		frame.eflags = 0x202;
		memory[frame.eip] = 0xcf;
		*word(stack - 12) = 0x1234;
		*word(stack - 8) = GANDALF_RTOS_CODE;
		*word(stack - 4) = 0x8d7;
		enable();
		vcpu.operations->interrupt(&vcpu, 7);
		deliver();
		assert_int_equal(vcpu.counters[COUNTER_returns], 1);
		assert_int_equal(frame.esp, stack - 12);
		assert_int_equal(*word(stack - 12), 0x1234);
		assert_int_equal(*word(stack - 8), GANDALF_RTOS_CODE);
		assert_int_equal(*word(stack - 4), 0xad7);
	}
}

static void other_instructions_and_frames_are_interrupted_as_they_are(void **state)
{
	(void)state;
	/* Not at an IRET. */
	memory[CODE] = 0x90;
	enable();
	vcpu.operations->interrupt(&vcpu, 7);
	deliver();
	assert_int_equal(*word(STACK - 12), CODE);
	/* At an IRET to a selector that is not the guest's code. */
	memory[frame.eip] = 0xcf;
	*word(frame.esp + 4) = 0x100;
	enable();
	vcpu.operations->interrupt(&vcpu, 7);
	deliver();
	assert_int_equal(frame.esp, STACK - 24);
	/* At an IRET whose flags are forged: IOPL, VM and IF are not the guest's. */
	start(NULL);
	frame.esp = STACK - 12;
	frame.eip = CODE;
	memory[CODE] = 0xcf;
	*word(STACK - 12) = 0x1234;
	*word(STACK - 8) = GANDALF_RTOS_CODE;
	*word(STACK - 4) = 0xfffffdff;
	enable();
	vcpu.operations->interrupt(&vcpu, 7);
	deliver();
	assert_int_equal(*word(STACK - 12), 0x1234);
	assert_int_equal(*word(STACK - 4) & (EFLAGS_IOPL | EFLAGS_VM), 0);
	assert_int_equal(*word(STACK - 4) & (EFLAGS_IF | EFLAGS_FIXED), EFLAGS_IF | EFLAGS_FIXED);
	assert_int_equal(asked.stops, 0);
}

static void a_stack_outside_stops_the_guest(void **state)
{
	static const u32 stacks[] = { 0, 4, 11, MEMORY + 1, MEMORY + 12, 0xfffffff0 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++) {
		start(NULL);
		frame.esp = stacks[i];
		enable();
		vcpu.operations->interrupt(&vcpu, 7);
		deliver();
		assert_int_equal(asked.stops, 1);
		assert_string_equal(asked.stop_reason, "its stack is outside its memory");
	}
	start(NULL);
	frame.esp = 12;
	enable();
	vcpu.operations->interrupt(&vcpu, 7);
	deliver();
	assert_int_equal(asked.stops, 0);
	assert_int_equal(frame.esp, 0);
	/* The top of its memory is in it. */
	start(NULL);
	frame.esp = MEMORY;
	enable();
	vcpu.operations->interrupt(&vcpu, 7);
	deliver();
	assert_int_equal(asked.stops, 0);
	assert_int_equal(frame.esp, MEMORY - 12);
}

/* It is told once, and nothing is pushed. */
static void an_exception_finds_no_stack(void **state)
{
	(void)state;
	frame.esp = 8;
	frame.vector = EXCEPTION_GP;
	hand_on(&vcpu, &frame);
	assert_int_equal(asked.stops, 1);
	assert_string_equal(asked.stop_reason, "its stack is outside its memory");
	assert_int_equal(frame.esp, 8);
	assert_int_equal(frame.eip, CODE);
	/* Nor does the error code, where there is room for no more. */
	start(NULL);
	frame.esp = 12;
	frame.vector = EXCEPTION_GP;
	hand_on(&vcpu, &frame);
	assert_int_equal(asked.stops, 1);
}

/* Exceptions */

static void exceptions_bring_their_error_codes(void **state)
{
	(void)state;
	for (u32 vector = 0; vector < 32; vector++) {
		bool coded = vector == 8 || (vector >= 10 && vector <= 14) || vector == 17;

		if (vector == GANDALF_HYPERCALL_VECTOR)
			continue;
		start(NULL);
		frame.vector = vector;
		frame.error = 0x1230;
		frame.eflags = 0x46;
		hand_on(&vcpu, &frame);
		assert_int_equal(frame.eip, HANDLER(vector));
		assert_int_equal(frame.esp, STACK - (coded ? 16 : 12));
		if (coded)
			assert_int_equal(*word(frame.esp), 0x1230);
		assert_int_equal(*word(STACK - 12), CODE);
		assert_int_equal(vcpu.counters[COUNTER_exceptions], 1);
		assert_int_equal(last_event()->type, TRACE_exception);
		assert_int_equal(last_event()->first, vector);
		assert_int_equal(last_event()->second, CODE);
	}
}

static void exceptions_without_a_handler_stop_the_guest(void **state)
{
	(void)state;
	memset(memory + TABLE, 0, 256);
	call(GANDALF_HYPERCALL_HANDLERS, TABLE, 0);
	frame.vector = EXCEPTION_GP;
	hand_on(&vcpu, &frame);
	assert_string_equal(asked.stop_reason, "#13 without a handler");
	assert_int_equal(frame.eip, CODE);
	assert_int_equal(frame.esp, STACK);
	assert_int_equal(vcpu.counters[COUNTER_exceptions], 0);
	/* Its handlers from 32 on are those of interrupts. */
	start(NULL);
	frame.vector = GANDALF_VECTOR_IRQ;
	hand_on(&vcpu, &frame);
	assert_int_equal(asked.stops, 1);
	assert_int_equal(frame.eip, CODE);
	start(NULL);
	frame.vector = VECTOR_RETURN_FAULT;
	hand_on(&vcpu, &frame);
	assert_int_equal(asked.stops, 1);
	start(NULL);
	frame.vector = VECTOR_VIRTUAL_8086;
	hand_on(&vcpu, &frame);
	assert_string_equal(asked.stop_reason, "it has entered virtual-8086 mode");
	assert_int_equal(frame.eip, CODE);
}

static void the_fpu_is_taken_at_its_first_use(void **state)
{
	(void)state;
	core.fpu_owner = NULL;
	frame.vector = EXCEPTION_NM;
	hand_on(&vcpu, &frame);
	assert_int_equal(asked.fpu_taken, 1);
	assert_int_equal(frame.eip, CODE);
	assert_int_equal(asked.traced.type, TRACE_trap);
	assert_int_equal(asked.traced.first, EXCEPTION_NM);
	assert_int_equal(asked.traced.second, CODE);
}

static void instruction_bytes_end_with_the_memory(void **state)
{
	u8 bytes[16];

	(void)state;
	memory[MEMORY - 2] = 0x12;
	frame.eip = MEMORY - 2;
	assert_int_equal(vcpu.operations->instruction(&vcpu, bytes, 16), 2);
	assert_int_equal(bytes[0], 0x12);
	frame.eip = MEMORY;
	assert_int_equal(vcpu.operations->instruction(&vcpu, bytes, 16), 0);
	frame.eip = 0xffffffff;
	assert_int_equal(vcpu.operations->instruction(&vcpu, bytes, 16), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_rtos_starts_as_the_abi_says),
		TEST(a_sign_of_life_is_passed_on),
		TEST(an_added_hypercall_is_there_for_whom_it_is),
		TEST(unknown_numbers_stop_the_guest),
		TEST(addresses_outside_stop_the_guest),
		TEST(the_last_bytes_of_memory_are_the_guests),
		TEST(chunks_are_bounded),
		TEST(the_console_takes_what_it_has_room_for),
		TEST(printing_lets_interrupts_in),
		TEST(every_byte_can_be_typed),
		TEST(the_flag_is_one_bit),
		TEST(halt_sleeps_only_when_nothing_waits),
		TEST(a_ring_waits_for_who_can_hear_it),
		TEST(a_frame_is_what_the_processor_would_push),
		TEST(a_delivery_is_traced),
		TEST(an_interrupt_comes_once),
		TEST(what_has_to_wait_is_remembered),
		TEST(interrupts_wait_for_the_flag_in_order),
		TEST(the_console_interrupts_nobody_without_a_handler),
		TEST(the_window_before_iret_does_not_grow_the_stack),
		TEST(the_return_that_is_done_for_it_is_whole),
		TEST(other_instructions_and_frames_are_interrupted_as_they_are),
		TEST(a_stack_outside_stops_the_guest),
		TEST(an_exception_finds_no_stack),
		TEST(exceptions_bring_their_error_codes),
		TEST(exceptions_without_a_handler_stop_the_guest),
		TEST(the_fpu_is_taken_at_its_first_use),
		TEST(instruction_bytes_end_with_the_memory),
	};

	return RUN_TESTS(tests);
}
