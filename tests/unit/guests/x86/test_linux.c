/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of a Linux on a shared CPU, and interrupts for it: what of it the VMM serves
 * with interrupts enabled.
 */
#include "unit.h"

#include <string.h>

#include "fake/asked.h"

#include "fake/kind.h"
#include "guests/x86/board.h"
#include "guests/x86/linux.h"
#include "core/hypercall.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "arch/ia32/memory.h"
#include "core/pool.h"
#include "guests/x86/x86.h"
#include "core/trace.h"
#include "core/work.h"
#include "guests/x86/emulate.h"
#include "arch/ia32/fpu.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/inject.h"
#include "arch/ia32/switch.h"
#include "arch/ia32/masked_sections.h"
#include "fake/hand_on.h"
#include "fake/policy.h"
/* Behind headers with parameters of its variables' names. */
#include "fake/one_vcpu.h"

#define FRAMES 8u
#define GDT 0xc12b4000u

struct vm vms[PLACES_MAXIMUM];
u32 time_tsc_khz = 1000000;

static u32 frames[FRAMES][1024];
static u32 frames_taken;
static enum shadow_result fill;
static unsigned stops, arrives_in_inject;
static bool clears_flag, quick;

/* What was called, in this order, and IF there. */
static struct {
	const char *name;
	bool interrupts;
} calls[64];
static unsigned call_count;

static void called(const char *name)
{
	assert_true(call_count < ARRAY_SIZE(calls));
	calls[call_count].name = name;
	calls[call_count++].interrupts = processor.interrupts;
}

/*
 * Own stand-ins: these are written down in their order, by called(), or are compared with what the
 * test has made: board_create(), board_reset(), board_settle(), direct_begin(), direct_end(),
 * fpu_take(), guest_read(), inject(), inject_general_protection(), inject_page_fault(),
 * log_line(), pool_allocate(), shadow_flush(), shadow_protect(), switch_prepare(), vm_show_life(),
 * vm_stop().
 */
void log_line(const char *pattern, ...)
{
	(void)pattern;
	fail();
}

/* As the real one does it. */
void vm_stop(struct vm *which, const char *pattern, ...)
{
	(void)which;
	(void)pattern;
	work_mask(return_to_guest);
	called("stop");
	stops++;
}

void vm_show_life(struct vm *which)
{
	(void)which;
	called("alive");
}

u32 pool_allocate(void)
{
	assert_true(frames_taken < FRAMES);
	return ++frames_taken * PAGE_SIZE;
}

/* The first frame's number is PAGE_SIZE. */
u32 pool_distance;

void segment_set_guest(struct vcpu *which, unsigned index, u64 descriptor)
{
	(void)which;
	(void)index;
	(void)descriptor;
}

u64 segment_descriptor(u32 base, u32 limit, u32 type, bool big)
{
	return base + limit + type + big;
}

void segment_allow_ports(struct vcpu *which, u16 first, u16 last)
{
	(void)which;
	(void)first;
	(void)last;
}

struct frame *switch_prepare(struct vcpu *which)
{
	assert_ptr_equal(which, &vcpu);
	return &frame;
}

static struct vcpu *begins_direct;

void direct_begin(struct vcpu *which)
{
	assert_non_null(which);
	assert_ptr_equal(which, begins_direct);
	begins_direct = NULL;
}

void direct_end(void)
{
	fail();
}

static struct board board;

void board_create(struct x86 *x86)
{
	x86->board = &board;
	board.x86 = x86;
}

void board_reset(struct board *which)
{
	assert_ptr_equal(which, &board);
}

/* An interrupt comes of what was due, or none, or the guest has reset itself by that. */
static bool settle_interrupts, settle_ends;

void board_settle(struct x86 *x86)
{
	assert_false(processor.interrupts);
	x86->due = 0;
	x86->interrupt_waits |= settle_interrupts;
	if (settle_ends)
		x86->vcpu->state = VCPU_OFF;
}

bool shadow_fill_for_vmm(struct vcpu *which, u32 address, u32 error)
{
	assert_int_equal(error, 0);
	assert_non_null(which);
	return address == 0;
}

/* How often the guest's work has been left for its own interrupt. */
static unsigned upcalls;

void upcall(struct frame *vmm)
{
	assert_non_null(vmm);
	upcalls++;
}

void x86_set_descriptor(struct x86 *x86, u32 index, u64 descriptor)
{
	(void)x86;
	(void)index;
	(void)descriptor;
}

bool shadow_create(struct x86 *x86)
{
	return x86 != NULL;
}

void shadow_reset(struct x86 *x86)
{
	assert_non_null(x86);
}

void shadow_destroy(struct vcpu *which)
{
	assert_non_null(which);
}

void shadow_protect(struct x86 *x86, u32 guest_frame)
{
	(void)x86;
	(void)guest_frame;
	called("protect");
}

void shadow_flush(struct x86 *x86, u32 directory, u32 first, u32 end)
{
	(void)x86;
	(void)directory;
	(void)first;
	(void)end;
	called("flush");
}

enum shadow_result shadow_fill(struct x86 *x86, u32 linear, u32 *error)
{
	(void)x86;
	(void)error;
	assert_true(linear == 0x08048000 || linear == GDT + 0x34);
	called("fill");
	return fill;
}

void emulate_general_protection(struct vcpu *which, struct frame *at)
{
	assert_ptr_equal(which, &vcpu);
	assert_ptr_equal(at, &frame);
	called("emulate");
}

bool emulate_blocked_return(struct x86 *x86)
{
	(void)x86;
	called("blocked return");
	return false;
}

bool upcall_create(struct vcpu *which)
{
	(void)which;
	return true;
}

void upcall_reset(struct x86 *x86)
{
	(void)x86;
}

void upcall_learn(struct x86 *x86, u32 vector)
{
	(void)x86;
	(void)vector;
	called("upcall learn");
}

u32 apic_base = 0xfee00900;

void emulate_store(struct x86 *x86, u32 linear, bool to_apic)
{
	(void)x86;
	(void)linear;
	called(to_apic ? "apic store" : "gdt store");
}

bool emulate_gdt_store(struct x86 *x86, u32 linear)
{
	assert_int_equal(linear, GDT + 0x34);
	assert_non_null(x86);
	called("quick store");
	return quick;
}

bool emulate_alias_store(struct x86 *x86)
{
	(void)x86;
	called("alias store");
	return true;
}

bool inject(struct x86 *x86, unsigned vector, u32 error)
{
	(void)vector;
	(void)error;
	called("inject");
	if (arrives_in_inject != 0) {
		arrives_in_inject--;
		x86->interrupt_waits = true;
	}
	if (clears_flag) {
		frame.cs = 0x61;
		linux_set_interrupts(x86, false);
	}
	return vcpu.state != VCPU_OFF;
}

void inject_page_fault(struct x86 *x86, u32 linear, u32 error)
{
	x86->vcpu->shared->cr2 = linear;
	inject_last(x86, EXCEPTION_PF, error);
}

void inject_general_protection(struct x86 *which, u32 error)
{
	(void)which;
	assert_int_equal(error, 0);
	called("protection");
}

void fpu_take(struct vcpu *which)
{
	(void)which;
	called("fpu");
}

bool guest_read(u32 linear, void *to, u32 size)
{
	(void)linear;
	memset(to, 0, size);
	called("read");
	return true;
}

bool guest_write(u32 linear, const void *from, u32 size)
{
	(void)linear;
	(void)from;
	(void)size;
	called("write");
	return true;
}

u32 guest_fetch(struct vcpu *which, u8 *to, u32 size)
{
	assert_ptr_equal(which, core.current);
	memset(to, 0x90, size);
	return size;
}

void processor_sleep(void)
{
	fail();
}

static void guest_become(u32 number)
{
	guest.kind = number;
	vm.kind = kind_linked(number);
	frames_taken = 0;
	hypercalls_give(&vcpu);
	assert_true(vm.kind->create(&vm));
}

static int start(void **state)
{
	(void)state;
	one_vcpu_reset();
	pool_distance = (u32)(uintptr_t)frames - PAGE_SIZE;
	memset(frames, 0, sizeof(frames));
	frames_taken = call_count = stops = arrives_in_inject = 0;
	core.fpu_owner = &vcpu;
	clears_flag = false;
	fill = SHADOW_FILLED;
	core.pauses = core.interruptible = true;
	guest_become(GANDALF_KIND_LINUX_SHARED);
	return 0;
}

static void enter_with(u32 vector, u32 ring, u32 error, u32 address)
{
	call_count = 0;
	processor.interrupts = false;
	/* An RTOS's page fault may have come in between. */
	vcpu.fault_address = address;
	processor.cr2 = 0x1234;
	frame.vector = vector;
	frame.error = error;
	frame.cs = ring == 3 ? 0x73 : 0x61;
	work_unmask(&vcpu);
	hand_on(&vcpu, &frame);
	work_mask(return_to_guest);
}

/* An exception in ring 1 or 3. */
static void enter(u32 vector, u32 ring)
{
	enter_with(vector, ring, 0, 0x08048000);
}

static void assert_call(unsigned index, const char *name, bool interrupts)
{
	assert_true(index < call_count);
	assert_string_equal(calls[index].name, name);
	assert_int_equal(calls[index].interrupts, interrupts);
}

static void only_call(const char *name, bool interrupts)
{
	assert_int_equal(call_count, 1);
	assert_call(0, name, interrupts);
}

static void page_faults_are_served_with_interrupts_enabled(void **state)
{
	(void)state;
	enter(EXCEPTION_PF, 3);
	only_call("fill", true);
	fill = SHADOW_CHANGED;
	enter(EXCEPTION_PF, 3);
	only_call("fill", true);
	fill = SHADOW_FAULT;
	enter(EXCEPTION_PF, 3);
	assert_int_equal(call_count, 2);
	assert_call(1, "inject", true);
	fill = SHADOW_PROTECTED;
	enter(EXCEPTION_PF, 1);
	assert_call(1, "gdt store", true);
	fill = SHADOW_APIC;
	enter(EXCEPTION_PF, 1);
	assert_call(1, "apic store", true);
	for (unsigned i = 0; i < 2; i++) {
		fill = i ? SHADOW_OUTSIDE : SHADOW_FULL;
		enter(EXCEPTION_PF, 1);
		assert_call(1, "stop", false);
	}
	assert_int_equal(stops, 2);
}

/* The error code names the gate's segment; its lowest bit may say that an interrupt was the
 * cause. */
static void an_interrupt_that_cannot_go_to_ring_1_is_an_upcall(void **state)
{
	static const struct { u32 vector, error; bool is; } cases[] = {
		{EXCEPTION_GP, GUEST_KERNEL_CODE, true},
		{EXCEPTION_GP, GUEST_KERNEL_CODE & ~1u, true},
		{EXCEPTION_GP, 0, false}, {EXCEPTION_GP, GUEST_KERNEL_CODE + 8, false},
		{EXCEPTION_NP, GUEST_KERNEL_CODE, false}, {EXCEPTION_PF, 0, false},
	};

	(void)state;
	guest_become(GANDALF_KIND_LINUX_DEDICATED);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct frame at = {.vector = cases[i].vector, .error = cases[i].error};

		upcalls = 0;
		assert_int_equal(vcpu.operations->upcall(&at), cases[i].is);
		assert_int_equal(upcalls, cases[i].is);
	}
}

/* Where the page tables need not be asked whether the kernel may write, they are not. */
static void stores_to_the_gdt_take_the_short_way(void **state)
{
	static const u32 errors[] = {0, PF_P, PF_W, PF_P | PF_W | PF_U, PF_W | PF_U};

	(void)state;
	fill = SHADOW_PROTECTED;
	quick = true;
	enter_with(EXCEPTION_PF, 1, PF_P | PF_W, GDT + 0x34);
	assert_call(1, "gdt store", true);
	vcpu.x86->shadow.protected_page = GDT;
	enter_with(EXCEPTION_PF, 1, PF_P | PF_W, GDT + 0x34);
	only_call("quick store", true);
	for (unsigned i = 0; i < ARRAY_SIZE(errors); i++) {
		enter_with(EXCEPTION_PF, errors[i] & PF_U ? 3 : 1, errors[i], GDT + 0x34);
		assert_call(0, "fill", true);
	}
	/* One that it does not know. */
	quick = false;
	enter_with(EXCEPTION_PF, 1, PF_P | PF_W, GDT + 0x34);
	assert_int_equal(call_count, 3);
	assert_call(0, "quick store", true);
	assert_call(1, "fill", true);
	assert_call(2, "gdt store", true);
	vcpu.x86->shadow.protected_page = GDT + PAGE_SIZE;
	enter_with(EXCEPTION_PF, 1, PF_P | PF_W, GDT + 0x34);
	assert_call(0, "fill", true);
}

static void hypercalls_and_emulation_run_with_interrupts_enabled(void **state)
{
	(void)state;
	frame.eax = GANDALF_HYPERCALL_FLUSH;
	enter(GANDALF_HYPERCALL_VECTOR, 1);
	only_call("flush", true);
	frame.eax = GANDALF_HYPERCALL_ALIVE;
	enter(GANDALF_HYPERCALL_VECTOR, 1);
	only_call("alive", false);
	frame.eax = GANDALF_HYPERCALL_LOAD_TLS;
	enter(GANDALF_HYPERCALL_VECTOR, 1);
	assert_int_equal(call_count, 3);
	assert_call(0, "protect", true);
	assert_call(1, "read", true);
	assert_call(2, "write", true);
	frame.eax = 12345;
	enter(GANDALF_HYPERCALL_VECTOR, 1);
	only_call("stop", false);
	enter(EXCEPTION_GP, 1);
	only_call("emulate", true);
	enter(EXCEPTION_GP, 3);
	only_call("emulate", true);
	enter(EXCEPTION_NP, 1);
	assert_call(0, "blocked return", true);
	enter(EXCEPTION_DF, 1);
	only_call("stop", false);
	/* What a process has in its registers is nothing that its kernel goes down for. */
	enter(VECTOR_RETURN_FAULT, 3);
	only_call("protection", true);
	enter(VECTOR_RETURN_FAULT, 1);
	only_call("stop", false);
}

static void the_fpu_changes_hands_with_interrupts_disabled(void **state)
{
	(void)state;
	core.fpu_owner = NULL;
	enter(EXCEPTION_NM, 3);
	only_call("fpu", false);
	core.fpu_owner = &vcpu;
	vcpu.x86->cr0 |= CR0_TS;
	enter(EXCEPTION_NM, 3);
	only_call("inject", true);
}

/* One that arrives in the delivery of another is seen behind it. */
static void interrupts_are_delivered_with_interrupts_enabled(void **state)
{
	(void)state;
	frame.cs = 0x73;
	vcpu.operations->interrupt(&vcpu, 5);
	arrives_in_inject = 2;
	vcpu.operations->deliver(&vcpu);
	assert_int_equal(call_count, 3);
	for (unsigned i = 0; i < call_count; i++)
		assert_call(i, "inject", true);
	assert_false(processor.interrupts || vcpu.x86->armed);
	/* Linux has disabled them: the traps are laid for one that comes late, too. */
	call_count = 0;
	arrives_in_inject = 1;
	clears_flag = true;
	vcpu.operations->interrupt(&vcpu, 5);
	vcpu.operations->deliver(&vcpu);
	only_call("inject", true);
	assert_true(vcpu.x86->armed);
	assert_false(processor.interrupts);
}

/* Who slept when a chip was due, and gets no interrupt of it, goes on sleeping. */
static void a_chip_that_was_due_wakes_whom_it_interrupts(void **state)
{
	struct x86 *x86 = vcpu.x86;

	(void)state;
	frame.cs = 0x61;
	linux_set_interrupts(x86, true);
	for (unsigned i = 0; i < 4; i++) {
		call_count = 0;
		vcpu.state = VCPU_RUNNING;
		vcpu.attention = 0;
		x86->due = BOARD_DUE_PIT;
		x86->slept = (i & 1) != 0;
		settle_interrupts = (i & 2) != 0;
		vcpu.operations->deliver(&vcpu);
		assert_int_equal(vcpu.state, i == 1 ? VCPU_HALTED : VCPU_RUNNING);
		assert_int_equal(vcpu.attention & ATTENTION_NOW, i == 1);
		assert_int_equal(call_count, settle_interrupts);
		assert_false(x86->slept || x86->due != 0);
	}
	settle_interrupts = false;
}

/* One that was halted would come back to life with the next notice. */
static void who_is_ended_by_what_was_due_does_not_halt(void **state)
{
	(void)state;
	frame.cs = 0x61;
	linux_set_interrupts(vcpu.x86, true);
	vcpu.x86->due = BOARD_DUE_PIT;
	vcpu.x86->slept = true;
	settle_ends = true;
	vcpu.operations->deliver(&vcpu);
	settle_ends = false;
	assert_int_equal(vcpu.state, VCPU_OFF);
	assert_int_equal(call_count, 0);
}

static void a_dedicated_cpu_and_the_old_way_keep_interrupts_out(void **state)
{
	static const u32 vectors[] = { EXCEPTION_PF, EXCEPTION_GP, EXCEPTION_DB, EXCEPTION_NM,
				       EXCEPTION_NP, GANDALF_HYPERCALL_VECTOR };

	(void)state;
	assert_true(vcpu.interruptible);
	for (unsigned how = 0; how < 2; how++) {
		start(NULL);
		core.interruptible = how;
		guest_become(how ? GANDALF_KIND_LINUX_DEDICATED : GANDALF_KIND_LINUX_SHARED);
		assert_false(vcpu.interruptible);
		for (unsigned i = 0; i < ARRAY_SIZE(vectors); i++) {
			frame.eax = GANDALF_HYPERCALL_FLUSH;
			enter(vectors[i], 1);
			assert_true(call_count != 0);
			for (unsigned call = 0; call < call_count; call++)
				assert_false(calls[call].interrupts);
		}
	}
}

/* So that tests of other files may take the fake ones. */
static void the_policies_are_those_that_tests_take(void **state)
{
	static const struct { u32 kind; const struct policy *fake; } cases[] = {
		{GANDALF_KIND_LINUX_SHARED, &fake_shared},
		{GANDALF_KIND_LINUX_DEDICATED, &fake_dedicated},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct policy fake = *cases[i].fake;

		guest_become(cases[i].kind);
		fake.operations = vcpu.x86->policy->operations;
		assert_memory_equal(vcpu.x86->policy, &fake, sizeof(fake));
		assert_ptr_equal(vcpu.operations, &vcpu.x86->policy->operations);
		assert_int_equal(vcpu.eflags, fake.eflags);
		assert_int_equal(vcpu.any_vector, fake.any_vector);
		assert_int_equal(vcpu.x86->shadow.apic, i == 0 ? 0 : apic_base);
	}
}

/* The flag is a word of the shared page, or bit 9 of EFLAGS. */
static void the_flag_is_where_the_policy_has_it(void **state)
{
	(void)state;
	vcpu.operations->start(&vcpu);
	frame.cs = 0x61;
	linux_set_interrupts(vcpu.x86, true);
	assert_int_equal(vcpu.shared->interrupt_flag, GANDALF_INTERRUPT_FLAG);
	linux_set_interrupts(vcpu.x86, false);
	assert_int_equal(linux_interrupt_flag(vcpu.x86), 0);
	assert_int_equal(vcpu.shared->interrupt_flag, 0);
	guest_become(GANDALF_KIND_LINUX_DEDICATED);
	begins_direct = &vcpu;
	vcpu.operations->start(&vcpu);
	assert_null(begins_direct);
	frame.cs = 0x61;
	linux_set_interrupts(vcpu.x86, true);
	assert_int_equal(frame.eflags & EFLAGS_IF, EFLAGS_IF);
	assert_int_equal(vcpu.shared->interrupt_flag, 0);
	linux_set_interrupts(vcpu.x86, false);
	assert_int_equal(linux_interrupt_flag(vcpu.x86), 0);
}

/* What comes for a guest with direct gates while it sleeps is delivered once, in order. */
static void vectors_that_wait_for_direct_gates_are_delivered(void **state)
{
	(void)state;
	guest_become(GANDALF_KIND_LINUX_DEDICATED);
	for (u32 i = 0; i < X86_DIRECT_VECTORS + 1; i++)
		vcpu.operations->interrupt(&vcpu, 0x30 + i);
	assert_true(vcpu_is_notified(&vcpu));
	call_count = 0;
	vcpu.operations->deliver(&vcpu);
	assert_int_equal(call_count, X86_DIRECT_VECTORS);
	assert_call(0, "inject", processor.interrupts);
	vcpu.operations->deliver(&vcpu);
	assert_int_equal(call_count, X86_DIRECT_VECTORS);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

static void only_who_runs_has_an_instruction_to_report(void **state)
{
	static struct vcpu other;
	u8 bytes[4] = { 0 };

	(void)state;
	core.current = &vcpu;
	assert_int_equal(vcpu.operations->instruction(&vcpu, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(bytes[3], 0x90);
	core.current = &other;
	assert_int_equal(vcpu.operations->instruction(&vcpu, bytes, sizeof(bytes)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(page_faults_are_served_with_interrupts_enabled),
		TEST(an_interrupt_that_cannot_go_to_ring_1_is_an_upcall),
		TEST(stores_to_the_gdt_take_the_short_way),
		TEST(hypercalls_and_emulation_run_with_interrupts_enabled),
		TEST(the_fpu_changes_hands_with_interrupts_disabled),
		TEST(interrupts_are_delivered_with_interrupts_enabled),
		TEST(a_chip_that_was_due_wakes_whom_it_interrupts),
		TEST(who_is_ended_by_what_was_due_does_not_halt),
		TEST(only_who_runs_has_an_instruction_to_report),
		TEST(a_dedicated_cpu_and_the_old_way_keep_interrupts_out),
		TEST(the_policies_are_those_that_tests_take),
		TEST(the_flag_is_where_the_policy_has_it),
		TEST(vectors_that_wait_for_direct_gates_are_delivered),
	};

	return RUN_TESTS(tests);
}
