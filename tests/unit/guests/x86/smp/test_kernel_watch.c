/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How entries into the kernel of a vCPU, and its returns to processes, come to be seen: by the gate
 * of system calls, and by code segments of processes that are absent.
 *
 * Own stand-ins: inject() says what was injected.
 */
#include "unit.h"

#include <stdlib.h>

#include "arch/ia32/entry.h"
#include "arch/ia32/origin.h"
#include "arch/ia32/switch.h"
#include "core/trap_policy.h"
#include "guests/x86/inject.h"
#include "guests/x86/smp/smp.h"
#include "siblings.h"
#include "fake/vmm.h"

#define USER_CODE 14u
#define DIRECT (0x61ull << 16 | 3ull << 45 | DESCRIPTOR_PRESENT | 0xfull << 40 | 0x1234)
#define SELECTOR_OF(gate) ((u32)(gate) >> 16)

static struct segment_tables tables;
static struct smp smp;
static struct x86 x86;
static u32 answer, injected, returns;
void (*trap_handlers[VECTORS])(struct frame *frame);

void processor_sleep(void)
{
	fail();
}

void trap_set_handler(unsigned vector, void (*handler)(struct frame *frame))
{
	trap_handlers[vector] = handler;
}

struct frame *switch_frame(const struct vcpu *which)
{
	assert_ptr_equal(which, &vcpu);
	return &frame;
}

void origin_mend(struct frame *from)
{
	(void)from;
	abort();
}

bool inject(struct x86 *which, unsigned vector, u32 error)
{
	assert_ptr_equal(which, &x86);
	assert_int_equal(error, INJECT_NO_ERROR);
	injected = vector;
	return true;
}

u32 trap_policy_starts(const struct vm *which)
{
	assert_ptr_equal(which, &vm);
	return answer;
}

u32 trap_policy_enters(struct vm *which)
{
	assert_ptr_equal(which, &vm);
	return answer;
}

void trap_policy_returns(struct vm *which)
{
	assert_ptr_equal(which, &vm);
	returns++;
}

/* Returns whether the vCPU is in its kernel, if it is watched. */
static bool begin(void)
{
	const struct kernel_watch *watch = *UNITS_FIRST(kernel_watches);

	watch->begin(&vcpu);
	return watch->in_kernel(&vcpu);
}

static u64 gate(void)
{
	return tables.idt[PRIVILEGE_SYSTEM_CALL];
}

static bool process_code_is_present(void)
{
	return (tables.gdt[USER_CODE] & DESCRIPTOR_PRESENT) != 0;
}

static int start(void **state)
{
	(void)state;
	tables = (struct segment_tables){ .user_code = 1u << USER_CODE };
	tables.gdt[USER_CODE] = DESCRIPTOR_PRESENT;
	tables.idt[PRIVILEGE_SYSTEM_CALL] = DIRECT;
	smp = (struct smp){ .x86 = &x86 };
	vmm_reset();
	vcpu.tables = &tables;
	vcpu.x86 = &x86;
	x86 = (struct x86){ .vm = &vm, .vcpu = &vcpu, .smp = &smp, .siblings = true };
	frame.cs = USER_CODE * 8 | 3;
	answer = WATCH_ENTRIES;
	injected = returns = 0;
	return 0;
}

static void system_calls_pass_the_vmm(void **state)
{
	(void)state;
	assert_false(begin()); /* a process runs */
	assert_int_equal(SELECTOR_OF(gate()), SELECTOR_VMM_CODE);
	assert_int_equal(descriptor_dpl(gate()), 3);
	assert_int_equal(views_watched(&vcpu), WATCH_ENTRIES);
	trap_handlers[PRIVILEGE_SYSTEM_CALL](&frame);
	assert_int_equal(injected, PRIVILEGE_SYSTEM_CALL);
	assert_int_equal(vcpu.counters[COUNTER_entries], 1);
	frame.cs = GUEST_KERNEL_CODE;
	assert_true(begin());
	assert_int_equal(smp.system_call, DIRECT); /* still */
}

/* Behind the entry, as behind that of an exception. */
static void only_an_interruptible_vcpu_has_interrupts(void **state)
{
	const u64 trap = 1ull << 40;

	(void)state;
	begin();
	assert_false(gate() & trap);
	kernel_watch_forgets(&vcpu);
	vcpu.interruptible = true;
	begin();
	assert_true(gate() & trap);
}

/* The rest of an INT 0x80 in virtual-8086 mode. */
static void a_kernel_makes_no_system_call(void **state)
{
	(void)state;
	begin();
	frame.cs = GUEST_KERNEL_CODE;
	trap_handlers[PRIVILEGE_SYSTEM_CALL](&frame);
	assert_int_equal(injected, 0);
	frame.cs = USER_CODE * 8 | 3;
	vcpu.state = VCPU_OFF;
	trap_handlers[PRIVILEGE_SYSTEM_CALL](&frame);
	assert_int_equal(injected, 0);
}

static void what_cannot_be_watched_is_left_alone(void **state)
{
	(void)state;
	frame.cs = GUEST_KERNEL_CODE;
	vcpu.working = 1;
	assert_false(begin());
	assert_int_equal(gate(), DIRECT);
	vcpu.working = 0;
	tables.idt[PRIVILEGE_SYSTEM_CALL] = 0; /* Linux has no IDT yet */
	assert_false(begin());
	assert_int_equal(gate(), 0);
}

static void a_return_is_seen_by_its_segment(void **state)
{
	(void)state;
	begin();
	kernel_is_entered(&x86);
	assert_true(process_code_is_present());
	answer |= WATCH_RETURN;
	kernel_is_entered(&x86);
	assert_false(process_code_is_present());
	kernel_is_left(&x86);
	assert_true(process_code_is_present());
	assert_int_equal(returns, 1);
	assert_int_equal(views_watched(&vcpu), WATCH_ENTRIES);
	kernel_is_left(&x86); /* as with an interrupt that had to wait */
	assert_int_equal(returns, 1);
}

static void an_interrupt_that_waits_comes_first(void **state)
{
	(void)state;
	begin();
	answer |= WATCH_RETURN;
	x86.armed = x86.interrupt_waits = true;
	kernel_is_entered(&x86);
	kernel_is_left(&x86);
	assert_int_equal(returns, 0);
	assert_false(process_code_is_present());
	x86.armed = false;
	assert_false(returns_are_stopped(&x86));
}

static void the_gate_comes_back(void **state)
{
	(void)state;
	begin();
	answer = 0;
	kernel_is_entered(&x86);
	assert_int_equal(gate(), DIRECT);
	assert_int_equal(views_watched(&vcpu), 0);
}

static void gates_that_are_made_anew_are_watched(void **state)
{
	(void)state;
	begin();
	tables.idt[PRIVILEGE_SYSTEM_CALL] = DIRECT + 1;
	gates_are_made(&x86);
	assert_int_equal(SELECTOR_OF(gate()), SELECTOR_VMM_CODE);
	assert_int_equal(smp.system_call, DIRECT + 1);
	tables.idt[PRIVILEGE_SYSTEM_CALL] = 7; /* Linux has no such gate any more */
	gates_are_made(&x86);
	answer = 0;
	kernel_is_entered(&x86);
	assert_int_equal(gate(), 7);
	tables.idt[PRIVILEGE_SYSTEM_CALL] = DIRECT;
	gates_are_made(&x86); /* nothing is watched */
	assert_int_equal(gate(), DIRECT);
}

static void a_life_begins_with_its_own_gates(void **state)
{
	(void)state;
	begin();
	answer = 0;
	kernel_watch_starts(&x86);
	assert_int_equal(views_watched(&vcpu), 0);
	assert_int_equal(smp.system_call, 0);
	answer = WATCH_ENTRIES | WATCH_RETURN;
	kernel_watch_starts(&x86);
	assert_true(returns_are_stopped(&x86));
}

/* The gate that is taken along is the direct one, and the return of a kernel is watched. */
static void it_is_watched_where_it_comes_to(void **state)
{
	struct view_luggage luggage;

	(void)state;
	begin();
	kernel_watch_forgets(&vcpu);
	assert_int_equal(gate(), DIRECT);
	views_pack(&vcpu, &luggage);
	assert_int_equal(luggage.watched, WATCH_ENTRIES);
	frame.cs = GUEST_KERNEL_CODE;
	views_pack(&vcpu, &luggage);
	smp.system_call = 0; /* that seat knows nothing */
	vcpu.watched = 0;
	views_unpack(&x86, &luggage);
	assert_int_equal(views_watched(&vcpu), WATCH_ENTRIES | WATCH_RETURN);
	assert_false(process_code_is_present());
	gates_are_made(&x86);
	assert_int_equal(SELECTOR_OF(gate()), SELECTOR_VMM_CODE);
	assert_int_equal(smp.system_call, DIRECT);
	vcpu.watched = 0;
	views_pack(&vcpu, &luggage);
	assert_int_equal(luggage.watched, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(system_calls_pass_the_vmm),
		TEST(only_an_interruptible_vcpu_has_interrupts),
		TEST(a_kernel_makes_no_system_call),
		TEST(what_cannot_be_watched_is_left_alone),
		TEST(a_return_is_seen_by_its_segment),
		TEST(an_interrupt_that_waits_comes_first),
		TEST(the_gate_comes_back),
		TEST(gates_that_are_made_anew_are_watched),
		TEST(a_life_begins_with_its_own_gates),
		TEST(it_is_watched_where_it_comes_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
