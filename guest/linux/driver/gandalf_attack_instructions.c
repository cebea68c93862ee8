// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attacks by single instructions. They are hypercalls, jumps, any opcode, ports, and those that
 * leave an exception without a stack or a handler.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <asm/desc.h>
#include <asm/special_insns.h>

#include "gandalf_attack.h"

#define OPCODE_SIZE 15

static enum outcome attack_hypercall(struct request *request)
{
	u32 faulted = 1;

	TRY(faulted, "1: int %[vector]", [v] "=&a" (request->value),
	    [vector] "i" (GANDALF_HYPERCALL_VECTOR), "[v]" (request->argument[0]),
	    "b" (request->argument[1]), "c" (request->argument[2]),
	    "d" (request->argument[3]));
	return outcome_of(faulted, OUTCOME_READ);
}

/*
 * Calls an address. Where the page refuses to execute, the fault is at the address itself, and so
 * the kernel reports an oops and ends this process.
 */
static enum outcome attack_jump(struct request *request)
{
	u32 target = request->argument[0];
	u32 faulted = 1;

	TRY(faulted, "1: call *%[t]", [t] "+&r" (target), "i" (0));
	return outcome_of(faulted, OUTCOME_WROTE);
}

/* This is room for one instruction, which is written through a second mapping of its page. */
asm(".pushsection .text\n"
    ".balign 16\n"
    "gandalf_attack_slot:\n"
    "1:	.fill " __stringify(OPCODE_SIZE) ", 1, 0x90\n\t"
    "xorl %eax, %eax\n\t"
    "ret\n"
    "2:	movl $1, %eax\n\t"
    "ret\n"
    _ASM_EXTABLE(1b, 2b)
    ".popsection\n");
extern u8 gandalf_attack_slot[];

static bool fill_slot(const u32 *words, u32 length)
{
	struct page *page = virt_to_page(gandalf_attack_slot);
	u8 *alias = vmap(&page, 1, VM_MAP, PAGE_KERNEL);

	if (!alias)
		return false;
	memset(alias + offset_in_page(gandalf_attack_slot), 0x90, OPCODE_SIZE);
	memcpy(alias + offset_in_page(gandalf_attack_slot), words, length);
	vunmap(alias);
	sync_core();
	return true;
}

/* Runs one instruction, whose bytes are given in words: opcode LENGTH LOW [HIGH...]. */
static enum outcome attack_opcode(struct request *request)
{
	u32 length = min_t(u32, request->argument[0], sizeof(u32) * (ARGUMENTS_MAXIMUM - 1));
	u32 faulted;

	if (!fill_slot(&request->argument[1], length))
		return OUTCOME_FAULT;
	asm volatile("pushl %%ebp\n\t"
		     "call gandalf_attack_slot\n\t"
		     "popl %%ebp"
		     : "=a" (faulted)
		     : "0" (0)
		     : "ebx", "ecx", "edx", "esi", "edi", "memory", "cc");
	return outcome_of(faulted, OUTCOME_WROTE);
}

/* Executes an instruction that no CPU knows, COUNT times. */
static enum outcome attack_invalid(struct request *request)
{
	u32 faulted = 1;
	u32 i;

	for (i = 0; i < request->argument[0]; i++)
		TRY(faulted, "1: ud2", NO_OUTPUT, "i" (0));
	return outcome_of(faulted, OUTCOME_WROTE);
}

static enum outcome attack_out(struct request *request)
{
	u32 faulted = 1;

	TRY(faulted, "1: outb %%al, %%dx", NO_OUTPUT,
	    "a" (request->argument[1]), "d" (request->argument[0]));
	return outcome_of(faulted, OUTCOME_WROTE);
}

static enum outcome attack_in(struct request *request)
{
	u32 faulted = 1;

	TRY(faulted, "1: inb %%dx, %%al", "=&a" (request->value), "d" (request->argument[0]));
	request->value &= 0xff;
	return outcome_of(faulted, OUTCOME_READ);
}

/* Executes the real CLI and then loops for so many milliseconds. */
static enum outcome attack_spin(struct request *request)
{
	unsigned long flags;
	u32 faulted = 1;

	local_irq_save(flags);
	TRY(faulted, "1: cli", NO_OUTPUT, "i" (0));
	mdelay(request->argument[0]);
	local_irq_restore(flags);
	return outcome_of(faulted, OUTCOME_WROTE);
}

/* Pushes with a bad stack pointer, so that the exception has no stack to arrive on. */
static enum outcome attack_stack(struct request *request)
{
	u32 faulted = 1;
	u32 kept;

	TRY_AND_CLEAN(faulted,
		      "movl %%esp, %[k]\n\t"
		      "movl %[a], %%esp\n\t"
		      "1: pushl %[a]",
		      "movl %[k], %%esp",
		      [k] "=&r" (kept), [a] "r" (request->argument[0]));
	return outcome_of(faulted, OUTCOME_WROTE);
}

/* Raises an exception where nothing has a handler. A CPU would reset. */
static enum outcome attack_triple_fault(struct request *request)
{
	struct desc_ptr nothing = { 0 };

	local_irq_disable();
	load_idt(&nothing);
	asm volatile("ud2");
	return OUTCOME_WROTE;
}

const struct attack instruction_attacks[] = {
	{ "hypercall", "NUMBER EBX ECX EDX", false, 4, attack_hypercall },
	{ "jump", "ADDRESS", false, 1, attack_jump },
	{ "opcode", "LENGTH WORD [WORD WORD]", false, 2, attack_opcode },
	{ "invalid", "COUNT", false, 1, attack_invalid },
	{ "out", "PORT VALUE", false, 2, attack_out },
	{ "in", "PORT", false, 1, attack_in },
	{ "spin", "MILLISECONDS", false, 1, attack_spin },
	{ "stack", "ADDRESS", false, 1, attack_stack },
	{ "triple-fault", "", false, 0, attack_triple_fault },
	{ NULL },
};
