/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RTOS guests: the timer's phase and its overruns, every hypercall with every bad
 * argument, the delivery of interrupts, and the window between the store to the
 * flag and IRET.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <sys/mman.h>

#include "core/guest_rtos.h"
#include "core/hypercall.h"
#include "core/interrupt.h"
#include "core/layout.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/time.h"
#include "ia32/fpu.h"
#include "ia32/segment.h"
#include "ia32/switch.h"
#include "fake/hand_on.h"
#include "fake/vmm.h"

#define MEMORY 0x10000u
#define CHANNELS 0x3000u
#define SHARED (MEMORY - GANDALF_PAGE_SIZE)
#define TABLE 0x2000u
#define STACK 0x8000u
#define CODE 0x1000u
#define HANDLER(n) (0x4000u + 16 * (n))

u32 time_tsc_khz = 1000000;
struct console_mux consoles;
static struct segment_tables real_tables;
static struct console console;
static struct deadline *timer;
static unsigned room, fpu_taken, alive;
static char written[1024], typed[1024];
static u32 written_count, typed_first, typed_count;
static u8 *memory;

void processor_sleep(void)
{
	fail();
}

void deadline_init(struct deadline *deadline, u64 (*expire)(struct deadline *))
{
	deadline->time = TIME_NEVER;
	deadline->expire = expire;
	timer = deadline;
}

void deadline_set(struct deadline *deadline, u64 time)
{
	deadline->time = time;
}

void log_pump(void)
{
}

bool console_put(struct console_mux *mux, struct console *which, char character)
{
	assert_ptr_equal(mux, &consoles);
	assert_ptr_equal(which, &console);
	if (room == 0)
		return false;
	room--;
	written[written_count++] = character;
	return true;
}

int console_get(struct console *which)
{
	(void)which;
	return typed_first < typed_count ? typed[typed_first++] : -1;
}

bool console_has_input(const struct console *which)
{
	(void)which;
	return typed_first < typed_count;
}

void vm_show_life(struct vm *which)
{
	assert_ptr_equal(which, &vm);
	alive++;
}

u32 hypercall_doorbell(struct vcpu *which)
{
	assert_ptr_equal(which, &vcpu);
	return (u32)GANDALF_ERROR_ARGUMENT;
}

u32 channel_map(const struct vm *which)
{
	assert_ptr_equal(which, &vm);
	return CHANNELS;
}

u32 hypercall_control(struct vcpu *which)
{
	assert_ptr_equal(which, &vcpu);
	return (u32)GANDALF_ERROR_PERMISSION;
}

u32 memory_map_rtos(u32 address, u32 size)
{
	assert_int_equal(address, guest.memory_base);
	assert_int_equal(size, guest.memory_size);
	return LAYOUT_RTOS;
}

void fpu_take(struct vcpu *which)
{
	(void)which;
	fpu_taken++;
}

struct frame *switch_prepare(struct vcpu *which)
{
	memset(which->frame, 0, sizeof(*which->frame));
	return which->frame;
}

/* A guest that has started and registered a handler for every vector. */

static u32 *word(u32 address)
{
	return (u32 *)(memory + address);
}

static struct gandalf_shared *page(void)
{
	return (struct gandalf_shared *)(memory + SHARED);
}

static u32 call(u32 number, u32 ebx, u32 ecx)
{
	frame.vector = GANDALF_HYPERCALL_VECTOR;
	frame.eax = number;
	frame.ebx = ebx;
	frame.ecx = ecx;
	hand_on(&vcpu, &frame);
	return frame.eax;
}

static int start(void **state)
{
	(void)state;
	vmm_reset();
	if (memory == NULL) {
		/* Pages before and behind it are absent. */
		memory = mmap((void *)(uintptr_t)LAYOUT_RTOS, MEMORY, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		assert_int_equal((uintptr_t)memory, LAYOUT_RTOS);
	}
	memset(memory, 0, MEMORY);
	memset(&real_tables, 0, sizeof(real_tables));
	room = fpu_taken = alive = 0;
	written_count = typed_first = typed_count = 0;
	core.fpu_owner = &vcpu;
	guest.memory_base = 0x123000;
	guest.memory_size = MEMORY;
	guest.entry = CODE;
	guest.interrupts = 0x8080;
	guest.port_range_count = 1;
	guest.port_ranges[0] = (struct gandalf_port_range){ 0x300, 0x301 };
	vm.console = &console;
	vcpu.tables = &real_tables;
	assert_true(rtos_create(&vm));
	vcpu.operations->start(&vcpu);
	for (u32 i = 0; i < GANDALF_VECTORS; i++)
		*word(TABLE + i * 4) = HANDLER(i);
	assert_int_equal(call(GANDALF_HYPERCALL_HANDLERS, TABLE, 0), 0);
	frame.esp = STACK;
	frame.eip = CODE;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	vcpu.operations->stop(&vcpu);
	return 0;
}

static void deliver(void)
{
	vcpu.operations->deliver(&vcpu);
}

static void enable(void)
{
	page()->interrupt_flag = GANDALF_INTERRUPT_FLAG;
}

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
		assert_int_equal(descriptor_dpl(raw), 1);
	}
	/* A restart forgets the handlers. */
	page()->interrupt_flag = GANDALF_INTERRUPT_FLAG;
	vcpu.operations->interrupt(&vcpu, 7);
	deliver();
	assert_int_equal(vcpu.counters[COUNTER_dropped_interrupts], 1);
	assert_int_equal(frame.eip, CODE);
}

static void a_sign_of_life_and_an_attempt_to_manage_are_passed_on(void **state)
{
	(void)state;
	assert_int_equal(call(GANDALF_HYPERCALL_ALIVE, 0, 0), 0);
	assert_int_equal(alive, 1);
	for (u32 number = GANDALF_HYPERCALL_READ; number <= GANDALF_HYPERCALL_ACT; number++)
		assert_int_equal(call(number, 0, 0), (u32)GANDALF_ERROR_PERMISSION);
}

/* The timer */

static void expire_at(u64 now)
{
	processor.tsc = now;
	while (timer->time <= now)
		timer->time = timer->expire(timer);
}

static void the_timer_keeps_its_phase(void **state)
{
	u32 random = 1;

	(void)state;
	for (u32 khz = 999983; khz <= 3000017; khz += 666678) {
		start(NULL);
		time_tsc_khz = khz;
		processor.tsc = 777;
		assert_int_equal(call(GANDALF_HYPERCALL_TIMER, 1000, 0), 0);
		for (u64 number = 1; number <= 3000; number++) {
			u64 due = 777 + number * 1000 * khz / 1000;

			assert_true(timer->time == due);
			/* Served late, but within the period. */
			expire_at(due + random_next(&random) % (khz / 2));
			enable();
			frame.esp = STACK;
			deliver();
			assert_int_equal(frame.eip, HANDLER(GANDALF_VECTOR_TIMER));
			assert_true(page()->timer_expiry == due);
			assert_int_equal(page()->timer_overruns, 0);
		}
	}
	time_tsc_khz = 1000000;
}

/* Whatever is served when: expiries and overruns add up, and the phase stays. */
static void every_expiry_is_counted(void **state)
{
	u32 random = 2;
	u64 now = 0, taken = 0, overruns = 0;

	(void)state;
	assert_int_equal(call(GANDALF_HYPERCALL_TIMER, 100, 0), 0);
	for (unsigned i = 0; i < 5000; i++) {
		u64 expected;

		now += random_next(&random) % 350000;
		expire_at(now);
		assert_true(timer->time > now && timer->time <= now + 100000);
		assert_true(timer->time % 100000 == 0);
		if (random_next(&random) % 3 != 0 || (vcpu.pending >> (GANDALF_VECTOR_TIMER - GANDALF_VECTOR_IRQ)) == 0)
			continue;
		enable();
		frame.esp = STACK;
		deliver();
		taken++;
		overruns = page()->timer_overruns;
		expected = now / 100000;
		assert_true(taken + overruns == expected);
		assert_true(page()->timer_expiry <= now && page()->timer_expiry % 100000 == 0);
	}
	assert_true(taken > 500 && overruns > 500);
	assert_int_equal(vcpu.counters[COUNTER_timer_overruns] >= overruns, 1);
}

static void periods_are_bounded(void **state)
{
	static const u32 bad[] = { 1, GANDALF_TIMER_MINIMUM - 1, 1000001, 0x80000000, 0xffffffff };
	static const u32 good[] = { GANDALF_TIMER_MINIMUM, 1000, 1000000 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(good); i++) {
		processor.tsc = 5000;
		assert_int_equal(call(GANDALF_HYPERCALL_TIMER, good[i], 0), 0);
		assert_true(timer->time == 5000 + good[i] * 1000ull);
		for (unsigned j = 0; j < ARRAY_SIZE(bad); j++)
			assert_int_equal(call(GANDALF_HYPERCALL_TIMER, bad[j], 0),
					 (u32)GANDALF_ERROR_ARGUMENT);
		/* A refused period leaves the timer as it was. */
		assert_true(timer->time == 5000 + good[i] * 1000ull);
	}
	expire_at(timer->time);
	assert_int_equal(call(GANDALF_HYPERCALL_TIMER, 0, 0), 0);
	assert_true(timer->time == TIME_NEVER);
	assert_true(vcpu.pending == 0);
	assert_int_equal(stops, 0);
}

static void a_stopped_guest_has_no_timer(void **state)
{
	(void)state;
	call(GANDALF_HYPERCALL_TIMER, 1000, 0);
	vcpu.operations->stop(&vcpu);
	assert_true(timer->time == TIME_NEVER);
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
		assert_int_equal(stops, 1);
		assert_int_equal(vcpu.state, VCPU_OFF);
		assert_int_equal(strncmp(stop_reason, "unknown hypercall", 17), 0);
	}
	start(NULL);
	assert_int_equal(call(GANDALF_HYPERCALL_NULL, 1, 2), 0);
	assert_int_equal(stops, 0);
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
		assert_int_equal(stops, 1);
		assert_non_null(strstr(stop_reason, "bad address"));
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
	assert_int_equal(stops, 0);
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
	assert_int_equal(stops, 0);
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
}

static void a_ring_waits_for_who_can_hear_it(void **state)
{
	(void)state;
	vm.state = GANDALF_STATE_RUNNING;
	assert_int_equal(rtos_ring(&vm), 0);
	assert_int_equal(rtos_ring(&vm), 0);
	assert_int_equal(vcpu.pending, 1u << (GANDALF_VECTOR_DOORBELL - GANDALF_VECTOR_IRQ));
	assert_true(vcpu.attention);
	vcpu.pending = vcpu.attention = 0;
	vm.state = GANDALF_STATE_STOPPED;
	assert_int_equal(rtos_ring(&vm), (u32)GANDALF_ERROR_ARGUMENT);
	vm.state = GANDALF_STATE_RUNNING;
	memset(memory + TABLE, 0, 256);
	call(GANDALF_HYPERCALL_HANDLERS, TABLE, 0);
	assert_int_equal(rtos_ring(&vm), (u32)GANDALF_ERROR_ARGUMENT);
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
	expire_at(timer->time);
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
	assert_int_equal(stops, 0);
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
		assert_int_equal(stops, 1);
		assert_string_equal(stop_reason, "its stack is outside its memory");
	}
	start(NULL);
	frame.esp = 12;
	enable();
	vcpu.operations->interrupt(&vcpu, 7);
	deliver();
	assert_int_equal(stops, 0);
	assert_int_equal(frame.esp, 0);
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
	}
}

static void exceptions_without_a_handler_stop_the_guest(void **state)
{
	(void)state;
	memset(memory + TABLE, 0, 256);
	call(GANDALF_HYPERCALL_HANDLERS, TABLE, 0);
	frame.vector = EXCEPTION_GP;
	hand_on(&vcpu, &frame);
	assert_string_equal(stop_reason, "#13 without a handler");
	start(NULL);
	frame.vector = VECTOR_RETURN_FAULT;
	hand_on(&vcpu, &frame);
	assert_int_equal(stops, 1);
}

static void the_fpu_is_taken_at_its_first_use(void **state)
{
	(void)state;
	core.fpu_owner = NULL;
	frame.vector = EXCEPTION_NM;
	hand_on(&vcpu, &frame);
	assert_int_equal(fpu_taken, 1);
	assert_int_equal(frame.eip, CODE);
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
		TEST(a_sign_of_life_and_an_attempt_to_manage_are_passed_on),
		TEST(the_timer_keeps_its_phase),
		TEST(every_expiry_is_counted),
		TEST(periods_are_bounded),
		TEST(a_stopped_guest_has_no_timer),
		TEST(unknown_numbers_stop_the_guest),
		TEST(addresses_outside_stop_the_guest),
		TEST(the_last_bytes_of_memory_are_the_guests),
		TEST(chunks_are_bounded),
		TEST(the_console_takes_what_it_has_room_for),
		TEST(the_flag_is_one_bit),
		TEST(halt_sleeps_only_when_nothing_waits),
		TEST(a_ring_waits_for_who_can_hear_it),
		TEST(a_frame_is_what_the_processor_would_push),
		TEST(interrupts_wait_for_the_flag_in_order),
		TEST(the_window_before_iret_does_not_grow_the_stack),
		TEST(other_instructions_and_frames_are_interrupted_as_they_are),
		TEST(a_stack_outside_stops_the_guest),
		TEST(exceptions_bring_their_error_codes),
		TEST(exceptions_without_a_handler_stop_the_guest),
		TEST(the_fpu_is_taken_at_its_first_use),
		TEST(instruction_bytes_end_with_the_memory),
	};

	return RUN_TESTS(tests);
}
