// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile driver: tries from ring 1 to read, write or stop what does not
 * belong to this guest. Built into the kernel variant `attack` only, for the
 * isolation tests.
 *
 * Write "NAME [number...]" to /dev/gandalf-attack, then read one line:
 *	NAME: fault		the CPU or the VMM refused it with an exception
 *	NAME: read VALUE	something came back
 *	NAME: wrote		it was carried out
 *	NAME: usage ARGUMENTS	arguments are missing
 * Some attacks end this guest instead; then the report is the VMM's. A read
 * before any write lists the attacks. Numbers are decimal, or hexadecimal with
 * 0x. Where a SEGMENT is named, one of ds es fs gs ss cs is meant.
 *
 * Nothing here takes a lock, because an attack may end its process anywhere.
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/asm.h>
#include <asm/debugreg.h>
#include <asm/desc.h>
#include <asm/io.h>
#include <asm/msr.h>
#include <asm/pgtable.h>
#include <asm/segment.h>
#include <asm/special_insns.h>
#include <asm/tlbflush.h>

#include "gandalf.h"

#define ARGUMENTS_MAXIMUM 4
#define SELECTORS 0x1000
/* GDT entries that the attacks overwrite: the first and last TLS descriptor. */
#define FLAT_ENTRY GDT_ENTRY_TLS_MIN
#define SPARE_ENTRY GDT_ENTRY_TLS_MAX
#define FLAT_SELECTOR (FLAT_ENTRY * 8 + 3)
#define SPARE_SELECTOR (SPARE_ENTRY * 8 + 1)
/* The page-directory entry of the VMM's first 4 MiB. */
#define VMM_DIRECTORY_INDEX (GANDALF_BASE >> PGDIR_SHIFT)
#define OPCODE_SIZE 15

enum outcome { OUTCOME_FAULT, OUTCOME_READ, OUTCOME_WROTE };

struct request {
	char segment[4];			/* "" if none was given */
	u32 argument[ARGUMENTS_MAXIMUM];
	unsigned int arguments;
	u32 value;				/* what OUTCOME_READ gives back */
};

struct attack {
	const char *name;
	const char *usage;
	bool segment;				/* a SEGMENT comes first */
	unsigned int arguments;			/* numbers that must follow */
	enum outcome (*run)(struct request *request);
};

static char answer[2048];

/*
 * Runs instructions of which the one labelled 1 may fault; FAULTED is then not
 * 0, and execution goes on with CLEANUP, as it does without a fault.
 */
#define TRY_AND_CLEAN(faulted, instructions, cleanup, outputs, inputs...)	\
	asm volatile("movl $1, %[fault]\n\t"				\
		     instructions "\n\t"				\
		     "movl $0, %[fault]\n"				\
		     "2: " cleanup "\n"					\
		     _ASM_EXTABLE(1b, 2b)				\
		     : [fault] "=&r" (faulted), outputs			\
		     : inputs						\
		     : "memory", "cc")
#define TRY(faulted, instructions, outputs, inputs...)			\
	TRY_AND_CLEAN(faulted, instructions, "", outputs, inputs)
/* Two outputs in the place of one, and none. */
#define BOTH(first, second) first, second
#define NO_OUTPUT "+m" (no_output)

static u32 no_output;

static enum outcome outcome_of(u32 faulted, enum outcome otherwise)
{
	return faulted ? OUTCOME_FAULT : otherwise;
}

/* --- Memory by each segment register --- */

static u32 read_segment(const char *segment, u32 address, u32 *value)
{
	u32 faulted = 1;

	if (!strcmp(segment, "ds"))
		TRY(faulted, "1: movl %%ds:(%[a]), %[v]", [v] "=&r" (*value), [a] "r" (address));
	else if (!strcmp(segment, "es"))
		TRY(faulted, "1: movl %%es:(%[a]), %[v]", [v] "=&r" (*value), [a] "r" (address));
	else if (!strcmp(segment, "fs"))
		TRY(faulted, "1: movl %%fs:(%[a]), %[v]", [v] "=&r" (*value), [a] "r" (address));
	else if (!strcmp(segment, "gs"))
		TRY(faulted, "1: movl %%gs:(%[a]), %[v]", [v] "=&r" (*value), [a] "r" (address));
	else if (!strcmp(segment, "ss"))
		TRY(faulted, "1: movl %%ss:(%[a]), %[v]", [v] "=&r" (*value), [a] "r" (address));
	else if (!strcmp(segment, "cs"))
		TRY(faulted, "1: movl %%cs:(%[a]), %[v]", [v] "=&r" (*value), [a] "r" (address));
	return faulted;
}

static u32 write_segment(const char *segment, u32 address, u32 value)
{
	u32 faulted = 1;

	if (!strcmp(segment, "ds"))
		TRY(faulted, "1: movl %[v], %%ds:(%[a])", NO_OUTPUT, [v] "r" (value), [a] "r" (address));
	else if (!strcmp(segment, "es"))
		TRY(faulted, "1: movl %[v], %%es:(%[a])", NO_OUTPUT, [v] "r" (value), [a] "r" (address));
	else if (!strcmp(segment, "fs"))
		TRY(faulted, "1: movl %[v], %%fs:(%[a])", NO_OUTPUT, [v] "r" (value), [a] "r" (address));
	else if (!strcmp(segment, "gs"))
		TRY(faulted, "1: movl %[v], %%gs:(%[a])", NO_OUTPUT, [v] "r" (value), [a] "r" (address));
	else if (!strcmp(segment, "ss"))
		TRY(faulted, "1: movl %[v], %%ss:(%[a])", NO_OUTPUT, [v] "r" (value), [a] "r" (address));
	else if (!strcmp(segment, "cs"))
		TRY(faulted, "1: movl %[v], %%cs:(%[a])", NO_OUTPUT, [v] "r" (value), [a] "r" (address));
	return faulted;
}

static enum outcome attack_read(struct request *request)
{
	u32 faulted = read_segment(request->segment, request->argument[0], &request->value);

	return outcome_of(faulted, OUTCOME_READ);
}

static enum outcome attack_write(struct request *request)
{
	u32 faulted = write_segment(request->segment, request->argument[0], request->argument[1]);

	return outcome_of(faulted, OUTCOME_WROTE);
}

/*
 * Loads SELECTOR into a segment register, reads or writes through it, and puts
 * the old selector back, all without a use of memory by the changed register
 * in between: the compiler may use any of the others at any time.
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

/* Returns whether it faulted; *value is written to ADDRESS or read from it. */
static u32 access_through(const char *segment, u32 selector, u32 address, u32 *value, u32 store)
{
	u32 faulted = 1, data = *value, old;
	unsigned long flags;

	local_irq_save(flags);
	if (!strcmp(segment, "ds"))
		THROUGH("ds");
	else if (!strcmp(segment, "es"))
		THROUGH("es");
	else if (!strcmp(segment, "fs"))
		THROUGH("fs");
	else if (!strcmp(segment, "gs"))
		THROUGH("gs");
	else if (!strcmp(segment, "ss"))
		THROUGH("ss");
	local_irq_restore(flags);
	*value = data;
	return faulted;
}

static struct desc_struct flat_descriptor(u32 base)
{
	/* Present, DPL 3, data, writable, 4 GiB. */
	struct desc_struct flat = GDT_ENTRY_INIT(0xc0f2, base, 0xfffff);

	return flat;
}

/* Makes the first TLS descriptor flat, as the C library does; then as read and write. */
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
 * Every selector value in every data segment register: does any of them reach
 * the address? Not in SS, where the 16-bit segments of the guest's own GDT
 * would leave the exception without a stack.
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

/* --- Far transfers and gates --- */

struct far_pointer {
	u32 offset;
	u16 selector;
} __packed;

/*
 * Where the transfers arrive: notes the code selector. `landing` was called
 * and returns; `arrival` was jumped to and leaves by the kept way back.
 */
asm(".pushsection .text\n"
    "gandalf_attack_landing:\n\t"
    "movl %cs, %eax\n\t"
    "lret\n"
    "gandalf_attack_arrival:\n\t"
    "movl %cs, %eax\n\t"
    "ljmp *gandalf_attack_back\n"
    ".popsection\n");
extern const char gandalf_attack_landing[], gandalf_attack_arrival[];
struct far_pointer gandalf_attack_back;

static u32 far_call(u32 selector, u32 offset, u32 *code)
{
	struct far_pointer target = { .offset = offset, .selector = selector };
	u32 faulted = 1;

	TRY(faulted, "1: lcall *%[t]", [c] "=&a" (*code), [t] "m" (target));
	return faulted;
}

static u32 far_jump(u32 selector, u32 offset, u32 *code)
{
	struct far_pointer target = { .offset = offset, .selector = selector };
	u32 faulted = 1;

	TRY(faulted,
	    "movl $3f, gandalf_attack_back\n\t"
	    "movw %%cs, gandalf_attack_back + 4\n\t"
	    "1: ljmp *%[t]\n"
	    "3:", [c] "=&a" (*code), [t] "m" (target));
	return faulted;
}

static u32 landing_offset(const struct request *request, const char *otherwise)
{
	return request->arguments > 1 ? request->argument[1] : (u32)otherwise;
}

static enum outcome attack_far_call(struct request *request)
{
	u32 offset = landing_offset(request, gandalf_attack_landing);

	return outcome_of(far_call(request->argument[0], offset, &request->value), OUTCOME_READ);
}

static enum outcome attack_far_jump(struct request *request)
{
	u32 offset = landing_offset(request, gandalf_attack_arrival);

	return outcome_of(far_jump(request->argument[0], offset, &request->value), OUTCOME_READ);
}

/* Every selector value as the target of a far call and a far jump: does any lead to ring 0? */
static enum outcome attack_far_all(struct request *request)
{
	u32 selector, code;

	for (selector = 0; selector < SELECTORS; selector++) {
		if ((!far_call(selector, (u32)gandalf_attack_landing, &code) && !(code & 3)) ||
		    (!far_jump(selector, (u32)gandalf_attack_arrival, &code) && !(code & 3))) {
			request->value = selector;
			return OUTCOME_READ;
		}
	}
	return OUTCOME_FAULT;
}

/* Puts a descriptor into the GDT as plain memory, and has the VMM look at the table again. */
static void store_descriptor(unsigned int entry, struct desc_struct descriptor)
{
	get_cpu_gdt_rw(smp_processor_id())[entry] = descriptor;
	load_fixmap_gdt(smp_processor_id());
}

static struct desc_struct gate_descriptor_of(u32 selector, u32 offset, u32 type)
{
	u32 low = selector << 16 | (offset & 0xffff);
	u32 high = (offset & 0xffff0000) | 0x8000 | 3 << 13 | type << 8;
	struct desc_struct gate;

	memcpy(&gate, &low, sizeof(low));
	memcpy((u8 *)&gate + sizeof(low), &high, sizeof(high));
	return gate;
}

static enum outcome attack_gate(struct request *request, u32 type)
{
	struct desc_struct kept = get_cpu_gdt_rw(smp_processor_id())[SPARE_ENTRY];
	u32 offset = landing_offset(request, gandalf_attack_landing);
	u32 faulted;

	store_descriptor(SPARE_ENTRY, gate_descriptor_of(request->argument[0], offset, type));
	faulted = far_call(SPARE_SELECTOR, 0, &request->value);
	store_descriptor(SPARE_ENTRY, kept);
	return outcome_of(faulted, OUTCOME_READ);
}

static enum outcome attack_call_gate(struct request *request)
{
	return attack_gate(request, GATE_CALL);
}

static enum outcome attack_task_gate(struct request *request)
{
	return attack_gate(request, GATE_TASK);
}

/* A data segment of 4 GiB with a base of one's choice: the offset wraps around to the address. */
static enum outcome attack_descriptor(struct request *request)
{
	struct desc_struct kept = get_cpu_gdt_rw(smp_processor_id())[SPARE_ENTRY];
	u32 base = request->argument[0];
	u32 address = request->argument[1];
	u32 store = request->arguments > 2;
	u32 faulted;

	request->value = request->argument[2];
	store_descriptor(SPARE_ENTRY, flat_descriptor(base));
	faulted = access_through("es", SPARE_SELECTOR, address - base, &request->value, store);
	store_descriptor(SPARE_ENTRY, kept);
	return outcome_of(faulted, store ? OUTCOME_WROTE : OUTCOME_READ);
}

/* IRET to a code selector and flags of one's choice; reads the flags it leaves. */
static enum outcome attack_iret(struct request *request)
{
	u32 faulted = 1;
	u32 stack;

	TRY_AND_CLEAN(faulted,
		      "movl %%esp, %[s]\n\t"
		      "pushl %[f]\n\t"
		      "pushl %[c]\n\t"
		      "pushl $3f\n\t"
		      "1: iret\n"
		      "3: pushf\n\t"
		      "popl %[v]",
		      "movl %[s], %%esp",
		      BOTH([v] "=&r" (request->value), [s] "=&r" (stack)),
		      [c] "r" (request->argument[0]), [f] "r" (request->argument[1]));
	return outcome_of(faulted, OUTCOME_READ);
}

/* --- Tables and control registers --- */

static enum outcome attack_lgdt(struct request *request)
{
	struct desc_ptr table = { .size = 0xfff, .address = request->argument[0] };
	unsigned long flags;
	u32 faulted = 1;

	local_irq_save(flags);
	TRY(faulted, "1: lgdt %[t]", NO_OUTPUT, [t] "m" (table));
	load_fixmap_gdt(smp_processor_id());
	local_irq_restore(flags);
	return outcome_of(faulted, OUTCOME_WROTE);
}

static enum outcome attack_lidt(struct request *request)
{
	struct desc_ptr table = { .size = 0x7ff, .address = request->argument[0] };
	unsigned long flags;
	u32 faulted = 1;

	local_irq_save(flags);
	TRY(faulted, "1: lidt %[t]", NO_OUTPUT, [t] "m" (table));
	load_current_idt();
	local_irq_restore(flags);
	return outcome_of(faulted, OUTCOME_WROTE);
}

static enum outcome attack_lldt(struct request *request)
{
	u32 faulted = 1;

	TRY(faulted, "1: lldt %w[s]", NO_OUTPUT, [s] "r" (request->argument[0]));
	return outcome_of(faulted, OUTCOME_WROTE);
}

static enum outcome attack_ltr(struct request *request)
{
	u32 faulted = 1;

	TRY(faulted, "1: ltr %w[s]", NO_OUTPUT, [s] "r" (request->argument[0]));
	return outcome_of(faulted, OUTCOME_WROTE);
}

/* These are allowed in ring 1 without UMIP; what they tell must be worth nothing. */
static enum outcome attack_sgdt(struct request *request)
{
	struct desc_ptr table = { 0 };

	asm volatile("sgdt %0" : "=m" (table));
	request->value = table.address;
	return OUTCOME_READ;
}

static enum outcome attack_sidt(struct request *request)
{
	struct desc_ptr table = { 0 };

	asm volatile("sidt %0" : "=m" (table));
	request->value = table.address;
	return OUTCOME_READ;
}

static enum outcome attack_str(struct request *request)
{
	asm volatile("str %0" : "=r" (request->value));
	return OUTCOME_READ;
}

static enum outcome attack_cr0(struct request *request)
{
	u32 faulted = 1;

	TRY(faulted, "1: movl %[v], %%cr0", NO_OUTPUT, [v] "r" (request->argument[0]));
	return outcome_of(faulted, OUTCOME_WROTE);
}

static enum outcome attack_cr4(struct request *request)
{
	u32 faulted = 1;

	TRY(faulted, "1: movl %[v], %%cr4", NO_OUTPUT, [v] "r" (request->argument[0]));
	return outcome_of(faulted, OUTCOME_WROTE);
}

/* A wild page directory for the time of one instruction. */
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

	return outcome_of(rdmsr_safe(request->argument[0], &request->value, &high) != 0, OUTCOME_READ);
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

/* A breakpoint on a linear address: 0 execute, 1 write, 3 read or write. Any hit in the VMM? */
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

/* --- Page tables --- */

static enum outcome access_page(struct request *request, u32 address)
{
	u32 faulted;

	request->value = request->argument[1];
	if (request->arguments > 1) {
		faulted = write_segment("ds", address, request->argument[1]);
		return outcome_of(faulted, OUTCOME_WROTE);
	}
	return outcome_of(read_segment("ds", address, &request->value), OUTCOME_READ);
}

/* A page-table entry for a guest-physical address of one's choice. */
static enum outcome attack_page(struct request *request)
{
	enum outcome outcome = OUTCOME_FAULT;
	unsigned int level;
	void *page = vmalloc(PAGE_SIZE);
	pte_t *entry = page ? lookup_address((unsigned long)page, &level) : NULL;
	pte_t kept;

	if (!entry)
		return outcome;
	kept = *entry;
	set_pte(entry, __pte((request->argument[0] & PAGE_MASK) | __PAGE_KERNEL));
	__flush_tlb_all();
	outcome = access_page(request, (u32)page + (request->argument[0] & ~PAGE_MASK));
	set_pte(entry, kept);
	__flush_tlb_all();
	vfree(page);
	return outcome;
}

/* A page-directory entry of one's choice in the loaded address space, for one access. */
static enum outcome access_directory(struct request *request, unsigned int index, u32 entry,
				     u32 address)
{
	pgd_t *directory = (pgd_t *)__va(read_cr3_pa()) + index;
	enum outcome outcome;
	pgd_t kept = *directory;

	WRITE_ONCE(directory->pgd, entry);
	__flush_tlb_all();
	outcome = access_page(request, address);
	WRITE_ONCE(directory->pgd, kept.pgd);
	flush_tlb_mm(current->mm);
	__flush_tlb_all();
	return outcome;
}

/* A free entry below the kernel's half, so that nothing of this process is in the way. */
static unsigned int free_directory_index(void)
{
	pgd_t *directory = __va(read_cr3_pa());
	unsigned int index = KERNEL_PGD_BOUNDARY;

	while (index > 0 && directory[index].pgd)
		index--;
	return index;
}

/* The whole table of a page-directory entry lies at the guest-physical address. */
static enum outcome attack_page_table(struct request *request)
{
	unsigned int index = free_directory_index();
	u32 entry = (request->argument[0] & PAGE_MASK) | _KERNPG_TABLE;

	return access_directory(request, index, entry, index << PGDIR_SHIFT);
}

/* A large page at the guest-physical address. */
static enum outcome attack_large_page(struct request *request)
{
	unsigned int index = free_directory_index();
	u32 entry = (request->argument[0] & PGDIR_MASK) | __PAGE_KERNEL_LARGE;
	u32 address = (index << PGDIR_SHIFT) + (request->argument[0] & ~PGDIR_MASK);

	return access_directory(request, index, entry, address);
}

/* The guest's own entry for the VMM's part of the address space: a large page of its memory. */
static enum outcome attack_directory(struct request *request)
{
	unsigned int index = request->argument[0] >> PGDIR_SHIFT;

	if (index < VMM_DIRECTORY_INDEX)
		return OUTCOME_FAULT;
	return access_directory(request, index, __PAGE_KERNEL_LARGE | _PAGE_USER,
				request->argument[0]);
}

/* --- Hypercalls and instructions --- */

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
 * A call to an address. Where the page refuses to execute, the fault is at the
 * address itself: then the kernel reports an oops and ends this process.
 */
static enum outcome attack_jump(struct request *request)
{
	u32 target = request->argument[0];
	u32 faulted = 1;

	TRY(faulted, "1: call *%[t]", [t] "+&r" (target), "i" (0));
	return outcome_of(faulted, OUTCOME_WROTE);
}

/* Room for one instruction, written through a second mapping of its page. */
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

/* Runs one instruction, given as bytes in words: opcode LENGTH LOW [HIGH...]. */
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

/* An instruction that no CPU knows, COUNT times. */
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

/* The real CLI, then a loop of so many milliseconds. */
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

/* A push with a bad stack pointer: the exception has no stack to arrive on. */
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

/* No handler for anything, then an exception: a CPU would reset. */
static enum outcome attack_triple_fault(struct request *request)
{
	struct desc_ptr nothing = { 0 };

	local_irq_disable();
	load_idt(&nothing);
	asm volatile("ud2");
	return OUTCOME_WROTE;
}

/* --- The device --- */

static const struct attack attacks[] = {
	{ "read", "SEGMENT ADDRESS", true, 1, attack_read },
	{ "write", "SEGMENT ADDRESS VALUE", true, 2, attack_write },
	{ "flat-read", "SEGMENT ADDRESS", true, 1, attack_flat_read },
	{ "flat-write", "SEGMENT ADDRESS VALUE", true, 2, attack_flat_write },
	{ "through", "SEGMENT SELECTOR ADDRESS [VALUE]", true, 2, attack_through },
	{ "selectors", "ADDRESS", false, 1, attack_selectors },
	{ "far-call", "SELECTOR [OFFSET]", false, 1, attack_far_call },
	{ "far-jump", "SELECTOR [OFFSET]", false, 1, attack_far_jump },
	{ "far-all", "", false, 0, attack_far_all },
	{ "call-gate", "SELECTOR [OFFSET]", false, 1, attack_call_gate },
	{ "task-gate", "SELECTOR", false, 1, attack_task_gate },
	{ "descriptor", "BASE ADDRESS [VALUE]", false, 2, attack_descriptor },
	{ "iret", "SELECTOR FLAGS", false, 2, attack_iret },
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
	{ "page", "GUEST-PHYSICAL [VALUE]", false, 1, attack_page },
	{ "page-table", "GUEST-PHYSICAL [VALUE]", false, 1, attack_page_table },
	{ "large-page", "GUEST-PHYSICAL [VALUE]", false, 1, attack_large_page },
	{ "directory", "ADDRESS [VALUE]", false, 1, attack_directory },
	{ "hypercall", "NUMBER EBX ECX EDX", false, 4, attack_hypercall },
	{ "jump", "ADDRESS", false, 1, attack_jump },
	{ "opcode", "LENGTH WORD [WORD WORD]", false, 2, attack_opcode },
	{ "invalid", "COUNT", false, 1, attack_invalid },
	{ "out", "PORT VALUE", false, 2, attack_out },
	{ "in", "PORT", false, 1, attack_in },
	{ "spin", "MILLISECONDS", false, 1, attack_spin },
	{ "stack", "ADDRESS", false, 1, attack_stack },
	{ "triple-fault", "", false, 0, attack_triple_fault },
};

static const struct attack *find_attack(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attacks); i++)
		if (!strcmp(attacks[i].name, name))
			return &attacks[i];
	return NULL;
}

/* Fills REQUEST from the words behind the name. Returns whether the attack can run with it. */
static bool parse_request(const struct attack *attack, char *words, struct request *request)
{
	char *word;

	memset(request, 0, sizeof(*request));
	if (attack->segment) {
		word = strsep(&words, " ");
		if (!word || strscpy(request->segment, word, sizeof(request->segment)) != 2)
			return false;
	}
	while ((word = strsep(&words, " ")) != NULL) {
		if (request->arguments == ARGUMENTS_MAXIMUM)
			return false;
		if (kstrtou32(word, 0, &request->argument[request->arguments]))
			return false;
		request->arguments++;
	}
	return request->arguments >= attack->arguments;
}

static void run_attack(char *line)
{
	const char *name = strsep(&line, " ");
	const struct attack *attack = find_attack(name);
	struct request request;

	if (!attack) {
		scnprintf(answer, sizeof(answer), "%s: unknown\n", name);
		return;
	}
	if (!parse_request(attack, line, &request)) {
		scnprintf(answer, sizeof(answer), "%s: usage %s\n", name, attack->usage);
		return;
	}
	switch (attack->run(&request)) {
	case OUTCOME_FAULT:
		scnprintf(answer, sizeof(answer), "%s: fault\n", name);
		break;
	case OUTCOME_READ:
		scnprintf(answer, sizeof(answer), "%s: read 0x%08x\n", name, request.value);
		break;
	case OUTCOME_WROTE:
		scnprintf(answer, sizeof(answer), "%s: wrote\n", name);
		break;
	}
}

static ssize_t attack_device_write(struct file *file, const char __user *buffer, size_t count,
				   loff_t *position)
{
	char line[96];
	size_t length = min(count, sizeof(line) - 1);

	if (copy_from_user(line, buffer, length))
		return -EFAULT;
	line[length] = '\0';
	line[strcspn(line, "\n")] = '\0';
	run_attack(line);
	return count;
}

static ssize_t attack_device_read(struct file *file, char __user *buffer, size_t count,
				  loff_t *position)
{
	return simple_read_from_buffer(buffer, count, position, answer, strlen(answer));
}

static const struct file_operations attack_operations = {
	.owner = THIS_MODULE,
	.write = attack_device_write,
	.read = attack_device_read,
};

static struct miscdevice attack_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gandalf-attack",
	.fops = &attack_operations,
};

static int __init attack_init(void)
{
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attacks); i++)
		used += scnprintf(answer + used, sizeof(answer) - used, "%s %s\n",
				  attacks[i].name, attacks[i].usage);
	return misc_register(&attack_device);
}
device_initcall(attack_init);
