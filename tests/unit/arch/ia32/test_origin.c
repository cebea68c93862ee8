/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who was interrupted: every vector in every state, as the CPU pushes it, with an error code too
 * few, and from virtual-8086 mode. The frames are built here word by word, as the manual says.
 */
#include "unit.h"

#include <setjmp.h>
#include <string.h>

#include "core/log.h"
#include "arch/ia32/entry.h"
#include "arch/ia32/origin.h"
#include "fake/vmm.h"

#define STACK_WORDS 1024u
#define VMM_EIP 0xfc401234u
#define GUEST_EIP 0xc1000000u
#define MODE_EIP 0x1234u

enum state { IDLE, GUEST_KERNEL, GUEST_PROCESS, AT_WORK, UPCALL, STATES };
enum outcome { LEFT, PANICKED };

static jmp_buf ended;
static struct frame *left_by;
static u32 stack[STACK_WORDS], idle_stack[STACK_WORDS];
static u32 handled[4], handled_count;
void (*trap_handlers[VECTORS])(struct frame *frame);

/* Own stand-ins: entry_leave() and panic() do not return. */
void panic(const char *pattern, ...)
{
	(void)pattern;
	longjmp(ended, 1 + PANICKED);
}

void entry_leave(struct frame *by)
{
	left_by = by;
	longjmp(ended, 1 + LEFT);
}

void processor_sleep(void)
{
	fail();
}

static void handler(struct frame *of)
{
	assert_ptr_equal(of, vcpu.frame);
	handled[handled_count++] = of->vector;
}

static u32 *push(u32 *at, u32 value)
{
	*--at = value;
	return at;
}

static bool has_error_code(u32 vector)
{
	return vector == 8 || (vector >= 10 && vector <= 14) || vector == 17;
}

/* What the stub and entry.S push below the CPU's words. */
static struct frame *enter(u32 *at, u32 vector, bool pushed_error, bool short_of_one)
{
	if (pushed_error && !short_of_one)
		at = push(at, 0xe44);
	else if (!has_error_code(vector))
		at = push(at, 0);
	at = push(at, vector);
	for (u32 i = 12; i-- > 0;)
		at = push(at, 0x4e600 + i); /* DS to EDI */
	return (struct frame *)at;
}

static u32 *push_vmm(u32 *at, u32 flags)
{
	return push(push(push(at, EFLAGS_FIXED | flags), SELECTOR_VMM_CODE), VMM_EIP);
}

static u32 *push_guest(u32 *at, u32 cs)
{
	at = push(push(at, 0x68 | (cs & 3)), 0xc2000000);
	return push(push(push(at, EFLAGS_FIXED | EFLAGS_IF), cs), GUEST_EIP);
}

/* The state that the CPU is in: who runs, and from where on the CPU pushes. */
static struct frame *interrupt(enum state state, u32 vector, bool short_of_one)
{
	u32 *top = &stack[STACK_WORDS];
	struct frame *guests = (struct frame *)top - 1;
	bool error = has_error_code(vector);

	core.current = state == IDLE ? &idle_vcpu : &vcpu;
	vcpu.frame = guests;
	if (state == IDLE)
		return enter(push_vmm(&idle_stack[STACK_WORDS - 9], EFLAGS_IF), vector, error,
			     short_of_one);
	if (state == AT_WORK)
		return enter(push_vmm((u32 *)guests - 7, EFLAGS_IF), vector, error, short_of_one);
	if (state == UPCALL) {
		/* The next stack, above which the first's work is suspended. */
		top = &stack[STACK_WORDS / 2];
		vcpu.frame = (struct frame *)top - 1;
	}
	return enter(push_guest(top, state == GUEST_PROCESS ? 0x73 : 0x61), vector, error,
		     short_of_one);
}

static enum outcome mend(struct frame *of)
{
	int how = setjmp(ended);

	if (how == 0)
		origin_mend(of);
	return (enum outcome)(how - 1);
}

static int start(void **state)
{
	(void)state;
	vmm_reset();
	memset(&idle_vcpu, 0, sizeof(idle_vcpu));
	memset(stack, 0xa5, sizeof(stack));
	memset(idle_stack, 0xa5, sizeof(idle_stack));
	handled_count = 0;
	left_by = NULL;
	for (u32 i = 0; i < VECTORS; i++)
		trap_handlers[i] = handler;
	return 0;
}

static void every_whole_frame_is_told(void **unused)
{
	for (enum state state = IDLE; state < STATES; state++)
		for (u32 vector = 0; vector < 256; vector++) {
			struct frame *of;
			bool own = state == IDLE || state == AT_WORK;

			start(unused);
			of = interrupt(state, vector, false);
			assert_int_equal(origin_is_guest(core.current, of), !own);
			assert_int_equal(origin_is_vmm(of), own);
			assert_int_equal(of->vector, vector);
			assert_int_equal(of->eip, own ? VMM_EIP : GUEST_EIP);
		}
}

/* Only a guest that has the interrupt controllers can have done that; it is stopped. */
static void a_word_too_few_stops_who_has_the_controllers(void **unused)
{
	for (enum state state = IDLE; state < STATES; state++)
		for (u32 vector = 0; vector < 256; vector++) {
			struct frame *of;

			start(unused);
			of = interrupt(state, vector, true);
			if (!has_error_code(vector))
				continue;
			assert_false(origin_is_guest(core.current, of));
			assert_false(origin_is_vmm(of));
			core.direct = &vcpu;
			assert_int_equal(mend(of), LEFT);
			assert_int_equal(asked.stops, 1);
			assert_non_null(strstr(asked.stop_reason, "vector"));
			/* The idle vCPU goes on where it was; of a guest the frame is whole. */
			assert_int_equal(left_by->eip, state == IDLE	? VMM_EIP
						       : state == AT_WORK ? 0xa5a5a5a5
									  : GUEST_EIP);
			assert_int_equal(origin_is_guest(core.current, left_by), state != IDLE);
			if (state == AT_WORK)
				continue; /* its frame is that of the entry before */
			assert_int_equal(left_by->vector, vector);
			assert_int_equal(left_by->error, 0);
			assert_int_equal(left_by->edi, 0x4e600);
			assert_int_equal(left_by->ds, 0x4e60b);
		}
}

static void a_word_too_few_without_such_a_guest_is_a_panic(void **unused)
{
	for (enum state state = IDLE; state < STATES; state++) {
		start(unused);
		assert_int_equal(mend(interrupt(state, 13, true)), PANICKED);
		assert_int_equal(asked.stops, 0);
	}
}

/* Four words more, and CS is none: a process gets its #GP, and an interrupt is served. */
static void virtual_8086_mode_is_left(void **unused)
{
	for (u32 cs = 0; cs < 0x200; cs++)
		for (u32 vector = 0; vector < 256; vector += 1 + (cs & 31)) {
			/* QEMU lets a process choose IF and IOPL, too. */
			u32 mode_flags = EFLAGS_FIXED | EFLAGS_VM | (cs & 3) << 12 |
					 (cs & 4 ? EFLAGS_IF : 0);
			u32 *at = &stack[STACK_WORDS];
			struct frame *of;

			start(unused);
			vcpu.frame = (struct frame *)at - 1;
			for (u32 i = 0; i < 4; i++)
				at = push(at, 0x77);
			at = push(push(at, 0x1000), 0x2000);
			at = push(push(push(at, mode_flags), cs), MODE_EIP);
			of = enter(at, vector, has_error_code(vector), false);
			assert_false(origin_is_guest(&vcpu, of));
			assert_false(origin_is_vmm(of));
			assert_int_equal(mend(of), LEFT);
			assert_ptr_equal(left_by, vcpu.frame);
			assert_int_equal(left_by->eip, MODE_EIP);
			assert_int_equal(left_by->cs, cs | 3);
			assert_int_equal(left_by->ss, 0x1003);
			assert_int_equal(left_by->esp, 0x2000);
			assert_int_equal(left_by->eflags, EFLAGS_FIXED | EFLAGS_IF);
			assert_int_equal(handled_count, vector < EXCEPTIONS ? 1 : 2);
			assert_int_equal(handled[0], VECTOR_VIRTUAL_8086);
			assert_true(vector < EXCEPTIONS || handled[1] == vector);
			assert_false(processor.interrupts);
		}
}

/* Frames that no CPU pushes: whatever lies there, nobody is called through it. */
static void what_nobody_pushed_is_a_panic(void **unused)
{
	u32 random = 1;

	for (u32 round = 0; round < 20000; round++) {
		u32 depth = 64 + random_next(&random) % 512;
		struct frame *of = (struct frame *)&stack[STACK_WORDS - depth];

		start(unused);
		for (u32 i = 0; i < STACK_WORDS; i++)
			stack[i] = random_next(&random);
		vcpu.frame = (struct frame *)&stack[STACK_WORDS] - 1;
		of->vector %= VECTORS;
		if (origin_is_vmm(of) || (u16)of->eip == SELECTOR_VMM_CODE)
			continue;
		core.direct = random_next(&random) % 2 ? &vcpu : NULL;
		assert_int_equal(mend(of), PANICKED);
		assert_int_equal(handled_count + asked.stops, 0);
	}
}

static void interrupts_by_vectors_of_exceptions_are_told(void **unused)
{
	struct frame *of;

	for (u32 vector = 0; vector < EXCEPTIONS; vector++)
		for (u32 i = 0; i < 4; i++) {
			start(unused);
			of = interrupt(IDLE, vector, false);
			of->eflags = EFLAGS_FIXED | (i & 1 ? EFLAGS_IF : 0);
			core.direct = i & 2 ? &vcpu : NULL;
			assert_int_equal(origin_is_stray_interrupt(of), i == 3);
			assert_int_equal(asked.stops, i == 3);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_whole_frame_is_told, start),
		cmocka_unit_test_setup(a_word_too_few_stops_who_has_the_controllers, start),
		cmocka_unit_test_setup(a_word_too_few_without_such_a_guest_is_a_panic, start),
		cmocka_unit_test_setup(virtual_8086_mode_is_left, start),
		cmocka_unit_test_setup(what_nobody_pushed_is_a_panic, start),
		cmocka_unit_test_setup(interrupts_by_vectors_of_exceptions_are_told, start),
	};

	return RUN_TESTS(tests);
}
