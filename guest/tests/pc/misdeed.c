/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The misdeeds of kernels in ring 1, and the test guests pc-NAME.elf that commit
 * them; the Makefile defines MISDEED. The guest must be stopped with a report,
 * or restarted where a PC would be, and nobody else notices.
 */
#include <string.h>

#include "machine.h"
#include "print.h"
#include "suite.h"

struct misdeed {
	const char *name;
	const char *text;
	void (*commit)(void);
};

static const struct {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed)) empty = { 0, 0 };

static void commit_triple_fault(void)
{
	__asm__ volatile("lidt %0\n\tint3" : : "m"(empty));
}

static void commit_reset(void)
{
	port_out(0x64, 0xfe);
}

static void commit_power_off(void)
{
	__asm__ volatile("cli\n\thlt");
}

static void commit_unknown_instruction(void)
{
	__asm__ volatile("rdpmc" : : "c"(0) : "eax", "edx");
}

/* Its MSRs are the VMM's: what a guest writes there must not take effect. */
static void commit_sysenter(void)
{
	__asm__ volatile("wrmsr" : : "c"(0x174), "a"(KERNEL_CODE), "d"(0));
	__asm__ volatile("sysenter");
}

static void commit_string_port(void)
{
	__asm__ volatile("rep insb" : : "D"(scratch_frame), "c"(4), "d"(0x3ff) : "memory");
}

static void commit_bad_hypercall(void)
{
	hypercall(0x7777, 0, 0, 0);
}

static void commit_rtos_hypercall(void)
{
	hypercall(GANDALF_HYPERCALL_CONSOLE_WRITE, 0, 0, 0);
}

static void commit_bad_pointer(void)
{
	hypercall(GANDALF_HYPERCALL_LOAD_TLS, 0x70000000, 0, 0);
}

static void commit_pointer_to_vmm(void)
{
	hypercall(GANDALF_HYPERCALL_LOAD_TLS, 0xfc400000, 0, 0);
}

static void commit_jump_vmm(void)
{
	__asm__ volatile("lidt %0\n\tjmp *%1" : : "m"(empty), "r"(0xfc400000));
}

static void commit_far_jump_vmm(void)
{
	__asm__ volatile("lidt %0\n\tljmp $0x100, $0" : : "m"(empty));
}

static void commit_write_vmm(void)
{
	__asm__ volatile("lidt %0\n\tmovl %%eax, (%1)" : : "m"(empty), "r"(0xfc400000));
}

static void commit_bad_stack(void)
{
	__asm__ volatile("movl $0x70000000, %esp\n\tud2");
}

static void commit_stack_in_vmm(void)
{
	__asm__ volatile("movl $0xfc401000, %esp\n\tud2");
}

static void commit_bad_gdt(void)
{
	const struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) table = { 0xff, 0x70000000 };

	__asm__ volatile("lgdt %0" : : "m"(table));
}

static void commit_directory_outside(void)
{
	cr3_write(0xf0000000);
	__asm__ volatile("int3");
}

/* Memory that the guest does not have, by way of its page tables. */
static void commit_write_outside(void)
{
	scratch_map(0, (void *)0xf0000000, PAGE_P | PAGE_W);
	invlpg(SCRATCH);
	*(volatile uint32_t *)SCRATCH = 0x21646162;
}

/* The kernel's half shows the first large page, in it the GDT, whose page the VMM keeps for itself;
 * and behind a store there the next large page, with no word to the VMM but a fault beside it. */
static void commit_replace_gdt(void)
{
	const struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) table = { sizeof(gdt) - 1, KERNEL_HALF + (uint32_t)gdt };
	volatile uint32_t *entry = &page_directory[KERNEL_HALF / LARGE_PAGE_SIZE];
	volatile uint32_t *stored = (uint32_t *)(KERNEL_HALF + (uint32_t)&gdt[TLS_FIRST].low);
	volatile uint32_t *beside = (uint32_t *)(KERNEL_HALF + (uint32_t)scratch_frame);

	*entry = PAGE_P | PAGE_W | PAGE_PS;
	cr3_write((uint32_t)page_directory);
	__asm__ volatile("lgdt %0" : : "m"(table));
	*stored = 0xffff;
	*entry = LARGE_PAGE_SIZE | PAGE_P | PAGE_W | PAGE_PS;
	*beside = 1;
	*stored = 0;
	commit_triple_fault();
}

static void commit_hang(void)
{
	irq_disable();
	for (;;)
		__asm__ volatile("pause");
}

static const struct misdeed misdeeds[] = {
	{ "triple-fault", "an exception without an IDT", commit_triple_fault },
	{ "reset", "the keyboard controller's reset", commit_reset },
	{ "power-off", "halts with interrupts disabled", commit_power_off },
	{ "unknown-instruction", "a privileged instruction that no guest needs",
	  commit_unknown_instruction },
	{ "sysenter", "SYSENTER, after writing its MSR", commit_sysenter },
	{ "string-port", "INS, which no guest needs", commit_string_port },
	{ "bad-hypercall", "a hypercall of an unknown number", commit_bad_hypercall },
	{ "rtos-hypercall", "a hypercall that is an RTOS's", commit_rtos_hypercall },
	{ "bad-pointer", "a hypercall with an address that is not mapped", commit_bad_pointer },
	{ "pointer-to-vmm", "a hypercall with an address of the VMM", commit_pointer_to_vmm },
	{ "jump-vmm", "a jump into the VMM, without an IDT", commit_jump_vmm },
	{ "far-jump-vmm", "a far jump by the VMM's selector, without an IDT",
	  commit_far_jump_vmm },
	{ "write-vmm", "a write to the VMM, without an IDT", commit_write_vmm },
	{ "bad-stack", "an exception with its stack not mapped", commit_bad_stack },
	{ "stack-in-vmm", "an exception with its stack in the VMM", commit_stack_in_vmm },
	{ "bad-gdt", "a GDT that is not mapped", commit_bad_gdt },
	{ "directory-outside", "a page directory outside its memory", commit_directory_outside },
	{ "write-outside", "writes memory that it does not have", commit_write_outside },
	{ "replace-gdt", "another page where its GDT was written", commit_replace_gdt },
	{ "hang", "disables interrupts and loops for ever", commit_hang },
	{ 0 },
};

void suite_run(void)
{
	const struct misdeed *misdeed = misdeeds;

	tables_load();
	paging_enable();
	while (strcmp(misdeed->name, MISDEED))
		misdeed++;
	print("pc-%s: %s\n", misdeed->name, misdeed->text);
	misdeed->commit();
	print("not ok 1 %s\n", misdeed->name);
	print("FAIL pc-%s: it was let pass\n", misdeed->name);
	machine_off(false);
}
