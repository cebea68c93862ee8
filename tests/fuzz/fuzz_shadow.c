/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what the VMM keeps of a guest's page tables. An input is a program: what a guest with page
 * tables of its own does to them, to its registers and with its memory, in ring 1 and ring 3, and
 * what comes from outside meanwhile. It runs on the VMM's own code from the first handler on, by a
 * processor whose TLB forgets nothing before it must. After each step the invariant of
 * debug/shadow_check.c holds, and nothing is granted that the guest's tables have not.
 */
#define _GNU_SOURCE
#include "input.h"
#include "shadow_oracle.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* The guest's physical memory: its descriptor tables, code and data; behind the directories its
 * page tables: those of the kernel half, which all share, and three for each directory. */
#define GDT_FRAME 0x1000u
#define IDT_FRAME 0x2000u
#define TSS_FRAME 0x3000u
#define CODE_FRAME 0x4000u
#define DATA_FRAME 0x5000u
#define KERNEL_TABLE(slot) ((11u + (slot)) << PAGE_SHIFT)
#define USER_TABLE(directory, slot) ((16u + (directory) * SLOTS + (slot)) << PAGE_SHIFT)
#define KERNEL_BASE SHADOW_KERNEL
#define APIC_FRAME 0xfee00000u
/* A second place of the GDT's page, with room for others around it. */
#define GDT_ALIAS (KERNEL_BASE + LARGE_PAGE_SIZE + 0x2000)
#define KERNEL_STACK (KERNEL_BASE + TSS_FRAME + 0xc00)
#define KERNEL_CODE 0x60u
#define KERNEL_DATA 0x68u
#define USER_CODE 0x73u
#define USER_DATA 0x7bu
#define TASK 0x80u
#define UPCALL_RETURN_ERROR SELECTOR_VMM_CODE
#define FIRST_VECTOR 0x30u
#define MAPPED (PTE_P | PTE_W | PTE_A | PTE_D)

static struct input input;
static bool booted, learns; /* it has its tables; it is to learn the 8259s' vectors before that */
static u32 last_page; /* of all that steps are about: the next may be about it as well */
static unsigned copies_to_interrupt; /* so many accesses of the VMM further it is interrupted */

static u32 take(unsigned bytes)
{
	return input_take(&input, bytes);
}

/* Choices */

static u32 take_frame(void)
{
	static const u32 others[] = {
		APIC_FRAME, GUEST_SIZE, GUEST_SIZE - PAGE_SIZE, LARGE_PAGE_SIZE,
		MACHINE_POOL - GUEST_BASE, MACHINE_POOL + 0x3000 - GUEST_BASE,
		LAYOUT_PHYSICAL - GUEST_BASE, PTE_FRAME,
	};
	u32 what = take(1);

	return what < 0xe0 ? (what & 31) << PAGE_SHIFT : others[what % ARRAY_SIZE(others)];
}

/* Any of some pages of any kind; the one before, so that steps meet; or where the descriptor tables
 * are. */
static u32 take_linear(void)
{
	static const u32 slots[] = { 0, 1, 0x2ff, 0x300, 0x301, 0x301, 0x3ef, 0x3f0 };
	static const u32 offsets[] = { 0, 4, 8, 0x40, 0x7fc, 0xff8, 0xffc, 0xffe };
	u32 what = take(2);

	if (what >> 13 < 4)
		last_page = slots[what >> 4 & 7] << 22 | (what & 15) << 12;
	else if (what >> 13 == 4)
		last_page = x86->gdt_base & PTE_FRAME;
	else if (what >> 13 == 5)
		last_page = GDT_ALIAS;
	return last_page | offsets[what >> 8 & 7];
}

static u32 take_flags(void)
{
	static const u32 bits[] = { PTE_P, PTE_W, PTE_U, PTE_A, PTE_D, PTE_G, PTE_PCD };
	u32 what = take(1), flags = what & 0x80 ? MAPPED | PTE_U : 0;

	for (u32 i = 0; i < ARRAY_SIZE(bits); i++)
		flags |= what >> i & 1 ? bits[i] : 0;
	return flags;
}

/* The guest's memory */

static void guest_store(u32 address, u32 value)
{
	*guest_word(address) = value;
}

static void guest_store_64(u32 address, u64 value)
{
	guest_store(address, (u32)value);
	guest_store(address + 4, (u32)(value >> 32));
}

static void kernel_entry_set(u32 slot, u32 value)
{
	for (u32 i = 0; i < DIRECTORIES; i++)
		guest_store(DIRECTORY_FRAME(i) + kernel_slots[slot] * 4, value);
}

/* A kernel at KERNEL_BASE that sees the first of its memory there, and three processes. */
static void page_tables_make(void)
{
	for (u32 i = 0; i < 64; i++)
		guest_store(KERNEL_TABLE(0) + i * 4, i << PAGE_SHIFT | MAPPED | PTE_G);
	guest_store(KERNEL_TABLE(1), APIC_FRAME | MAPPED);
	guest_store(KERNEL_TABLE(1) + 4, GUEST_SIZE | MAPPED);
	guest_store(KERNEL_TABLE(1) + 8, GDT_FRAME | MAPPED);
	for (u32 i = 3; i < 8; i++)
		guest_store(KERNEL_TABLE(1) + i * 4,
			    i << PAGE_SHIFT | PTE_P | PTE_U | (i & 1 ? PTE_W : 0));
	for (u32 slot = 0; slot < SLOTS; slot++)
		kernel_entry_set(slot, KERNEL_TABLE(slot) | MAPPED | (slot == 0 ? 0 : PTE_U));
	for (u32 i = 0; i < DIRECTORIES; i++)
		for (u32 slot = 0; slot < SLOTS; slot++) {
			guest_store(DIRECTORY_FRAME(i) + user_slots[slot] * 4,
				    USER_TABLE(i, slot) | MAPPED | PTE_U);
			for (u32 page = 0; page < USER_PAGES; page++)
				guest_store(USER_TABLE(i, slot) + page * 4,
					    (page + slot) << PAGE_SHIFT | PTE_P | PTE_W | PTE_U);
		}
}

static void descriptor_set(u32 selector, u64 value)
{
	guest_store_64(GDT_FRAME + (selector & ~7u), value);
}

static void descriptor_tables_make(void)
{
	const u32 handler = KERNEL_BASE + CODE_FRAME + 0x800;

	descriptor_set(KERNEL_CODE, segment_descriptor(0, 0xffffffff, 0x9a, true));
	descriptor_set(KERNEL_DATA, segment_descriptor(0, 0xffffffff, 0x92, true));
	descriptor_set(USER_CODE, segment_descriptor(0, 0xffffffff, 0xfa, true));
	descriptor_set(USER_DATA, segment_descriptor(0, 0xffffffff, 0xf2, true));
	descriptor_set(TASK, segment_descriptor(KERNEL_BASE + TSS_FRAME, 0x67, 0x89, false));
	for (u32 vector = 0; vector < 256; vector++)
		guest_store_64(IDT_FRAME + vector * 8,
			       (handler & 0xffff) | (u64)KERNEL_CODE << 16 | (u64)0xee << 40 |
				       (u64)(handler >> 16) << 48);
	guest_store(TSS_FRAME + 4, KERNEL_BASE + TSS_FRAME + 0xff0);
	guest_store(TSS_FRAME + 8, KERNEL_DATA);
}

/* The guest's registers */

static void to_ring(u32 ring)
{
	struct frame *frame = vcpu->frame;
	bool paging = (x86->cr0 & CR0_PG) != 0;

	world_goes_on(ring);
	frame->cs = ring == 3 ? USER_CODE : KERNEL_CODE | WORLD_KERNEL_RING;
	frame->ss = ring == 3 ? USER_DATA : KERNEL_DATA | WORLD_KERNEL_RING;
	frame->ds = frame->es = USER_DATA;
	frame->esp = ring == 3 ? DATA_FRAME : KERNEL_STACK - x86->upcall_depth * 0x80;
	frame->eip = CODE_FRAME + (ring == 3 || !paging ? 0 : KERNEL_BASE);
	if (ring == 3)
		frame->eflags |= EFLAGS_IF;
}

/* Its instruction is where its code is, and where its tables say so, if they do. Whether the
 * processor finds it there, which may have another page in mind. */
static bool code_put(const u8 *code, u32 size)
{
	struct rights rights = guest_walk(x86->cr3, x86->cr4, vcpu->frame->eip);

	memcpy(guest_word(CODE_FRAME), code, size);
	if (x86->shadow.current != NULL && rights.present && rights.frame < GUEST_SIZE)
		memcpy(guest_word(rights.frame), code, size);
	rights = tlb_walk(vcpu->frame->eip);
	return rights.present && rights.frame - GUEST_BASE < GUEST_SIZE &&
	       memcmp(physical + rights.frame, code, size) == 0;
}

/* A privileged instruction of ring 1; whether it was executed, or raised an exception. */
static bool execute(const char *code, u32 size, u32 eax)
{
	bool there;
	u32 eip;

	to_ring(1);
	vcpu->frame->eax = eax;
	there = code_put((const u8 *)code, size);
	eip = vcpu->frame->eip;
	oracle_note();
	guest_enters(EXCEPTION_GP, true, 0, false);
	return there && vcpu->frame->eip == eip + size;
}

#define EXECUTE(code, eax) execute(code, sizeof(code) - 1, eax)

static void hypercall(u32 number, u32 ebx, u32 ecx, u32 edx)
{
	struct frame *frame = vcpu->frame;

	to_ring(1);
	frame->eax = number;
	frame->ebx = ebx;
	frame->ecx = ecx;
	frame->edx = edx;
	guest_enters(GANDALF_HYPERCALL_VECTOR, false, 0, false);
}

/* Steps: what the guest writes to its tables */

/* The guest's entry for a page, if its tables have a place for one. */
static u32 *page_entry(u32 linear)
{
	u32 *pde = guest_word((x86->cr3 & PTE_FRAME) + (linear >> 22) * 4);

	return pde != NULL ? guest_word((*pde & PTE_FRAME) + (linear >> 12) % 1024 * 4) : NULL;
}

static void step_page(void)
{
	u32 what = take(1), page = take(1) % KERNEL_PAGES, value = take_frame() | take_flags();
	u32 *entry = page_entry(last_page);

	if (what & 0x40 && entry != NULL)
		*entry = value;
	else if (what & 0x80)
		guest_store(KERNEL_TABLE(1 + (what & 1)) + page * 4, value);
	else
		guest_store(USER_TABLE(what >> 2 & 3 ? directory_number(x86->cr3) % DIRECTORIES
						     : what % DIRECTORIES, what >> 4 & 1) +
				    page % USER_PAGES * 4, value);
}

static void step_directory(void)
{
	u32 what = take(1), flags = take_flags() | (what & 0x10 ? PTE_PS : 0), slot = what % SLOTS;
	u32 frame = flags & PTE_PS ? (what >> 5 & 3) << LARGE_PAGE_SHIFT : take_frame();
	u32 directory = what >> 2 & 3;

	if (what & 0x80)
		kernel_entry_set(slot, what & 0x08 ? KERNEL_TABLE(slot) | MAPPED : frame | flags);
	else
		guest_store(DIRECTORY_FRAME(directory % DIRECTORIES) + user_slots[slot] * 4,
			    directory == 3 ? USER_TABLE(0, slot) | MAPPED | PTE_U : frame | flags);
}

/* Steps: registers and flushes */

static void step_cr3(void)
{
	u32 what = take(1), before = x86->cr3, since = now;
	u32 value = what < 0xf0 ? DIRECTORY_FRAME(what % DIRECTORIES) : take_frame();

	if (!EXECUTE("\x0f\x22\xd8", value) || (x86->cr0 & CR0_PG) == 0)
		return;
	if (value == before || !x86->shadow.caching || world_detects())
		oracle_flush_space(value, 0, SHADOW_KERNEL, since);
	oracle_flush_kernel((x86->cr4 & CR4_PGE) == 0, since);
}

static void step_cr0(void)
{
	u32 what = take(1), since = now, before = x86->cr0;
	u32 value = CR0_PE | (what & 7 ? CR0_PG | CR0_WP : 0) | (what & 8 ? CR0_TS : 0);

	if (EXECUTE("\x0f\x22\xc0", value) && (value & ~before & CR0_PG))
		oracle_flush_all(since);
}

static void step_cr4(void)
{
	u32 what = take(1), since = now, before = x86->cr4, directory = x86->cr3;
	u32 value = (what & 3 ? CR4_PGE : 0) | (what & 12 ? CR4_PSE : 0) |
		    (what & 16 ? CR4_TSD : 0) | (what == 0xff ? CR4_PAE : 0);
	bool done = EXECUTE("\x0f\x22\xe0", value);

	if (!done || (value & CR4_PAE))
		return;
	require(vcpu->tsd == (x86->cr4 & CR4_TSD));
	if (((value ^ before) & (CR4_PGE | CR4_PSE)) == 0 || (x86->cr0 & CR0_PG) == 0)
		return;
	oracle_flush_space(directory, 0, SHADOW_KERNEL, since);
	oracle_flush_kernel(true, since);
}

static void step_invalidate(void)
{
	u32 linear = take_linear(), since = now, directory = x86->cr3;
	/* By then its segment may be any. */
	u32 base = descriptor_base(vcpu->tables->gdt[USER_DATA / 8]);

	if (EXECUTE("\x0f\x01\x38", linear - base) && (x86->cr0 & CR0_PG))
		history_flush(history_find(directory, linear), since);
}

static void step_flush(void)
{
	u32 what = take(1), since = now, start = take_linear(), end = take_linear();
	u32 directory = DIRECTORY_FRAME(what % DIRECTORIES);

	if (what & 0x40)
		start = 0;
	if (what & 0x80)
		end = UINT32_MAX;
	hypercall(GANDALF_HYPERCALL_FLUSH, directory, start, end);
	if (start < end && x86->shadow.caching &&
	    (!world_detects() || directory == (x86->cr3 & PTE_FRAME)))
		oracle_flush_space(directory, start, end, since);
}

static void step_tables(void)
{
	static const u32 frames[] = { GDT_FRAME, IDT_FRAME, TSS_FRAME, DATA_FRAME };
	u32 what = take(1), linear = KERNEL_BASE + frames[what & 3];

	if ((what >> 4 & 3) == 3)
		linear = take_linear();
	guest_store(DATA_FRAME, (what & 0x40 ? 0x7ff : 0xff) | linear << 16);
	guest_store(DATA_FRAME + 4, linear >> 16);
	if ((what & 3) == 0)
		EXECUTE("\x0f\x01\x10", KERNEL_BASE + DATA_FRAME);
	else if ((what & 3) == 1)
		EXECUTE("\x0f\x01\x18", KERNEL_BASE + DATA_FRAME);
	else if ((what & 3) == 2)
		EXECUTE("\x0f\x00\xd8", what & 0x80 ? what : TASK);
	else
		hypercall(GANDALF_HYPERCALL_LOAD_TLS, linear, 0, 0);
}

static void step_instruction(void)
{
	u32 eax = take_linear();

	switch (take(1) % 8) {
	case 0:
		EXECUTE("\xfa", eax);
		break;
	case 1:
		EXECUTE("\xfb", eax);
		break;
	case 2:
		EXECUTE("\xf4", eax);
		break;
	case 3:
		EXECUTE("\xcf", eax);
		break;
	case 4:
		EXECUTE("\xe6\x80", eax >> 12);
		break;
	case 5:
		EXECUTE("\x8e\xd0", KERNEL_DATA);
		break;
	case 6:
		EXECUTE("\x0f\x06", eax);
		break;
	default:
		EXECUTE("\x0f\x20\xd0", eax);
	}
}

/* Steps: accesses */

/* What the CPU itself does: an access through the TLB. The error code of its fault, or 0. */
static u32 access_by_cpu(u32 linear, u32 error, u32 value)
{
	struct rights rights = tlb_walk(linear);
	bool global;

	error = world_error(error);
	if (!rights_allow(rights, error)) {
		bool present = shadow_walk(processor.cr3, linear, &global).present;

		tlb_drop_page(linear);
		directory_cache[linear >> 22].valid = false;
		return error | PF_P * present | 0x80000000;
	}
	if ((error & PF_W) == 0)
		return 0;
	if (linear < GANDALF_BASE) {
		frame_is_guests(rights.frame);
		*physical_word(rights.frame + (linear & 0xffc)) = value;
	}
	return 0;
}

/* A store that the VMM has made in the guest's place went to a page that may be written there. */
static void store_was_right(u32 linear, u32 stores)
{
	u32 frame = GUEST_BASE + x86->shadow.protected_frame;

	if (vcpu->counters[COUNTER_gdt_writes] != stores && !may_write(linear, frame)) {
		fprintf(stderr, "broken: a store at %x goes to the protected page\n", linear);
		abort();
	}
}

/* One instruction, as often as it is faulted and repeated. error: PF_W, PF_U. */
static void access_page(u32 linear, u32 error, const u8 *code, u32 size)
{
	u32 eip, fault, eflags = vcpu->frame->eflags & EFLAGS_IF;

	to_ring(error & PF_U ? 3 : 1);
	code_put(code, size);
	eip = vcpu->frame->eip;
	oracle_note();
	for (unsigned tries = 0; (fault = access_by_cpu(linear, error, vcpu->frame->eax)) != 0;
	     tries++) {
		u32 stores = vcpu->counters[COUNTER_gdt_writes];

		if (tries == 8) {
			fprintf(stderr, "broken: %x faults for ever, error code %x\n", linear,
				error);
			abort();
		}
		processor.cr2 = linear;
		guest_enters(EXCEPTION_PF, true, fault & 7, false);
		store_was_right(linear, stores);
		oracle_note();
		if (vcpu->frame->eip != eip)
			break;
	}
	vcpu->frame->eflags |= eflags;
}

static void step_access(void)
{
	u32 what = take(1), linear = take_linear();

	vcpu->frame->eax = take(1) << 12 | take_flags();
	access_page(linear, what & (PF_W | PF_U), (const u8 *)"\x90", 1);
}

/* A page is used, which need not be the guest's, and its entry leads elsewhere then, often to
 * where the GDT is: nothing is flushed in between. */
static void step_replace(void)
{
	u32 what = take(1), linear = take_linear();
	u32 first = what & 1 ? GUEST_SIZE : take_frame();
	u32 then = what & 2 ? GDT_FRAME : take_frame();
	u32 *entry = page_entry(linear);

	if (entry == NULL)
		return;
	*entry = first | MAPPED;
	access_page(linear, 0, (const u8 *)"\x90", 1);
	entry = page_entry(linear);
	if (entry != NULL)
		*entry = then | MAPPED;
}

/* MOV to memory in a form that the VMM emulates: the short one, and others. */
static void step_store(void)
{
	u32 what = take(1), linear = take_linear();
	u8 code[16] = { 0 };

	vcpu->frame->eax = take(2);
	vcpu->frame->ebx = linear;
	code[0] = 0xa3;
	memcpy(code + 1, &linear, sizeof(linear));
	if ((what & 3) == 1)
		memcpy(code, "\x89\x03", 2);
	else if ((what & 3) == 2)
		memcpy(code, "\x89\x05", 2), memcpy(code + 2, &linear, sizeof(linear));
	else if ((what & 3) == 3)
		memcpy(code, "\xc7\x03\x34\x12\x00\x00", 6);
	access_page(linear, PF_W, code, 8);
}

/* Steps: what comes from outside, and exceptions */

static void step_exception(void)
{
	static const u8 vectors[] = { 0, 1, 3, 4, 6, 7, 11, 12, 13, 16, 17, 19, 2, 13, 8, 5 };
	u32 what = take(1), vector = vectors[what & 15];

	if (!world_raises(vector))
		return;
	to_ring(what & 0x20 ? 3 : 1);
	if (what >> 6 == 3)
		vcpu->frame->esp = take_linear();
	else if (what >> 6 == 2)
		vcpu->frame->esp = last_page + 0x800;
	guest_enters(vector, EXCEPTION_ERROR_CODES >> vector & 1, what >> 5 << 2,
		     (what & 0x10) != 0);
}

/* By any vector, if its controllers are the guest's. */
static u32 take_vector(void)
{
	u32 vector = take(1);

	return !x86->policy->interruptible ? vector : 0x20 | (vector & 31);
}

static void step_interrupt(void)
{
	u32 what = take(1);

	to_ring(what & 1 ? 3 : 1);
	vcpu->frame->eflags |= EFLAGS_IF;
	vcpu->frame->ds = what & 2 ? SELECTOR_VMM_CODE : USER_DATA;
	if (what & 4)
		vcpu->frame->cs = what & 8 ? SELECTOR_VMM_CODE : what;
	guest_enters(what & 0x10 ? world_call(take_vector()) : take_vector(), false, 0,
		     (what & 4) != 0);
}

/* From here on something waits that the VMM lets in at its points, and where it works. */
static void step_outside(void)
{
	u32 what = take(1);

	interrupts_wait = (what & 1) != 0;
	line_in_service = (int)(what >> 1 & 15) - 1;
	apic_vector = what & 0x20 ? 0x60 : 0;
	*(u32 *)(uintptr_t)(LAYOUT_APIC + 0xa0) = apic_vector & 0xf0;
	copies_to_interrupt = what >> 6;
	vcpu->frame->eflags |= EFLAGS_IF;
}

/* The handler of an upcall comes to its end, or says so, with another stack perhaps. */
static void step_return(void)
{
	u32 what = take(1);

	to_ring(1);
	if (x86->upcall_depth != 0)
		vcpu->frame->esp = x86->upcalls[x86->upcall_depth - 1].guest->esp - 12;
	if (what & 0x80)
		vcpu->frame->esp = take_linear();
	code_put((const u8 *)"\xcf", 1);
	oracle_note();
	guest_enters(EXCEPTION_GP, true, UPCALL_RETURN_ERROR, false);
}

static void admit(void)
{
	if (!interrupts_wait || core.current != vcpu || core.direct != vcpu)
		return;
	interrupts_wait = false;
	vmm_enters(POINT_EIP, EXCEPTION_GP, true, GUEST_KERNEL_CODE - 1);
}

static void interrupt_at_work(void)
{
	if (copies_to_interrupt == 0 || --copies_to_interrupt != 0 || !processor.interrupts)
		return;
	vmm_enters(COPY_EIP, take_vector(), false, 0);
}

static void guest_sleeps(void)
{
	idle_enters(booted ? take_vector() : FIRST_VECTOR);
}

static void guest_is_off(void)
{
	/* Its report shows where it was, and nothing of the VMM's. */
	require(vcpu->frame->eip != POINT_EIP);
	longjmp(over, 2);
}

/* Running */

#define STEP(name) { step_##name, #name }

/* TRACE in the environment has each step printed, to read an input that fails. */
static void step(void)
{
	static const struct {
		void (*take)(void);
		const char *name;
	} steps[] = {
		STEP(page), STEP(page), STEP(directory), STEP(cr3), STEP(cr0), STEP(cr4),
		STEP(invalidate), STEP(flush), STEP(tables), STEP(instruction), STEP(access),
		STEP(access), STEP(store), STEP(outside), STEP(return), STEP(exception),
		STEP(interrupt), STEP(replace),
	};
	u32 which = take(1) % ARRAY_SIZE(steps);

	oracle_note();
	if (getenv("TRACE") != NULL)
		fprintf(stderr, "%u: %s, CR0 %x CR3 %x CR4 %x, depth %u, stops %u\n", now,
			steps[which].name, x86->cr0, x86->cr3, x86->cr4, x86->upcall_depth, stops);
	steps[which].take();
	oracle_note();
	oracle_check();
}

static void guest_goes_on(void)
{
	oracle_note();
	oracle_check();
	while (input.size > 0)
		step();
}

/* As vm.c does it. */
static void guest_start(void)
{
	site_count = 0;
	booted = false;
	interrupts_wait = false;
	line_in_service = -1;
	apic_vector = 0;
	copies_to_interrupt = 0;
	core.current = &idle_vcpu;
	segment_reset(vcpu);
	vcpu->tsd = 0;
	memset(vcpu->shared, 0, sizeof(*vcpu->shared));
	vcpu->operations->start(vcpu);
	core.direct = !x86->policy->interruptible ? vcpu : NULL;
	address_space_load(vcpu);
	vcpu->state = VCPU_RUNNING;
	vcpu->attention = false;
	oracle_reset();
	fallocate(memory_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, GUEST_BASE, GUEST_SIZE);
	page_tables_make();
	descriptor_tables_make();
}

/* Up to where a kernel has its tables and its first process. */
static void guest_boot(void)
{
	guest_store_64(DATA_FRAME, 0xff | (u64)(KERNEL_BASE + GDT_FRAME) << 16);
	guest_store_64(DATA_FRAME + 8, 0x7ff | (u64)(KERNEL_BASE + IDT_FRAME) << 16);
	EXECUTE("\x0f\x22\xe0", CR4_PSE | CR4_PGE);
	EXECUTE("\x0f\x22\xd8", DIRECTORY_FRAME(0));
	EXECUTE("\x0f\x22\xc0", CR0_PE | CR0_PG | CR0_WP);
	EXECUTE("\x0f\x01\x10", KERNEL_BASE + DATA_FRAME);
	EXECUTE("\x0f\x01\x18", KERNEL_BASE + DATA_FRAME + 8);
	EXECUTE("\x0f\x00\xd8", TASK);
	if (learns) {
		line_in_service = 0;
		vcpu->frame->eflags |= EFLAGS_IF;
		EXECUTE("\xf4", 0);
	}
	booted = true;
	vcpu->frame->eflags |= EFLAGS_IF;
	oracle_note();
	oracle_check();
}

static void machine_make(u32 frames, bool dedicated)
{
	memset(memory_windows, 0, sizeof(memory_windows));
	machine_start(frames);
	memset(&core, 0, sizeof(core));
	memset(vms, 0, sizeof(vms));
	memset(vcpus, 0, sizeof(vcpus));
	memset(&idle_vcpu, 0, sizeof(idle_vcpu));
	memset(tlb, 0, sizeof(tlb));
	directory_cache_flush();
	tlb_turn = 0;
	processor.cr4 = CR4_PSE | CR4_PGE;
	processor.admit = admit;
	for (u32 i = LAYOUT_DIRECTORY_FIRST + 1; i < 1024; i++)
		memory_directory[i] = i << 22 | PTE_P | PTE_PS | PTE_G;
	guest = (struct gandalf_guest){ .memory_base = GUEST_BASE, .memory_size = GUEST_SIZE,
					.kind = dedicated ? GANDALF_KIND_LINUX_DEDICATED
							  : GANDALF_KIND_LINUX_SHARED };
	core.pauses = core.interruptible = true;
	apic_base = dedicated ? APIC_FRAME | 0x900 : 0;
	idle_vcpu.state = VCPU_RUNNING;
	idle_vcpu.trace = trace_rings;
	core.cr3 = idle_vcpu.cr3 = (u32)(uintptr_t)memory_directory;
	entries_make();
	trap_init();
	segment_init();
	vm->guest = &guest;
	vm->vcpus = vcpu;
	vcpu->vm = vm;
	vcpu->trace = trace_ring_of(0);
	vm->kind = kind_linked(guest.kind);
	hypercalls_give(vcpu);
	core.vcpu_count = 1;
	require(segment_create(vcpu) && vm->kind->create(vm) && stack_create());
	x86 = vm->vcpus->x86;
}

/* What a guest that has ended leaves, as vm.c gives it back. */
static void guest_end(void)
{
	vcpu->state = VCPU_OFF;
	vcpu->operations->stop(vcpu);
	address_space_load(&idle_vcpu);
	vcpu->operations->release(vcpu);
}

static void memory_map_fixed(void)
{
	static bool mapped;

	if (!mapped && mmap((void *)LAYOUT_APIC, PAGE_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		abort();
	mapped = true;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u32 pools[] = { 18, 22, 28, 60 };
	static u32 frames;
	volatile int how;

	memory_map_fixed();
	last_page = 0;
	input.data = data;
	input.size = size;
	how = (int)take(1);
	world_choose((u32)how >> 4);
	learns = WORLD_HAS_DEDICATED && (how & 3) == 3;
	machine_make(pools[how >> 2 & 3] + (how & 1 ? UPCALL_DEPTH : 0) + WORLD_FRAMES,
		     WORLD_HAS_DEDICATED && (how & 1));
	frames = pool_available;
	for (;;) {
		guest_start();
		how = setjmp(over);
		if (how == 0) {
			guest_boot();
			guest_goes_on();
		}
		guest_end();
		require(pool_available == frames);
		if (input.size == 0 || how == 1)
			return 0;
	}
}
