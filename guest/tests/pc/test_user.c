/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ring 3: the ways from there into the kernel, and what must not be one.
 */
#include "machine.h"
#include "suite.h"

#define FAULT_PRESENT 1
#define FAULT_WRITE 2
#define FAULT_USER 4

#define PIECE(name) extern const char user_##name[], user_##name##_trap[];
PIECE(system_call)
PIECE(interrupted)
PIECE(divide)
PIECE(undefined)
PIECE(breakpoint)
PIECE(step)
PIECE(halt)
PIECE(disable)
PIECE(port)
PIECE(delay_port)
PIECE(time)
PIECE(control)
PIECE(hypercall)
PIECE(gate)
PIECE(stack_selector)
PIECE(code_selector)
PIECE(return)
PIECE(read)
PIECE(write)
PIECE(jump)
PIECE(access)

/* user.S */
extern volatile uint32_t user_started, user_finish, user_address;
extern char user_stack_top[], trap_stack_top[];

static void check(uint32_t vector, uint32_t error, const char *eip)
{
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, vector);
	expect_equal(trap.error, error);
	expect_equal(trap.eip, (uint32_t)eip);
	expect_equal(trap.cs, USER_CODE);
	expect_equal(trap.ss, USER_DATA);
	expect(!trap.flag);
}

#define CHECK(name, vector, error) \
	do { \
		user_trap(user_##name); \
		check(vector, error, user_##name##_trap); \
	} while (0)

static void test_system_call(void)
{
	for (uint32_t i = 0; i < 100; i++) {
		CHECK(system_call, VECTOR_SYSTEM_CALL, 0);
		expect_equal(trap.eax, 0x12345678);
		expect_equal(trap.ebx, (uint32_t)user_stack_top);
		expect_equal(trap.esp, (uint32_t)user_stack_top);
		expect_equal(trap.eflags & EFLAGS_INTERRUPT, EFLAGS_INTERRUPT);
	}
}

static void test_exceptions(void)
{
	CHECK(divide, VECTOR_DE, 0);
	CHECK(undefined, VECTOR_UD, 0);
	CHECK(breakpoint, VECTOR_BP, 0);
	CHECK(step, VECTOR_DB, 0);
	expect_equal(trap.eflags & EFLAGS_TRAP, EFLAGS_TRAP);
	expect_equal(trap.eflags & EFLAGS_INTERRUPT, EFLAGS_INTERRUPT);
}

/* The frame begins where TSS.ESP0 says; in front of it the error code, if any. */
static void test_stack(void)
{
	CHECK(undefined, VECTOR_UD, 0);
	expect_equal(trap.stack, (uint32_t)trap_stack_top - 20);
	CHECK(halt, VECTOR_GP, 0);
	expect_equal(trap.stack, (uint32_t)trap_stack_top - 24);
	CHECK(system_call, VECTOR_SYSTEM_CALL, 0);
	expect_equal(trap.stack, (uint32_t)trap_stack_top - 20);
}

/* load_sp0() in Linux stores it after LTR, then loads LDT or GDT. */
static void test_stack_moved(void)
{
	volatile struct task_state *const state = &task_state;

	state->esp0 -= 256;
	__asm__ volatile("lldt %w0" : : "r"(0) : "memory");
	CHECK(undefined, VECTOR_UD, 0);
	expect_equal(trap.stack, (uint32_t)trap_stack_top - 256 - 20);
	CHECK(system_call, VECTOR_SYSTEM_CALL, 0);
	expect_equal(trap.stack, (uint32_t)trap_stack_top - 256 - 20);
	state->esp0 += 256;
	gdt_register_load();
	CHECK(system_call, VECTOR_SYSTEM_CALL, 0);
	expect_equal(trap.stack, (uint32_t)trap_stack_top - 20);
}

static void test_privileged(void)
{
	CHECK(halt, VECTOR_GP, 0);
	CHECK(disable, VECTOR_GP, 0);
	CHECK(port, VECTOR_GP, 0);
	CHECK(delay_port, VECTOR_GP, 0);
	CHECK(control, VECTOR_GP, 0);
}

/* CR4.TSD keeps RDTSC from ring 3, and the kernel goes on using it. */
static void test_hidden_time(void)
{
	uint32_t before = cr4_read();
	uint64_t first, second;

	cr4_write(before | CR4_TSD);
	expect_equal(cr4_read(), before | CR4_TSD);
	first = time_stamp();
	CHECK(time, VECTOR_GP, 0);
	second = time_stamp();
	expect(second > first && second - first < 100000000);
	cr4_write(before & ~CR4_TSD);
	user_trap(user_time);
	expect_equal(trap.vector, VECTOR_SYSTEM_CALL);
	expect_equal(trap.eax, UINT32_MAX);
	expect(time_stamp() > second);
}

static void test_gates(void)
{
	CHECK(hypercall, VECTOR_GP, GANDALF_HYPERCALL_VECTOR * 8 + 2);
	CHECK(gate, VECTOR_GP, VECTOR_IRQ * 8 + 2);
}

static void test_selectors(void)
{
	CHECK(stack_selector, VECTOR_GP, KERNEL_DATA);
	CHECK(return, VECTOR_GP, KERNEL_CODE);
	if (kernel_ring() != 3) {
		CHECK(code_selector, VECTOR_GP, KERNEL_CODE);
		return;
	}
	/* The segment is ring 3's, too. But the kernel is not told which it was. */
	user_trap(user_code_selector);
	expect_equal(trap.vector, VECTOR_PF);
	expect_equal(trap.eip, 0);
	expect_equal(trap.cs, 3);
}

static void fault_check(const char *piece, const char *eip, uint32_t error)
{
	user_trap(piece);
	check(VECTOR_PF, error, eip);
	expect_equal(trap.cr2, user_address);
}

static void test_absent(void)
{
	scratch_map(8, NULL, 0);
	invlpg(SCRATCH + 8 * PAGE_SIZE);
	user_address = SCRATCH + 8 * PAGE_SIZE;
	fault_check(user_read, user_read_trap, FAULT_USER);
	fault_check(user_write, user_write_trap, FAULT_USER | FAULT_WRITE);
	fault_check(user_jump, (const char *)user_address, FAULT_USER);
}

/* Pages of the kernel: here, and where only the directory says so. */
static void test_kernel_pages(void)
{
	static uint32_t kernel_word;

	user_address = (uint32_t)&kernel_word;
	fault_check(user_read, user_read_trap, FAULT_USER | FAULT_PRESENT);
	fault_check(user_write, user_write_trap, FAULT_USER | FAULT_WRITE | FAULT_PRESENT);
	fault_check(user_jump, (const char *)user_address, FAULT_USER | FAULT_PRESENT);
	expect_equal(kernel_word, 0);
	user_address = LARGE_PAGE_SIZE;
	fault_check(user_read, user_read_trap, FAULT_USER | FAULT_PRESENT);
}

/* The VMM's pages and the shared page are nobody's in ring 3. */
static void test_vmm_pages(void)
{
	SKIP_NATIVE("there is no VMM");
	user_address = GANDALF_SHARED_PAGE;
	user_trap(user_read);
	expect_equal(trap.vector, VECTOR_PF);
	user_trap(user_write);
	expect_equal(trap.vector, VECTOR_PF);
	user_address = 0xfc400000;
	user_trap(user_write);
	expect(trap.vector == VECTOR_PF || trap.vector == VECTOR_GP);
	user_trap(user_read);
	expect(trap.vector == VECTOR_PF || trap.vector == VECTOR_GP);
}

static void test_read_only(void)
{
	scratch_map(8, scratch_frame[0], PAGE_P | PAGE_U);
	invlpg(SCRATCH + 8 * PAGE_SIZE);
	user_address = SCRATCH + 8 * PAGE_SIZE;
	fault_check(user_write, user_write_trap, FAULT_USER | FAULT_WRITE | FAULT_PRESENT);
}

/* Demand paging and copy on write, in short. */
static void test_access(void)
{
	volatile uint32_t *const first = (uint32_t *)scratch_frame[0];
	volatile uint32_t *const second = (uint32_t *)scratch_frame[1];

	*first = 41;
	scratch_map(8, scratch_frame[0], PAGE_P | PAGE_U);
	invlpg(SCRATCH + 8 * PAGE_SIZE);
	user_address = SCRATCH + 8 * PAGE_SIZE;
	user_trap(user_access);
	expect_equal(trap.vector, VECTOR_PF);
	expect_equal(trap.error, FAULT_USER | FAULT_WRITE | FAULT_PRESENT);
	expect_equal(trap.ebx, 41);
	*second = 51;
	scratch_map(8, scratch_frame[1], PAGE_P | PAGE_W | PAGE_U);
	pages_flush(page_directory, user_address, user_address + PAGE_SIZE);
	invlpg(user_address);
	user_trap(user_access);
	check(VECTOR_SYSTEM_CALL, 0, user_access_trap);
	expect_equal(trap.eax, 1);
	expect_equal(trap.ebx, 51);
	expect_equal(*first, 41);
	expect_equal(*second, 52);
	/* A page that the kernel has used before is not the user's for that. */
	scratch_map(9, scratch_frame[2], PAGE_P | PAGE_W);
	invlpg(SCRATCH + 9 * PAGE_SIZE);
	*(volatile uint32_t *)(SCRATCH + 9 * PAGE_SIZE) = 61;
	user_address = SCRATCH + 9 * PAGE_SIZE;
	fault_check(user_read, user_read_trap, FAULT_USER | FAULT_PRESENT);
	scratch_map(9, scratch_frame[2], PAGE_P | PAGE_W | PAGE_U);
	invlpg(user_address);
	user_trap(user_access);
	check(VECTOR_SYSTEM_CALL, 0, user_access_trap);
	expect_equal(trap.ebx, 61);
}

static volatile struct {
	uint32_t cs, eflags;
	bool flag;
} seen;

static void tick(struct trap_frame *frame)
{
	seen.cs = frame->cs;
	seen.eflags = frame->eflags;
	seen.flag = irq_enabled();
	user_finish = irq_count[0] >= 3;
}

static void interrupts_begin(void)
{
	irq_disable();
	pic_init();
	irq_count[0] = 0;
	irq_hook[0] = tick;
	user_started = user_finish = 0;
	pic_unmask(1);
	pit_start(1000);
}

static void interrupts_end(void)
{
	irq_disable();
	pit_stop();
	pic_unmask(0);
	irq_hook[0] = NULL;
}

static void test_interrupted(void)
{
	interrupts_begin();
	CHECK(interrupted, VECTOR_SYSTEM_CALL, 0);
	expect(irq_count[0] >= 3);
	expect_equal(user_started, 1);
	expect_equal(seen.cs, USER_CODE);
	expect_equal(seen.eflags & EFLAGS_INTERRUPT, EFLAGS_INTERRUPT);
	expect(!seen.flag);
	interrupts_end();
}

/* One waits already when the kernel returns to ring 3, its flag 0 to the last:
 * the IRET is what enables it. */
static void test_interrupt_at_return(void)
{
	interrupts_begin();
	for (uint32_t ms = 0; ms < 20 && !(pic_request() & 1); ms++)
		pit_delay(1000);
	expect_equal(irq_count[0], 0);
	CHECK(interrupted, VECTOR_SYSTEM_CALL, 0);
	expect(irq_count[0] >= 3);
	interrupts_end();
}

static const struct tap_test user_tests[] = {
	{ "user-system-call", test_system_call },
	{ "user-exceptions", test_exceptions },
	{ "user-stack", test_stack },
	{ "user-stack-moved", test_stack_moved },
	{ "user-privileged", test_privileged },
	{ "user-hidden-time", test_hidden_time },
	{ "user-gates", test_gates },
	{ "user-selectors", test_selectors },
	{ "user-absent", test_absent },
	{ "user-kernel-pages", test_kernel_pages },
	{ "user-vmm-pages", test_vmm_pages },
	{ "user-read-only", test_read_only },
	{ "user-access", test_access },
	{ "user-interrupted", test_interrupted },
	{ "user-interrupt-at-return", test_interrupt_at_return },
};
const struct tap_group group_user = TAP_GROUP(user_tests);
