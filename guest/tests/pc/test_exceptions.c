/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions in the kernel reach its gates with the frame of the CPU, CS as if
 * it were in ring 0, and the interrupt flag in EFLAGS.
 */
#include "machine.h"
#include "suite.h"

static uint32_t provoked; /* label 9 */

static void check(uint32_t vector, uint32_t error)
{
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, vector);
	expect_equal(trap.error, error);
	expect_equal(trap.eip, provoked);
	expect_equal(trap.cs & ~3U, KERNEL_CODE);
	expect(!trap.flag);
}

static void test_divide(void)
{
	TRAP_PROVOKE("movl $9f, %0\n9:\tdivl %1",
		     : "=m"(provoked) : "r"(0), "a"(1), "d"(0) : "cc");
	check(VECTOR_DE, 0);
}

static void test_breakpoint(void)
{
	TRAP_PROVOKE("movl $9f, %0\n\tint3\n9:", : "=m"(provoked));
	check(VECTOR_BP, 0);
}

static void test_overflow(void)
{
	TRAP_PROVOKE("movl $9f, %0\n\tmovb $127, %%al\n\taddb $1, %%al\n\tinto\n9:",
		     : "=m"(provoked) : : "eax", "cc");
	check(VECTOR_OF, 0);
}

static void test_bound(void)
{
	const int32_t bounds[2] = { 1, 3 };

	TRAP_PROVOKE("movl $9f, %0\n9:\tboundl %1, %2",
		     : "=m"(provoked) : "r"(4), "m"(bounds));
	check(VECTOR_BR, 0);
}

static void test_undefined(void)
{
	TRAP_PROVOKE("movl $9f, %0\n9:\tud2", : "=m"(provoked));
	check(VECTOR_UD, 0);
}

static void test_selector_outside(void)
{
	TRAP_PROVOKE("movl $9f, %0\n9:\tmovl %1, %%fs", : "=m"(provoked) : "r"(0x1008));
	check(VECTOR_GP, 0x1008);
}

/* Where the VMM has its own descriptors, behind the end of the guest's GDT. */
static void test_selector_of_vmm(void)
{
	for (uint32_t selector = sizeof(gdt); selector < sizeof(gdt) + 0x40; selector++) {
		TRAP_PROVOKE("movl $9f, %0\n9:\tmovl %1, %%gs", : "=m"(provoked) : "r"(selector));
		check(VECTOR_GP, selector & ~3U);
	}
}

static void test_selector_absent(void)
{
	TRAP_PROVOKE("movl $9f, %0\n9:\tmovl %1, %%fs", : "=m"(provoked) : "r"(ABSENT_DATA));
	check(VECTOR_NP, ABSENT_DATA);
}

static void test_system_call_from_kernel(void)
{
	TRAP_PROVOKE("movl $9f, %0\n\tint %1\n9:",
		     : "=m"(provoked) : "i"(VECTOR_SYSTEM_CALL));
	check(VECTOR_SYSTEM_CALL, 0);
}

static void test_frame(void)
{
	uint32_t esp;

	TRAP_PROVOKE("movl %%esp, %0\n\tud2", : "=r"(esp));
	expect_equal(trap.stack, esp - 12);
	TRAP_PROVOKE("movl %%esp, %0\n\tmovl %1, %%fs", : "=&r"(esp) : "r"(0x1008));
	expect_equal(trap.stack, esp - 16);
	expect_equal(trap.eflags >> EFLAGS_IOPL_SHIFT & 3, 0);
}

/* As Linux compares it in early_fixup_exception(). */
static void test_frame_cs(void)
{
	TRAP_PROVOKE("ud2");
	if (environment == DEDICATED)
		expect_equal(trap.cs & ~3U, KERNEL_CODE);
	else
		expect_equal(trap.cs, KERNEL_CODE);
}

/* The frame tells the flag, the handler has it at 0, IRET gives it back. */
static void test_flag(void)
{
	irq_enable();
	TRAP_PROVOKE("ud2");
	expect(irq_enabled());
	expect(!trap.flag);
	expect_equal(trap.eflags & EFLAGS_INTERRUPT, EFLAGS_INTERRUPT);
	irq_disable();
	TRAP_PROVOKE("ud2");
	expect(!irq_enabled());
	expect_equal(trap.eflags & EFLAGS_INTERRUPT, 0);
}

static void test_registers(void)
{
	uint32_t good;

	TRAP_PROVOKE("pushl %%ebp\n\tmovl $0x11111111, %%eax\n\tmovl $0x22222222, %%ebx\n\t"
		     "movl $0x33333333, %%ecx\n\tmovl $0x44444444, %%edx\n\t"
		     "movl $0x55555555, %%esi\n\tmovl $0x66666666, %%edi\n\t"
		     "movl $0x77777777, %%ebp\n\tmovl $8f, trap_resume\n\t"
		     "stc\n\tud2\n8:\tjnc 7f\n\t"
		     "cmpl $0x11111111, %%eax\n\tjne 7f\n\tcmpl $0x22222222, %%ebx\n\tjne 7f\n\t"
		     "cmpl $0x33333333, %%ecx\n\tjne 7f\n\tcmpl $0x44444444, %%edx\n\tjne 7f\n\t"
		     "cmpl $0x55555555, %%esi\n\tjne 7f\n\tcmpl $0x66666666, %%edi\n\tjne 7f\n\t"
		     "cmpl $0x77777777, %%ebp\n\tjne 7f\n\tmovl $1, %%eax\n\tjmp 6f\n"
		     "7:\txorl %%eax, %%eax\n6:\tpopl %%ebp",
		     : "=a"(good) : : "ebx", "ecx", "edx", "esi", "edi", "memory", "cc");
	expect_equal(good, 1);
}

/* Same-level IRET with the real selector, as Linux's iret_to_self() has it. */
static void test_return(void)
{
	uint32_t before, after;

	__asm__ volatile("movl %%esp, %0\n\tpushfl\n\tpushl %%cs\n\tpushl $1f\n\tiret\n"
			 "1:\tmovl %%esp, %1"
			 : "=&r"(before), "=&r"(after)
			 :
			 : "memory", "cc");
	expect_equal(after, before);
}

/* With the selector that ring 0 has: what the VMM's frames hold. */
static void test_return_ring_0(void)
{
	uint32_t before, after, flags;

	__asm__ volatile("movl %%esp, %0\n\tpushl $0x203\n\tpushl %3\n\tpushl $1f\n\tiret\n"
			 "1:\tpushfl\n\tpopl %2\n\tmovl %%esp, %1"
			 : "=&r"(before), "=&r"(after), "=&r"(flags)
			 : "i"(KERNEL_CODE)
			 : "memory", "cc");
	expect_equal(after, before);
	expect_equal(flags & EFLAGS_CARRY, EFLAGS_CARRY);
	expect(irq_enabled());
	irq_disable();
	__asm__ volatile("pushl $2\n\tpushl %0\n\tpushl $1f\n\tiret\n1:"
			 : : "i"(KERNEL_CODE) : "memory", "cc");
	expect(!irq_enabled());
}

static const struct tap_test exceptions_tests[] = {
	{ "exceptions-divide", test_divide },
	{ "exceptions-breakpoint", test_breakpoint },
	{ "exceptions-overflow", test_overflow },
	{ "exceptions-bound", test_bound },
	{ "exceptions-undefined", test_undefined },
	{ "exceptions-selector-outside", test_selector_outside },
	{ "exceptions-selector-of-vmm", test_selector_of_vmm },
	{ "exceptions-selector-absent", test_selector_absent },
	{ "exceptions-system-call-from-kernel", test_system_call_from_kernel },
	{ "exceptions-frame", test_frame },
	{ "exceptions-frame-cs", test_frame_cs },
	{ "exceptions-flag", test_flag },
	{ "exceptions-registers", test_registers },
	{ "exceptions-return", test_return },
	{ "exceptions-return-ring-0", test_return_ring_0 },
};
const struct tap_group group_exceptions = TAP_GROUP(exceptions_tests);
