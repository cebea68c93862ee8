/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test guest pc-virtual.elf: a process that enters virtual-8086 mode by an IRET of its own, which
 * QEMU lets it, with an I/O privilege level of 3 and the interrupt flag 0. Neither may be there any
 * more when its kernel and it go on.
 */
#include "machine.h"
#include "suite.h"

#define PIECE(name) extern const char user_##name[], user_##name##_trap[];
PIECE(virtual)
PIECE(disable)
PIECE(port)
PIECE(system_call)

#define EFLAGS_VIRTUAL_8086 0x20000
#define EFLAGS_IOPL 0x3000

/* The frame of the mode: GS, FS, DS, ES, SS, ESP, EFLAGS, CS and EIP; what is there it may not read. */
__asm__(".pushsection .user, \"awx\", @progbits\n"
	".globl user_virtual, user_virtual_trap\n"
	"user_virtual:\n\t"
	"pushl $0; pushl $0; pushl $0; pushl $0\n\t"
	"pushl $0x1000; pushl $0x100\n\t"
	"pushl user_virtual_eflags\n\t"
	"pushl $0; pushl $0\n"
	"user_virtual_trap:\n\t"
	"iret\n"
	".globl user_virtual_eflags\n"
	"user_virtual_eflags: .long 0\n"
	".popsection");
extern volatile uint32_t user_virtual_eflags;

static void enter(uint32_t eflags)
{
	user_virtual_eflags = EFLAGS_VIRTUAL_8086 | 2 | eflags;
	user_trap(user_virtual);
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_GP);
}

/* A process as before: its kernel has not given it ports, nor the flag. */
static void process_is_bound(void)
{
	expect_equal(eflags_read() & EFLAGS_IOPL, environment == DEDICATED ? 0x1000U : 0U);
	user_trap(user_disable);
	expect_equal(trap.vector, VECTOR_GP);
	expect_equal(trap.eip, (uint32_t)user_disable_trap);
	user_trap(user_port);
	expect_equal(trap.vector, VECTOR_GP);
	expect_equal(trap.eip, (uint32_t)user_port_trap);
	user_trap(user_system_call);
	expect_equal(trap.vector, VECTOR_SYSTEM_CALL);
	expect_equal(trap.eflags & EFLAGS_IOPL, environment == DEDICATED ? 0x1000U : 0U);
}

static void test_nothing_is_kept(void)
{
	enter(EFLAGS_INTERRUPT);
	process_is_bound();
}

static void test_no_privilege_level_is_kept(void)
{
	enter(EFLAGS_INTERRUPT | EFLAGS_IOPL);
	process_is_bound();
}

/* On a shared CPU the real flag is 1 wherever a guest runs. */
static void test_no_interrupt_flag_is_kept(void)
{
	enter(EFLAGS_IOPL);
	if (environment == SHARED)
		expect_equal(eflags_read() & EFLAGS_INTERRUPT, EFLAGS_INTERRUPT);
	process_is_bound();
	enter(0);
	if (environment == SHARED)
		expect_equal(eflags_read() & EFLAGS_INTERRUPT, EFLAGS_INTERRUPT);
	process_is_bound();
}

void suite_run(void)
{
	static const struct tap_test tests[] = {
		{ "nothing-is-kept", test_nothing_is_kept },
		{ "no-privilege-level-is-kept", test_no_privilege_level_is_kept },
		{ "no-interrupt-flag-is-kept", test_no_interrupt_flag_is_kept },
	};
	const struct tap_group group = { tests, sizeof(tests) / sizeof(tests[0]) };

	gdt_load();
	segments_load();
	idt_load();
	task_load();
	paging_enable();
	machine_off(tap_run("pc-virtual", &group, 1));
}
