// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attacks by what only ring 0 may load. These are descriptor tables, control and debug registers,
 * MSRs and flags.
 */
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <asm/debugreg.h>
#include <asm/desc.h>
#include <asm/msr.h>
#include <asm/special_insns.h>

#include "gandalf_attack.h"

/* attack_NAME loads a descriptor table at its argument; RESTORE brings back the kernel's own. */
#define LOAD_TABLE(name, last, restore)						\
static enum outcome attack_##name(struct request *request)			\
{										\
	struct desc_ptr table = { .size = last, .address = request->argument[0] };\
	unsigned long flags;							\
	u32 faulted = 1;							\
										\
	local_irq_save(flags);							\
	TRY(faulted, "1: " #name " %[t]", NO_OUTPUT, [t] "m" (table));		\
	restore;								\
	local_irq_restore(flags);						\
	return outcome_of(faulted, OUTCOME_WROTE);				\
}

LOAD_TABLE(lgdt, 0xfff, load_fixmap_gdt(smp_processor_id()))
LOAD_TABLE(lidt, 0x7ff, load_current_idt())

/* attack_NAME loads its argument, which is %[v] in INSTRUCTION. */
#define LOAD_REGISTER(name, instruction)					\
static enum outcome attack_##name(struct request *request)			\
{										\
	u32 faulted = 1;							\
										\
	TRY(faulted, "1: " instruction, NO_OUTPUT, [v] "r" (request->argument[0]));\
	return outcome_of(faulted, OUTCOME_WROTE);				\
}

LOAD_REGISTER(lldt, "lldt %w[v]")
LOAD_REGISTER(ltr, "ltr %w[v]")
LOAD_REGISTER(cr0, "movl %[v], %%cr0")
LOAD_REGISTER(cr4, "movl %[v], %%cr4")

/*
 * attack_NAME reads where a descriptor table is. Without UMIP ring 1 may execute the instruction,
 * as it may STR. What it tells must be worth nothing.
 */
#define STORE_TABLE(name)							\
static enum outcome attack_##name(struct request *request)			\
{										\
	struct desc_ptr table = { 0 };						\
										\
	asm volatile(#name " %0" : "=m" (table));				\
	request->value = table.address;						\
	return OUTCOME_READ;							\
}

STORE_TABLE(sgdt)
STORE_TABLE(sidt)

static enum outcome attack_str(struct request *request)
{
	asm volatile("str %0" : "=r" (request->value));
	return OUTCOME_READ;
}

/* Loads a wild page directory for the time of one instruction. */
static enum outcome attack_cr3(struct request *request)
{
	u32 faulted = 1;
	u32 kept;

	TRY(faulted,
	    "movl %%cr3, %[k]\n\t"
	    "1: movl %[v], %%cr3\n\t"
	    "movl %[k], %%cr3",
	    [k] "=&r" (kept), [v] "r" (request->argument[0]));
	return outcome_of(faulted, OUTCOME_WROTE);
}

static enum outcome attack_wrmsr(struct request *request)
{
	int error = wrmsr_safe(request->argument[0], request->argument[1], request->argument[2]);

	return outcome_of(error != 0, OUTCOME_WROTE);
}

static enum outcome attack_rdmsr(struct request *request)
{
	u32 high;
	int error = rdmsr_safe(request->argument[0], &request->value, &high);

	return outcome_of(error != 0, OUTCOME_READ);
}

static enum outcome attack_popf(struct request *request)
{
	asm volatile("pushf\n\t"
		     "pushl %[f]\n\t"
		     "popf\n\t"
		     "pushf\n\t"
		     "popl %[v]\n\t"
		     "popf"
		     : [v] "=&r" (request->value)
		     : [f] "r" (request->argument[0])
		     : "memory", "cc");
	return OUTCOME_READ;
}

/* Sets a breakpoint on a linear address, in the hope of a hit in the VMM. The kind is 0 for
 * execution, 1 for writing, 3 for reading or writing. */
static enum outcome attack_breakpoint(struct request *request)
{
	u32 control = DR_GLOBAL_ENABLE | (request->argument[1] & 3) << DR_CONTROL_SHIFT;

	if (request->argument[1] & 3)
		control |= DR_LEN_4 << DR_CONTROL_SHIFT;
	set_debugreg(request->argument[0], 0);
	set_debugreg(request->argument[0] ? control : 0, 7);
	return OUTCOME_WROTE;
}

/* MOV SS delays a data breakpoint past the INT behind it, into the first VMM instruction. */
static enum outcome attack_mov_ss(struct request *request)
{
	static u32 selector;
	u32 control = DR_GLOBAL_ENABLE | (DR_RW_READ | DR_LEN_4) << DR_CONTROL_SHIFT;

	asm volatile("movl %%ss, %0" : "=r" (selector));
	set_debugreg((unsigned long)&selector, 0);
	set_debugreg(control, 7);
	asm volatile("movw %[s], %%ss\n\t"
		     "int %[vector]"
		     : "=a" (request->value)
		     : "0" (GANDALF_HYPERCALL_NULL), [s] "m" (selector),
		       [vector] "i" (GANDALF_HYPERCALL_VECTOR)
		     : "memory");
	set_debugreg(0, 7);
	return OUTCOME_READ;
}

const struct attack register_attacks[] = {
	{ "lgdt", "ADDRESS", false, 1, attack_lgdt },
	{ "lidt", "ADDRESS", false, 1, attack_lidt },
	{ "lldt", "SELECTOR", false, 1, attack_lldt },
	{ "ltr", "SELECTOR", false, 1, attack_ltr },
	{ "sgdt", "", false, 0, attack_sgdt },
	{ "sidt", "", false, 0, attack_sidt },
	{ "str", "", false, 0, attack_str },
	{ "cr0", "VALUE", false, 1, attack_cr0 },
	{ "cr3", "VALUE", false, 1, attack_cr3 },
	{ "cr4", "VALUE", false, 1, attack_cr4 },
	{ "rdmsr", "NUMBER", false, 1, attack_rdmsr },
	{ "wrmsr", "NUMBER LOW HIGH", false, 3, attack_wrmsr },
	{ "popf", "FLAGS", false, 1, attack_popf },
	{ "breakpoint", "ADDRESS KIND", false, 2, attack_breakpoint },
	{ "mov-ss", "", false, 0, attack_mov_ss },
	{ NULL },
};
