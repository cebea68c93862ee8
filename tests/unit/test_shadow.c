/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow page tables against a model that shares nothing with them: one walker
 * over the guest's tables, one over the shadow's, and a TLB that keeps what it
 * may. A guest that keeps the rules must never see more than its tables allow; one
 * that does not must still see nothing but its own memory.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <setjmp.h>

#include "core/log.h"
#include "core/pc.h"
#include "core/trace.h"
#include "ia32/shadow.h"
#include "ia32/switch.h"
#include "machine.h"

#define GUEST_BASE 0x1000000u
#define GUEST_SIZE 0x800000u
#define BASE_DIRECTORY LAYOUT_DIRECTORY_FIRST
#define KERNEL_DIRECTORY 0x300u
#define FRAMES_OF_GUEST (GUEST_SIZE / PAGE_SIZE)

struct core core;
struct vcpu idle_vcpu;
static unsigned breaths;
static struct vm vm;
static struct vcpu vcpu;
static struct gandalf_shared shared;
static struct pc pc;
static struct gandalf_guest guest;
static bool stopped;
static u32 random_state;
/* What the VMM has in its part of every directory, and in the vCPU's table. */
static u32 vmm_entries[1024];
static u32 table_copy[1024];

static u32 random_below(u32 limit)
{
	return random_next(&random_state) % limit;
}

static bool one_in(u32 number)
{
	return random_below(number) == 0;
}

/* What a random step asks for, and may be refused. */
static void may_fail(bool result)
{
	(void)result;
}

/* Stand-ins for the rest of the VMM. */

void schedule_breathe(void)
{
	breaths++;
}

struct gandalf_trace_event trace_events[GANDALF_TRACE_EVENTS];
u32 trace_next;

void vm_stop(struct vm *which, const char *pattern, ...)
{
	(void)which;
	(void)pattern;
	stopped = true;
}

void panic(const char *pattern, ...)
{
	(void)pattern;
	abort();
}

void switch_leave_space(const struct vcpu *which)
{
	if (which->cr3 != 0 && core.cr3 == which->cr3) {
		core.cr3 = (u32)(uintptr_t)memory_directory;
		cr3_write(core.cr3);
	}
}

/* The walkers */

struct rights {
	bool present, writable, user, dirty;
	u32 frame;
};

static u32 *guest_word(u32 address)
{
	return address < GUEST_SIZE ? physical_word(GUEST_BASE + address) : NULL;
}

static struct rights leaf(u32 pde, u32 entry, u32 frame)
{
	return (struct rights){
		.present = true,
		.writable = (pde & entry & PTE_W) != 0,
		.user = (pde & entry & PTE_U) != 0,
		.dirty = (entry & PTE_D) != 0,
		.frame = frame,
	};
}

static struct rights guest_walk(u32 directory, u32 linear)
{
	const u32 *word = guest_word((directory & PTE_FRAME) + (linear >> 22) * 4);
	u32 pde = word != NULL ? *word : 0;

	if ((pde & PTE_P) == 0)
		return (struct rights){ 0 };
	if ((pde & PTE_PS) && (pc.cr4 & CR4_PSE))
		return leaf(pde, pde, (pde & 0xffc00000) + (linear & 0x3ff000));
	word = guest_word((pde & PTE_FRAME) + (linear >> 12) % 1024 * 4);
	if (word == NULL || (*word & PTE_P) == 0)
		return (struct rights){ 0 };
	return leaf(pde, *word, *word & PTE_FRAME);
}

static struct rights shadow_walk(u32 directory, u32 linear, bool *global)
{
	u32 pde = *physical_word(directory + (linear >> 22) * 4);
	u32 pte;

	*global = false;
	if ((pde & PTE_P) == 0)
		return (struct rights){ 0 };
	*global = (pde & PTE_G) != 0;
	if (pde & PTE_PS)
		return leaf(pde, pde, (pde & 0xffc00000) + (linear & 0x3ff000));
	pte = *physical_word((pde & PTE_FRAME) + (linear >> 12) % 1024 * 4);
	*global = (pte & PTE_G) != 0;
	return pte & PTE_P ? leaf(pde, pte, pte & PTE_FRAME) : (struct rights){ 0 };
}

/* The TLB: what the processor may still use. */

struct translation_entry {
	bool valid, global, large;
	u32 page;
	struct rights rights;
};

static struct translation_entry tlb[64];

/* And the directory entries that it may use for addresses not yet in it. */
static struct {
	bool valid;
	u32 pde;
} directory_cache[1024];

static void directory_cache_flush(void)
{
	memset(directory_cache, 0, sizeof(directory_cache));
}

static void tlb_drop(bool also_global)
{
	for (unsigned i = 0; i < ARRAY_SIZE(tlb); i++)
		if (also_global || !tlb[i].global)
			tlb[i].valid = false;
	directory_cache_flush();
}

void processor_set_cr3(u32 value)
{
	processor.cr3 = value;
	tlb_drop(false);
}

void processor_set_cr4(u32 value)
{
	if ((processor.cr4 ^ value) & CR4_PGE)
		tlb_drop(true);
	processor.cr4 = value;
}

static void tlb_drop_page(u32 linear)
{
	for (unsigned i = 0; i < ARRAY_SIZE(tlb); i++)
		if (tlb[i].page == linear >> 12 ||
		    (tlb[i].large && tlb[i].page >> 10 == linear >> 22))
			tlb[i].valid = false;
}

void processor_invlpg(u32 address)
{
	if (is_window(address)) {
		window_follow(address);
		return;
	}
	tlb_drop_page(address);
	directory_cache_flush();
}

void processor_sleep(void)
{
	fail();
}

static struct translation_entry *tlb_find(u32 linear)
{
	for (unsigned i = 0; i < ARRAY_SIZE(tlb); i++)
		if (tlb[i].valid && tlb[i].page == linear >> 12)
			return &tlb[i];
	return NULL;
}

static struct rights tlb_walk(u32 linear)
{
	struct translation_entry *entry = tlb_find(linear);
	struct rights rights;
	bool global;

	if (entry != NULL)
		return entry->rights;
	rights = shadow_walk(processor.cr3, linear, &global);
	directory_cache[linear >> 22].pde = *physical_word(processor.cr3 + (linear >> 22) * 4);
	directory_cache[linear >> 22].valid = (directory_cache[linear >> 22].pde & PTE_P) != 0;
	if (!rights.present)
		return rights;
	entry = &tlb[random_below(ARRAY_SIZE(tlb))];
	*entry = (struct translation_entry){
		.valid = true,
		.global = global && (processor.cr4 & CR4_PGE),
		.large = (directory_cache[linear >> 22].pde & PTE_PS) != 0,
		.page = linear >> 12,
		.rights = rights,
	};
	return rights;
}

static bool rights_allow(struct rights rights, u32 error)
{
	return rights.present && ((error & PF_W) == 0 || rights.writable) &&
	       ((error & PF_U) == 0 || rights.user);
}

/* One access of the guest; what became of it in the end. */
static enum shadow_result access_memory(u32 linear, u32 error)
{
	/* With direct gates a frame is zeroed first, in four steps at most. */
	unsigned limit = pc.dedicated ? 6 : 2;
	enum shadow_result result;

	for (unsigned tries = 0; tries < limit; tries++) {
		bool global;
		bool present = shadow_walk(processor.cr3, linear, &global).present;
		u32 code = error | (present ? PF_P : 0);

		if (rights_allow(tlb_walk(linear), error))
			return SHADOW_FILLED;
		tlb_drop_page(linear);
		directory_cache[linear >> 22].valid = false;
		result = shadow_fill(&pc, linear, &code);
		if (result != SHADOW_FILLED)
			return result;
	}
	print_message("access to %x, error code %x, faults for ever\n", linear, error);
	fail();
	return SHADOW_FAULT;
}

/* What must hold always. */

static bool frame_seen[1024];
static u32 frames_seen;

static void frame_claim(u32 frame)
{
	u32 number = (frame - MACHINE_POOL) / PAGE_SIZE;

	/* The first holds the marks. */
	assert_true(frame > MACHINE_POOL && number <= pool_frames);
	assert_false(frame_seen[number]);
	frame_seen[number] = true;
	frames_seen++;
}

static void leaf_is_guests(u32 entry, bool large)
{
	u32 frame = entry & (large ? 0xffc00000 : PTE_FRAME);
	u32 size = large ? LARGE_PAGE_SIZE : PAGE_SIZE;

	if ((entry & PTE_P) == 0)
		return;
	if (!large && frame == pc.shadow.nothing) {
		assert_int_equal(entry & PTE_W, 0);
		return;
	}
	assert_true(frame >= GUEST_BASE && frame - GUEST_BASE <= GUEST_SIZE - size);
}

static void table_is_guests(u32 frame)
{
	frame_claim(frame);
	for (u32 i = 0; i < 1024; i++)
		if (*physical_word(frame + i * 4) != 0)
			leaf_is_guests(*physical_word(frame + i * 4), false);
}

/* The entries of a directory from first on: leaves are the guest's, tables the
 * pool's. Shared entries are looked at once, in the master. */
static void directory_is_sound(u32 directory, u32 first, u32 end)
{
	for (u32 i = first; i < end; i++) {
		u32 pde = *physical_word(directory + i * 4);

		if ((pde & PTE_P) == 0)
			assert_int_equal(pde, 0);
		else if (pde & PTE_PS)
			leaf_is_guests(pde, true);
		else
			table_is_guests(pde & PTE_FRAME);
	}
}

static void vmm_part_is_intact(u32 directory)
{
	assert_memory_equal(physical + directory + BASE_DIRECTORY * 4,
			    &vmm_entries[BASE_DIRECTORY], (1024 - BASE_DIRECTORY) * 4);
}

static struct space *space_of(u32 index)
{
	u32 frame = pc.shadow.space_frames[index / SHADOW_SPACES_PER_FRAME];

	return (struct space *)(physical + frame) + index % SHADOW_SPACES_PER_FRAME;
}

static void space_is_sound(const struct space *space)
{
	frame_claim(space->directory);
	vmm_part_is_intact(space->directory);
	assert_memory_equal(physical + space->directory + KERNEL_DIRECTORY * 4,
			    physical + pc.shadow.master + KERNEL_DIRECTORY * 4,
			    (BASE_DIRECTORY - KERNEL_DIRECTORY) * 4);
	directory_is_sound(space->directory, 0, KERNEL_DIRECTORY);
}

static void tlb_is_guests(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(tlb); i++) {
		if (!tlb[i].valid || tlb[i].page >= GANDALF_BASE >> 12)
			continue;
		if (tlb[i].rights.frame == pc.shadow.nothing)
			assert_false(tlb[i].rights.writable);
		else
			assert_true(tlb[i].rights.frame - GUEST_BASE < GUEST_SIZE);
	}
	/* A table that the processor can still reach must not have been freed. */
	for (u32 i = 0; i < BASE_DIRECTORY; i++)
		if (directory_cache[i].valid && (directory_cache[i].pde & PTE_PS) == 0)
			assert_true(frame_seen[((directory_cache[i].pde & PTE_FRAME) -
						MACHINE_POOL) / PAGE_SIZE]);
}

static void check_isolation(void)
{
	struct shadow *shadow = &pc.shadow;

	memset(frame_seen, 0, sizeof(frame_seen));
	frames_seen = 0;
	frame_claim(vcpu.table_frame);
	frame_claim(shadow->master);
	frame_claim(shadow->identity);
	frame_claim(shadow->nothing);
	frame_claim(shadow->space_frames[0]);
	frame_claim(shadow->space_frames[1]);
	directory_is_sound(shadow->master, KERNEL_DIRECTORY, BASE_DIRECTORY);
	directory_is_sound(shadow->identity, 0, BASE_DIRECTORY);
	vmm_part_is_intact(shadow->master);
	vmm_part_is_intact(shadow->identity);
	assert_memory_equal(physical + vcpu.table_frame, table_copy, PAGE_SIZE);
	for (u32 i = 0; i < SHADOW_SPACES_PER_FRAME * SHADOW_SPACE_FRAMES; i++)
		if (space_of(i)->directory != 0)
			space_is_sound(space_of(i));
	assert_int_equal(frames_seen + pool_available, pool_frames);
	assert_int_equal(processor.cr3, vcpu.cr3);
	tlb_is_guests();
}

/* What must hold for a guest that keeps the rules. */

static u32 directories[12];

static bool any_dirty(u32 linear)
{
	for (unsigned i = 0; i < ARRAY_SIZE(directories); i++)
		if (guest_walk(directories[i], linear).dirty)
			return true;
	return false;
}

static void rights_are_covered(struct rights shadow, u32 directory, u32 linear)
{
	struct rights real = guest_walk(directory, linear);
	bool dirty = real.dirty || (linear >= KERNEL_DIRECTORY << 22 && any_dirty(linear));

	if (!shadow.present)
		return;
	if (!real.present || shadow.user > real.user || shadow.writable > real.writable ||
	    shadow.writable > dirty)
		print_message("shadow of %x in %x: U %d W %d; guest: P %d U %d W %d D %d\n", linear,
			      directory, shadow.user, shadow.writable, real.present, real.user,
			      real.writable, real.dirty);
	assert_true(real.present);
	assert_true(shadow.user <= real.user);
	assert_true(shadow.writable <= real.writable);
	assert_true(shadow.writable <= dirty);
	if (real.frame < GUEST_SIZE)
		assert_int_equal(shadow.frame, GUEST_BASE + real.frame);
	else
		assert_int_equal(shadow.frame, pc.shadow.nothing);
	if (pc.shadow.protected_frame != 0 && real.frame == pc.shadow.protected_frame &&
	    (directory == pc.cr3 || linear >= KERNEL_DIRECTORY << 22))
		assert_false(shadow.writable);
}

static u32 table_word(u32 pde, u32 index)
{
	return *physical_word((pde & PTE_FRAME) + index * 4);
}

static void half_is_covered(u32 shadow_directory, u32 directory, u32 first, u32 end)
{
	bool global;

	for (u32 i = first; i < end; i++) {
		u32 pde = *physical_word(shadow_directory + i * 4);

		if ((pde & PTE_P) == 0)
			continue;
		for (u32 page = 0; page < 1024; page += pde & PTE_PS ? 341 : 1)
			if ((pde & PTE_PS) || table_word(pde, page) != 0)
				rights_are_covered(shadow_walk(shadow_directory,
							       i << 22 | page << 12, &global),
						   directory, i << 22 | page << 12);
	}
}

static void check_coverage(void)
{
	for (u32 i = 0; i < SHADOW_SPACES_PER_FRAME * SHADOW_SPACE_FRAMES; i++)
		if (space_of(i)->directory != 0 &&
		    (pc.shadow.caching || space_of(i) == pc.shadow.current))
			half_is_covered(space_of(i)->directory, space_of(i)->guest, 0,
					KERNEL_DIRECTORY);
	if (pc.shadow.current == NULL)
		return;
	half_is_covered(pc.shadow.master, pc.cr3, KERNEL_DIRECTORY, BASE_DIRECTORY);
	for (unsigned i = 0; i < ARRAY_SIZE(tlb); i++)
		if (tlb[i].valid && tlb[i].page < GANDALF_BASE >> 12)
			rights_are_covered(tlb[i].rights, pc.cr3, tlb[i].page << 12);
}

/* Where a store to the protected page takes the short way, it is one, and allowed. */
static u32 short_ways;

static void short_way_is_right(void)
{
	u32 page = pc.shadow.protected_page;
	struct rights there, guests;
	bool global;

	if (pc.shadow.current == NULL || page == 0)
		return;
	there = shadow_walk(processor.cr3, page, &global);
	guests = guest_walk(pc.cr3, page);
	if (!there.present || there.writable)
		return;
	assert_true(rights_allow(guests, PF_W));
	assert_int_equal(guests.frame, pc.shadow.protected_frame);
	short_ways++;
}

/* Both walkers must agree on what an access comes to. */
static void access_and_check(u32 linear, u32 error)
{
	struct rights before = guest_walk(pc.cr3, linear);
	struct rights after;
	enum shadow_result result = access_memory(linear, error);

	/* As emulate_store() does. */
	if (result == SHADOW_PROTECTED && linear >= SHADOW_KERNEL)
		pc.shadow.protected_page = linear & PTE_FRAME;
	after = guest_walk(pc.cr3, linear);
	if (pc.shadow.current == NULL) {
		assert_int_equal(result, linear < GUEST_SIZE || (error & PF_W) == 0
						 ? SHADOW_FILLED : SHADOW_OUTSIDE);
		return;
	}
	if (result == SHADOW_FULL)
		return;
	if (!rights_allow(before, error))
		assert_int_equal(result, SHADOW_FAULT);
	else if ((error & PF_W) && before.frame >= GUEST_SIZE)
		assert_int_equal(result, (before.frame ^ pc.shadow.apic) < PAGE_SIZE ?
						 SHADOW_APIC : SHADOW_OUTSIDE);
	else if ((error & PF_W) && before.frame == pc.shadow.protected_frame && before.frame != 0)
		assert_int_equal(result, SHADOW_PROTECTED);
	else
		assert_int_equal(result, SHADOW_FILLED);
	if (result == SHADOW_FILLED && (error & PF_W))
		assert_true(after.dirty || any_dirty(linear));
}

/* Making and ending a guest */

static void guest_start(u32 frames)
{
	machine_start(frames);
	memset(&core, 0, sizeof(core));
	memset(&vm, 0, sizeof(vm));
	memset(&vcpu, 0, sizeof(vcpu));
	memset(&shared, 0, sizeof(shared));
	vcpu.shared = &shared;
	memset(&pc, 0, sizeof(pc));
	memset(tlb, 0, sizeof(tlb));
	directory_cache_flush();
	stopped = false;
	guest.memory_base = GUEST_BASE;
	guest.memory_size = GUEST_SIZE;
	vm.guest = &guest;
	vm.vcpu = &vcpu;
	vm.pc = &pc;
	vcpu.vm = &vm;
	pc.vm = &vm;
	pc.vcpu = &vcpu;
	core.current = &vcpu;
	vcpu.table_frame = pool_allocate();
	for (u32 i = 0; i < 1024; i++)
		table_copy[i] = *physical_word(vcpu.table_frame + i * 4) = i << 12 | PTE_P;
	for (u32 i = BASE_DIRECTORY + 1; i < 1024; i++)
		vmm_entries[i] = memory_directory[i] = i << 22 | PTE_P | PTE_PS | PTE_G;
	vmm_entries[BASE_DIRECTORY] = vcpu.table_frame | PTE_P | PTE_W | PTE_A;
	processor.cr4 = CR4_PSE | CR4_PGE;
	assert_true(shadow_create(&pc));
	shadow_reset(&pc);
	pc.cr0 = CR0_PE;
	core.cr3 = vcpu.cr3;
	cr3_write(vcpu.cr3);
}

/* But for the link, in the first word, and for what is marked, which is zeroed when the frame
 * is used again: check_isolation() has seen who has the others. */
static void free_frames_are_empty(void)
{
	for (u32 number = 1; number <= pool_frames; number++) {
		u32 frame = MACHINE_POOL + number * PAGE_SIZE;
		u32 marks = *pool_marks(frame);

		for (u32 word = 1; !frame_seen[number] && word < 1024; word++)
			if ((marks >> word * sizeof(u32) / POOL_GROUP & 1) == 0)
				assert_int_equal(*physical_word(frame + word * 4), 0);
	}
}

/* Only what was there before the first start is left. */
static void guest_end(void)
{
	breaths = 0;
	shadow_destroy(&vcpu);
	/* Others wait for a part of it only. */
	assert_true(breaths >= 100);
	assert_int_equal(core.cr3, (u32)(uintptr_t)memory_directory);
	assert_int_equal(pool_available, pool_frames - 6);
	for (u32 i = 0; i < SHADOW_HASH; i++)
		assert_int_equal(pc.shadow.hash[i], 0);
	shadow_reset(&pc);
	core.cr3 = vcpu.cr3;
	cr3_write(vcpu.cr3);
	pc.cr0 = CR0_PE;
	check_isolation();
	free_frames_are_empty();
}

static void cr0_load(u32 value)
{
	u32 changed = pc.cr0 ^ value;

	pc.cr0 = value;
	if (changed & CR0_PG)
		shadow_set_paging(&pc);
}

static void cr3_load(u32 value)
{
	u32 old = pc.cr3;

	pc.cr3 = value;
	shadow_load(&pc, old == value);
}

static void cr4_load(u32 value)
{
	u32 old = pc.cr4;

	pc.cr4 = value;
	if (old != value)
		shadow_flush_all(&pc);
}

/* A guest that keeps the rules: twelve directories with the same kernel half. */

static const u32 user_slots[] = { 0, 1, 0x20, 0x2ff };
static const u32 kernel_slots[] = { 0x300, 0x301, 0x302, 0x3ef };
#define TABLES_OF_DIRECTORIES 0x40000u
#define TABLES_OF_KERNEL 0x30000u

static u32 pde_address(u32 directory, u32 index)
{
	return directories[directory] + index * 4;
}

static u32 user_table(u32 directory, u32 slot)
{
	return TABLES_OF_DIRECTORIES + (directory * 4 + slot) * PAGE_SIZE;
}

static u32 random_frame(void)
{
	if (one_in(10))
		return (FRAMES_OF_GUEST + random_below(5000)) << 12;
	return random_below(FRAMES_OF_GUEST) << 12;
}

static u32 random_flags(void)
{
	u32 flags = PTE_P | (random_next(&random_state) & (PTE_W | PTE_U | PTE_A | PTE_D | PTE_G));

	return one_in(3) ? flags | PTE_U | PTE_A : flags;
}

static u32 random_pte(void)
{
	return one_in(4) ? 0 : random_frame() | random_flags();
}

static u32 random_pde(u32 table)
{
	if (one_in(8))
		return 0;
	if (one_in(6))
		return random_below(3) << 22 | PTE_PS | random_flags();
	return table | PTE_P | PTE_U | (one_in(4) ? 0 : PTE_W);
}

static void entry_set(u32 address, u32 value)
{
	*guest_word(address) = value;
}

static void kernel_pde_set(u32 index, u32 value)
{
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++)
		entry_set(pde_address(i, index), value);
}

static void tables_make(u32 seed)
{
	random_state = seed;
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++)
		/* Every third hashes to the same place. */
		directories[i] = 0x100000 + i % 3 * PAGE_SIZE + i / 3 * 0x80000;
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++) {
		for (u32 slot = 0; slot < ARRAY_SIZE(user_slots); slot++) {
			entry_set(pde_address(i, user_slots[slot]),
				  random_pde(user_table(i, slot)));
			for (u32 j = 0; j < 1024; j++)
				entry_set(user_table(i, slot) + j * 4, random_pte());
		}
	}
	for (u32 slot = 0; slot < ARRAY_SIZE(kernel_slots); slot++) {
		kernel_pde_set(kernel_slots[slot],
			       random_pde(TABLES_OF_KERNEL + slot * PAGE_SIZE) & ~PTE_U);
		for (u32 j = 0; j < 1024; j++)
			entry_set(TABLES_OF_KERNEL + slot * PAGE_SIZE + j * 4, random_pte());
	}
}

static u32 random_linear(void)
{
	u32 slot = random_below(4);
	u32 index = one_in(3) ? kernel_slots[slot] : user_slots[slot];
	/* Few pages, so that accesses meet edits. */
	u32 page = one_in(2) ? random_below(24) : random_below(1024);

	return index << 22 | page << 12 | random_below(PAGE_SIZE);
}

static bool is_kernel(u32 linear)
{
	return linear >= KERNEL_DIRECTORY << 22;
}

static void random_access(void)
{
	access_and_check(random_linear(), (random_next(&random_state) & (PF_W | PF_U)));
}

static u32 current_index(void)
{
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++)
		if (directories[i] == pc.cr3)
			return i;
	return 0;
}

/* More rights need no flush. */
static void random_upgrade(void)
{
	u32 directory = random_below(ARRAY_SIZE(directories));
	u32 linear = random_linear();
	u32 slot = random_below(4);
	u32 table = is_kernel(linear) ? TABLES_OF_KERNEL + slot * PAGE_SIZE
				      : user_table(directory, slot);
	u32 *entry = guest_word(table + (linear >> 12) % 1024 * 4);

	if (*entry & PTE_P)
		*entry |= random_next(&random_state) & (PTE_W | PTE_U | PTE_A | PTE_D);
	else
		*entry = random_pte();
}

static void kernel_flush_all(void)
{
	if (pc.cr4 & CR4_PGE) {
		cr4_load(pc.cr4 & ~CR4_PGE);
		cr4_load(pc.cr4 | CR4_PGE);
	} else {
		cr3_load(pc.cr3);
	}
}

static void user_flush(u32 directory, u32 linear, u32 size)
{
	bool current = directory == current_index();

	if (pc.shadow.caching) {
		u32 start = linear - (one_in(3) ? random_below(0x10000) & PTE_FRAME : 0);

		if (start > linear)
			start = linear;
		if (current && size == PAGE_SIZE && one_in(3))
			shadow_invalidate(&pc, linear);
		else if (current && one_in(6))
			cr3_load(pc.cr3);
		else if (one_in(8))
			shadow_flush(&pc, directories[directory], 0, 0xffffffff);
		else
			shadow_flush(&pc, directories[directory] | random_below(PAGE_SIZE), start,
				     linear + size);
	} else if (current) {
		if (size == PAGE_SIZE && one_in(2))
			shadow_invalidate(&pc, linear);
		else
			cr3_load(pc.cr3);
	}
}

/* Fewer rights, another page, another table: used between the store and the
 * flush, checked after the flush. */
static void random_downgrade(void)
{
	u32 directory = one_in(2) ? current_index() : random_below(ARRAY_SIZE(directories));
	u32 slot = random_below(4);
	u32 page = one_in(2) ? random_below(24) : random_below(1024);
	u32 linear = user_slots[slot] << 22 | page << 12;

	if (one_in(8)) {
		entry_set(pde_address(directory, user_slots[slot]),
			  random_pde(user_table(directory, slot)));
		user_flush(directory, user_slots[slot] << 22, LARGE_PAGE_SIZE);
		return;
	}
	entry_set(user_table(directory, slot) + page * 4, random_pte());
	if (one_in(4) && directory == current_index())
		access_memory(linear ^ 0x1000, PF_U);
	user_flush(directory, linear, PAGE_SIZE);
}

static void random_kernel_downgrade(void)
{
	u32 slot = random_below(4);
	u32 page = random_below(1024);

	/* Half of the time where the protected page is. */
	if (one_in(2))
		for (u32 i = 0; i < 4; i++)
			if (pc.shadow.protected_page >> 22 == kernel_slots[i]) {
				slot = i;
				page = pc.shadow.protected_page >> 12 & 1023;
			}
	if (one_in(4)) {
		kernel_pde_set(kernel_slots[slot],
			       random_pde(TABLES_OF_KERNEL + slot * PAGE_SIZE) & ~PTE_U);
		kernel_flush_all();
		return;
	}
	entry_set(TABLES_OF_KERNEL + slot * PAGE_SIZE + page * 4, random_pte());
	if (one_in(4) || pc.shadow.current == NULL)
		kernel_flush_all();
	else
		shadow_invalidate(&pc, kernel_slots[slot] << 22 | page << 12);
}

/* The kernel unmaps a whole address space, as at exit. */
static void random_exit(void)
{
	u32 directory = random_below(ARRAY_SIZE(directories));

	for (u32 slot = 0; slot < ARRAY_SIZE(user_slots); slot++)
		entry_set(pde_address(directory, user_slots[slot]), 0);
	if (pc.shadow.caching)
		shadow_flush(&pc, directories[directory], 0, 0xffffffff);
	else
		user_flush(directory, 0, KERNEL_DIRECTORY << 22);
	for (u32 slot = 0; slot < ARRAY_SIZE(user_slots); slot++)
		entry_set(pde_address(directory, user_slots[slot]),
			  random_pde(user_table(directory, slot)));
	if (!pc.shadow.caching && directory == current_index())
		cr3_load(pc.cr3);
}

static void random_switch(void)
{
	cr3_load(directories[random_below(ARRAY_SIZE(directories))]);
}

static void random_paging(void)
{
	cr0_load(pc.cr0 & ~CR0_PG);
	for (unsigned i = 0; i < 5; i++)
		access_and_check(one_in(2) ? random_below(GUEST_SIZE) : random_linear(),
				 random_next(&random_state) & (PF_W | PF_U));
	check_isolation();
	pc.cr3 = directories[random_below(ARRAY_SIZE(directories))];
	cr0_load(pc.cr0 | CR0_PG);
}

static void random_protection(void)
{
	struct rights rights;
	u32 linear;

	if (one_in(3)) {
		shadow_protect(&pc, one_in(3) ? 0 : random_below(FRAMES_OF_GUEST) << 12);
		return;
	}
	/* A GDT, and a store to it. */
	for (u32 i = 0; i < 20; i++) {
		linear = kernel_slots[random_below(4)] << 22 | random_below(24) << 12;
		rights = guest_walk(pc.cr3, linear);
		if (rights_allow(rights, PF_W) && rights.frame < GUEST_SIZE)
			break;
	}
	shadow_protect(&pc, rights.frame);
	access_and_check(linear, PF_W);
}

static void step_legal(bool caches)
{
	switch (random_below(40)) {
	case 0 ... 5:
		random_upgrade();
		break;
	case 6 ... 12:
		random_downgrade();
		break;
	case 13 ... 14:
		random_kernel_downgrade();
		break;
	case 15 ... 17:
		random_switch();
		break;
	case 18:
		if (one_in(3))
			random_exit();
		break;
	case 19:
		if (one_in(6))
			random_paging();
		break;
	case 20:
		if (one_in(6))
			random_protection();
		break;
	case 21:
		if (caches && !pc.shadow.caching && one_in(3))
			shadow_flush(&pc, pc.cr3, 0, 0xffffffff);
		break;
	default:
		random_access();
	}
}

static void run_legal(u32 seed, u32 frames, u32 steps, u32 cr4, bool caches)
{
	guest_start(frames);
	tables_make(seed);
	pc.cr4 = cr4;
	pc.cr3 = directories[0];
	cr0_load(CR0_PE | CR0_PG);
	for (u32 i = 0; i < steps && !stopped; i++) {
		step_legal(caches);
		short_way_is_right();
		if (i % 6 == 0) {
			check_isolation();
			check_coverage();
		}
	}
	assert_false(stopped);
	guest_end();
}

static void cached_spaces_cover_the_guests(void **state)
{
	(void)state;
	for (u32 seed = 1; seed <= 6; seed++)
		run_legal(seed, 1023, 1500, CR4_PSE | CR4_PGE, true);
}

static void uncached_spaces_cover_the_guests(void **state)
{
	(void)state;
	short_ways = 0;
	for (u32 seed = 11; seed <= 16; seed++)
		run_legal(seed, 1023, 1500, CR4_PSE | CR4_PGE, false);
	print_message("%u steps with a short way\n", short_ways);
	assert_true(short_ways > 20);
}

static void spaces_without_global_or_large_pages_cover_the_guests(void **state)
{
	(void)state;
	for (u32 seed = 21; seed <= 22; seed++) {
		run_legal(seed, 1023, 1000, CR4_PSE, true);
		run_legal(seed, 1023, 1000, CR4_PGE, true);
		run_legal(seed, 1023, 1000, 0, one_in(2));
	}
}

/* 26 frames: what one space can need, and a few more. */
static void eviction_keeps_a_poor_guest_running(void **state)
{
	u32 evictions = 0;

	(void)state;
	for (u32 seed = 31; seed <= 34; seed++) {
		run_legal(seed, 26, 1500, CR4_PSE | CR4_PGE, true);
		evictions += vcpu.counters[COUNTER_space_evictions];
	}
	assert_true(evictions > 40);
}

/* A guest that keeps no rule. */

static u32 hostile_linear(void)
{
	u32 linear = random_linear();

	if (one_in(6))
		return (BASE_DIRECTORY + random_below(16)) << 22 | (linear & 0x3fffff);
	return one_in(6) ? random_next(&random_state) : linear;
}

static u32 hostile_value(void)
{
	u32 value = one_in(2) ? random_pte() : random_next(&random_state);

	/* Its own tables and directories as pages and as tables. */
	if (one_in(4))
		value = random_below(0x100) << 12 | random_flags();
	return one_in(6) ? value | PTE_PS : value;
}

static void hostile_store(void)
{
	u32 directory = random_below(ARRAY_SIZE(directories));

	if (one_in(3))
		entry_set(pde_address(directory, hostile_linear() >> 22), hostile_value());
	else if (one_in(2))
		entry_set(user_table(directory, random_below(4)) + random_below(24) * 4,
			  hostile_value());
	else
		entry_set(TABLES_OF_KERNEL + random_below(0x1000) * 4, hostile_value());
}

static void hostile_fill(void)
{
	u32 error = random_next(&random_state);
	u32 linear = hostile_linear();

	/* From a fault, or out of the emulation of an instruction. */
	if (linear < GANDALF_BASE && !one_in(5))
		access_memory(linear, error & (PF_W | PF_U));
	else
		may_fail(shadow_fill(&pc, linear, &error) != SHADOW_FILLED);
}

static void hostile_load(void)
{
	u32 value = directories[random_below(ARRAY_SIZE(directories))];

	if (one_in(4))
		value |= random_below(PAGE_SIZE);
	if (one_in(8))
		value = random_next(&random_state);
	cr3_load(value);
}

/* A store of the VMM, as stack_writable() and guest_write() ask first: where the processor takes it,
 * since CR0.WP is 0 then and a page that it remembers as read-only does not stop it. */
static void vmm_stores(u32 linear)
{
	struct rights rights;

	if (linear >= GANDALF_BASE ||
	    (!shadow_is_writable(&vcpu, linear) && !shadow_make_writable(&pc, linear)))
		return;
	rights = tlb_walk(linear);
	if (rights.present)
		assert_true(rights.frame - GUEST_BASE < GUEST_SIZE);
}

static void step_hostile(void)
{
	switch (random_below(24)) {
	case 0 ... 6:
		hostile_store();
		break;
	case 7 ... 9:
		hostile_load();
		break;
	case 10:
		if (one_in(3))
			cr0_load(pc.cr0 ^ CR0_PG);
		break;
	case 11:
		if (one_in(5))
			cr4_load(random_next(&random_state) & (CR4_PSE | CR4_PGE));
		break;
	case 12:
		shadow_invalidate(&pc, hostile_linear());
		break;
	case 13:
		if (one_in(50) || pc.shadow.caching)
			shadow_flush(&pc, directories[random_below(ARRAY_SIZE(directories))],
				     hostile_linear(), hostile_linear());
		break;
	case 14:
		if (one_in(5))
			shadow_protect(&pc, one_in(3) ? random_next(&random_state) & PTE_FRAME
						      : random_below(FRAMES_OF_GUEST) << 12);
		break;
	case 15:
		may_fail(shadow_fill_for_vmm(&vcpu, hostile_linear()));
		may_fail(shadow_make_writable(&pc, random_linear()));
		vmm_stores(random_linear());
		break;
	default:
		hostile_fill();
	}
}

/* On a dedicated CPU: at points of long work the guest's own handlers run, which have had the
 * processor forget page tables first, do anything, and may stop the guest. */
static u32 point_depth, points_used;
static bool points_stop;
static jmp_buf given_up;

void upcall_point(struct pc *which)
{
	assert_ptr_equal(which, &pc);
	if (point_depth == UPCALL_DEPTH || !one_in(3))
		return;
	cr3_write(cr3_read());
	check_isolation();
	point_depth++;
	points_used++;
	for (u32 steps = random_below(6); steps != 0 && !stopped; steps--)
		step_hostile();
	check_isolation();
	if (points_stop && one_in(50))
		longjmp(given_up, 1);
	point_depth--;
}

static void run_interrupted(u32 seed, u32 frames, u32 steps)
{
	guest_start(frames);
	tables_make(seed);
	pc.cr4 = CR4_PSE | CR4_PGE;
	pc.cr3 = directories[0];
	pc.dedicated = true;
	pc.points = true;
	point_depth = 0;
	points_stop = seed % 2 != 0;
	if (setjmp(given_up) == 0)
		for (u32 i = 0; i < steps && !stopped; i++) {
			step_hostile();
			check_isolation();
		}
	guest_end();
}

static void a_hostile_guest_that_interrupts_the_vmm_gains_nothing(void **state)
{
	(void)state;
	points_used = 0;
	for (u32 seed = 301; seed <= 308; seed++)
		run_interrupted(seed, seed % 3 == 0 ? 14 + seed % 24 : 1023, 300);
	assert_true(points_used > 500);
}

static void run_hostile(u32 seed, u32 frames, u32 steps)
{
	guest_start(frames);
	tables_make(seed);
	pc.cr4 = CR4_PSE | CR4_PGE;
	pc.cr3 = directories[0];
	for (u32 i = 0; i < steps && !stopped; i++) {
		step_hostile();
		if (i % 4 == 0)
			check_isolation();
	}
	guest_end();
}

static void a_hostile_guest_reaches_nothing_else(void **state)
{
	(void)state;
	for (u32 seed = 101; seed <= 108; seed++)
		run_hostile(seed, 1023, 1000);
}

static void a_hostile_guest_gains_nothing_from_an_empty_pool(void **state)
{
	(void)state;
	for (u32 seed = 201; seed <= 224; seed++)
		run_hostile(seed, 14 + seed % 24, 500);
}

/* Single paths */

static void plain_start(u32 frames)
{
	guest_start(frames);
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++)
		directories[i] = 0x100000 + i * 0x80000;
	for (u32 i = 0; i < 1024; i++)
		entry_set(0x8000 + i * 4, i << 12 | PTE_P | PTE_W | PTE_U | PTE_A | PTE_D);
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++) {
		entry_set(pde_address(i, 0), 0x8000 | PTE_P | PTE_W | PTE_U);
		entry_set(pde_address(i, 0x300), PTE_P | PTE_W | PTE_PS | PTE_G);
	}
	pc.cr4 = CR4_PSE | CR4_PGE;
	pc.cr3 = directories[0];
	cr0_load(CR0_PE | CR0_PG);
}

static void the_pool_is_too_small_to_create(void **state)
{
	(void)state;
	for (u32 frames = 1; frames < 6; frames++) {
		machine_start(frames);
		assert_int_not_equal(pool_allocate(), 0);
		memset(&pc, 0, sizeof(pc));
		pc.vm = &vm;
		vm.guest = &guest;
		assert_false(shadow_create(&pc));
	}
}

/* Spaces made while paging was off and that hash alike must not be mixed up when
 * the only one in use changes its guest. */
static void paging_off_and_on_keeps_spaces_apart(void **state)
{
	(void)state;
	plain_start(64);
	cr0_load(CR0_PE);
	pc.cr3 = directories[1];
	cr0_load(CR0_PE | CR0_PG);
	cr3_load(directories[0]);
	cr3_load(directories[2]);
	check_isolation();
	assert_int_equal(pc.shadow.current->guest, directories[2]);
	cr3_load(directories[1]);
	assert_int_equal(pc.shadow.current->guest, directories[1]);
	guest_end();
}

/* Nothing is reported before the first flush hypercall: what was shadowed then must
 * not come back after paging was off. */
static void paging_off_forgets_what_nobody_flushed(void **state)
{
	(void)state;
	plain_start(64);
	assert_int_equal(access_memory(0x5000, PF_U | PF_W), SHADOW_FILLED);
	cr0_load(CR0_PE);
	entry_set(pde_address(0, 0), 0);
	pc.cr3 = directories[1];
	cr0_load(CR0_PE | CR0_PG);
	shadow_flush(&pc, directories[1], 0, PAGE_SIZE);
	cr3_load(directories[0]);
	assert_int_equal(access_memory(0x5000, PF_U), SHADOW_FAULT);
	guest_end();
}

/* Without paging there is no protection: ring 3 reads and writes all memory. */
static void ring_3_runs_without_paging(void **state)
{
	(void)state;
	guest_start(64);
	for (u32 linear = 0; linear < GUEST_SIZE + 0x10000; linear += 0x3000)
		for (u32 error = 0; error < 4; error++)
			access_and_check(linear, error << 1);
	check_isolation();
	guest_end();
}

static void the_vmm_is_never_filled(void **state)
{
	(void)state;
	plain_start(64);
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++)
		for (u32 index = BASE_DIRECTORY; index < 1024; index++)
			entry_set(pde_address(i, index), 0x8000 | PTE_P | PTE_W | PTE_U);
	for (u32 paging = 0; paging < 2; paging++) {
		for (u32 linear = GANDALF_BASE; linear >= GANDALF_BASE; linear += 0x100000) {
			u32 error = PF_W;

			assert_int_equal(shadow_fill(&pc, linear, &error), SHADOW_FAULT);
			error = 0;
			assert_int_equal(shadow_fill(&pc, linear, &error), SHADOW_FAULT);
			assert_false(shadow_fill_for_vmm(&vcpu, linear));
			shadow_invalidate(&pc, linear);
		}
		check_isolation();
		cr0_load(CR0_PE);
	}
}

/* A large page of the kernel that turns into one that must be split, with no frame
 * left to split it: the old one must not stay. */
static void a_kernel_page_that_cannot_be_split_vanishes(void **state)
{
	(void)state;
	plain_start(64);
	assert_int_equal(access_memory(0xc0001000, PF_W), SHADOW_FILLED);
	while (pool_allocate() != 0)
		continue;
	entry_set(pde_address(0, 0x300), 2u << 22 | PTE_P | PTE_PS | PTE_G);
	shadow_flush_all(&pc);
	assert_int_equal(*physical_word(pc.shadow.current->directory + 0x300 * 4), 0);
	assert_int_equal(access_memory(0xc0001000, PF_W), SHADOW_FAULT);
	assert_int_equal(access_memory(0xc0001000, 0), SHADOW_FULL);
}

/* How often a process faults before it has a page whose table takes a frame that was full. */
static unsigned faults_until_filled(u32 linear)
{
	u32 frame = pool_allocate();
	unsigned faults = 0;
	bool global;

	memset(pool_pointer(frame), 0xff, PAGE_SIZE);
	pool_free(frame);
	while (!shadow_walk(pc.shadow.current->directory, linear, &global).present) {
		u32 error = PF_U;

		assert_int_equal(shadow_fill(&pc, linear, &error), SHADOW_FILLED);
		faults++;
	}
	assert_int_equal(*physical_word(frame + 1023 * 4), 0);
	check_isolation();
	return faults;
}

/* Where no interrupt could be given to Linux meanwhile. */
static void a_frame_is_zeroed_between_faults_of_a_process(void **state)
{
	(void)state;
	plain_start(64);
	entry_set(pde_address(0, 1), 0x8000 | PTE_P | PTE_W | PTE_U);
	entry_set(pde_address(0, 2), 0x8000 | PTE_P | PTE_W | PTE_U);
	assert_int_equal(faults_until_filled(LARGE_PAGE_SIZE), 1);
	pc.dedicated = true;
	assert_int_equal(faults_until_filled(2 * LARGE_PAGE_SIZE), 5);
	guest_end();
}

/* A table gives way to a large page out of the emulation of an instruction, with no
 * fault that would make the processor forget the table. */
static void a_table_is_freed_only_when_the_processor_forgets_it(void **state)
{
	u32 error = 0;

	(void)state;
	plain_start(64);
	assert_int_equal(access_memory(0x5000, PF_U), SHADOW_FILLED);
	entry_set(pde_address(0, 0), PTE_P | PTE_W | PTE_U | PTE_PS);
	assert_int_equal(shadow_fill(&pc, 0x9000, &error), SHADOW_FILLED);
	check_isolation();
}

/* More address spaces than a guest can have cached. */
static void all_spaces_in_use_are_evicted_in_turn(void **state)
{
	const u32 limit = SHADOW_SPACES_PER_FRAME * SHADOW_SPACE_FRAMES;

	(void)state;
	plain_start(1023);
	shadow_flush(&pc, 0, 0, 1);
	for (u32 i = 0; i < limit + 50; i++) {
		cr3_load(0x200000 + i * PAGE_SIZE);
		assert_int_equal(pc.shadow.current->guest, 0x200000 + i * PAGE_SIZE);
	}
	check_isolation();
	assert_int_equal(vcpu.counters[COUNTER_space_evictions], 51);
	/* The last are still there, the first are not. */
	cr3_load(0x200000 + 40 * PAGE_SIZE);
	assert_int_equal(vcpu.counters[COUNTER_space_hits], 0);
	cr3_load(0x200000 + (limit + 49) * PAGE_SIZE);
	cr3_load(0x200000 + 200 * PAGE_SIZE);
	assert_int_equal(vcpu.counters[COUNTER_space_hits], 2);
	guest_end();
}

/* One space, all of whose tables the pool cannot hold. */
static void a_space_larger_than_the_pool_is_refused(void **state)
{
	enum shadow_result result = SHADOW_FILLED;
	u32 linear = 0;

	(void)state;
	plain_start(40);
	for (u32 i = 0; i < KERNEL_DIRECTORY; i++)
		entry_set(pde_address(0, i), 0x8000 | PTE_P | PTE_W | PTE_U);
	while (result == SHADOW_FILLED) {
		result = access_memory(linear, PF_U);
		linear += LARGE_PAGE_SIZE;
	}
	assert_int_equal(result, SHADOW_FULL);
	assert_int_equal(pool_available, 0);
	check_isolation();
	guest_end();
}

static void a_load_without_a_frame_stops_the_guest(void **state)
{
	(void)state;
	guest_start(64);
	while (pool_allocate() != 0)
		continue;
	pc.cr3 = 0x1000;
	cr0_load(CR0_PE | CR0_PG);
	assert_true(stopped);
}

static void a_fault_fills_its_neighbours(void **state)
{
	const u32 *table;

	(void)state;
	plain_start(64);
	entry_set(0x8000 + 17 * 4, 17u << 12 | PTE_P | PTE_U);
	entry_set(0x8000 + 18 * 4, 0);
	assert_int_equal(access_memory(0x14000, PF_U), SHADOW_FILLED);
	table = (const u32 *)(physical +
			      (*physical_word(pc.shadow.current->directory) & PTE_FRAME));
	for (u32 i = 0; i < 64; i++)
		assert_int_equal(table[i] != 0, i / 16 == 1 && i != 17 && i != 18);
	assert_int_equal(vcpu.counters[COUNTER_shadow_prefills], 13);
}

static void a_page_is_writable_only_after_it_is_dirty(void **state)
{
	u32 prefills;
	bool global;

	(void)state;
	plain_start(64);
	entry_set(0x8000 + 5 * 4, 5u << 12 | PTE_P | PTE_W | PTE_U);
	assert_int_equal(access_memory(0x5000, PF_U), SHADOW_FILLED);
	assert_false(shadow_walk(processor.cr3, 0x5000, &global).writable);
	assert_int_equal(*guest_word(0x8000 + 5 * 4) & (PTE_A | PTE_D), PTE_A);
	/* Its neighbours were filled with the read; the write looks at none of them. */
	shadow_invalidate(&pc, 0x6000);
	prefills = vcpu.counters[COUNTER_shadow_prefills];
	assert_int_equal(access_memory(0x5000, PF_U | PF_W), SHADOW_FILLED);
	assert_int_equal(vcpu.counters[COUNTER_shadow_prefills], prefills);
	assert_true(shadow_walk(processor.cr3, 0x5000, &global).writable);
	assert_int_equal(*guest_word(0x8000 + 5 * 4) & (PTE_A | PTE_D), PTE_A | PTE_D);
}

static void a_page_made_for_a_write_comes_alone(void **state)
{
	bool global;

	(void)state;
	plain_start(64);
	shared.cr2 = 0x5004;
	assert_int_equal(access_memory(0x5004, PF_U | PF_W), SHADOW_FILLED);
	assert_true(shadow_walk(processor.cr3, 0x5000, &global).writable);
	assert_int_equal(vcpu.counters[COUNTER_shadow_prefills], 0);
	/* A page that it has not just been told of, or one that it reads, does not. */
	assert_int_equal(access_memory(0x6004, PF_U | PF_W), SHADOW_FILLED);
	assert_int_not_equal(vcpu.counters[COUNTER_shadow_prefills], 0);
	plain_start(64);
	shared.cr2 = 0x5004;
	assert_int_equal(access_memory(0x5004, PF_U), SHADOW_FILLED);
	assert_int_not_equal(vcpu.counters[COUNTER_shadow_prefills], 0);
}

static void the_vmm_writes_where_the_guests_kernel_could(void **state)
{
	bool global;

	(void)state;
	plain_start(64);
	entry_set(0x8000 + 5 * 4, 5u << 12 | PTE_P | PTE_W);
	entry_set(0x8000 + 6 * 4, 6u << 12 | PTE_P | PTE_U);
	entry_set(0x8000 + 7 * 4, 0x70000000 | PTE_P | PTE_W);
	entry_set(0x8000 + 8 * 4, 0);
	assert_true(shadow_make_writable(&pc, 0x5000));
	assert_true(shadow_walk(processor.cr3, 0x5000, &global).writable);
	assert_int_equal(*guest_word(0x8000 + 5 * 4) & PTE_D, PTE_D);
	assert_true(shadow_make_writable(&pc, 0xc0005000));
	for (u32 linear = 0x6000; linear <= 0x8000; linear += PAGE_SIZE)
		assert_false(shadow_make_writable(&pc, linear));
	shadow_protect(&pc, 0x5000);
	assert_true(shadow_make_writable(&pc, 0x5000));
	assert_false(shadow_walk(processor.cr3, 0x5000, &global).writable);
	cr0_load(CR0_PE);
	assert_true(shadow_make_writable(&pc, GUEST_SIZE - 1));
	assert_false(shadow_make_writable(&pc, GUEST_SIZE));
	check_isolation();
}

static void error_codes_are_those_of_the_guests_tables(void **state)
{
	u32 error = PF_U | PF_W | PF_P;

	(void)state;
	plain_start(64);
	entry_set(0x8000 + 5 * 4, 0);
	entry_set(0x8000 + 6 * 4, 6u << 12 | PTE_P | PTE_U);
	assert_int_equal(shadow_fill(&pc, 0x5123, &error), SHADOW_FAULT);
	assert_int_equal(error, PF_U | PF_W);
	assert_int_equal(shadow_fill(&pc, 0x6123, &error), SHADOW_FAULT);
	assert_int_equal(error, PF_U | PF_W | PF_P);
	assert_int_equal(shadow_fill(&pc, 0x40000000, &error), SHADOW_FAULT);
	assert_int_equal(error, PF_U | PF_W);
	assert_int_equal(shadow_fill(&pc, 0xc0000000, &error), SHADOW_FAULT);
	assert_int_equal(error, PF_U | PF_W | PF_P);
}

static void memory_that_is_missing_reads_as_ones(void **state)
{
	struct rights rights;
	bool global;

	(void)state;
	plain_start(64);
	entry_set(0x8000 + 5 * 4, 0x70000000 | PTE_P | PTE_W | PTE_U | PTE_D);
	assert_int_equal(access_memory(0x5000, PF_U), SHADOW_FILLED);
	rights = shadow_walk(processor.cr3, 0x5000, &global);
	assert_false(rights.writable);
	assert_int_equal(*physical_word(rights.frame + 0x7fc), 0xffffffff);
	assert_int_equal(access_memory(0x5000, PF_U | PF_W), SHADOW_OUTSIDE);
}

static void the_local_apic_is_read_where_it_is(void **state)
{
	struct rights rights;
	bool global;
	u32 entry;

	(void)state;
	plain_start(64);
	pc.shadow.apic = 0x70000900;
	entry_set(0x8000 + 5 * 4, 0x70000000 | PTE_P | PTE_W | PTE_U | PTE_D);
	entry_set(0x8000 + 6 * 4, 0x70001000 | PTE_P | PTE_W | PTE_U | PTE_D);
	assert_int_equal(access_memory(0x5000, PF_U), SHADOW_FILLED);
	rights = shadow_walk(processor.cr3, 0x5000, &global);
	assert_false(rights.writable);
	assert_int_equal(rights.frame, 0x70000000);
	entry = ((u32 *)pool_pointer(processor.cr3))[0];
	assert_true(((u32 *)pool_pointer(entry & PTE_FRAME))[5] & PTE_PCD);
	assert_int_equal(access_memory(0x5000, PF_U | PF_W), SHADOW_APIC);
	assert_false(shadow_make_writable(&pc, 0x5000));
	assert_int_equal(access_memory(0x6000, PF_U | PF_W), SHADOW_OUTSIDE);
	assert_int_equal(access_memory(0x6000, 0), SHADOW_FILLED);
	assert_int_equal(shadow_walk(processor.cr3, 0x6000, &global).frame, pc.shadow.nothing);
	pc.shadow.apic = 0;
}

static void a_protected_page_is_read_only_everywhere(void **state)
{
	bool global;

	(void)state;
	plain_start(64);
	entry_set(0x8000 + 5 * 4, 0x5000 | PTE_P | PTE_W | PTE_U | PTE_D | PTE_A);
	assert_int_equal(access_memory(0x5000, PF_W), SHADOW_FILLED);
	assert_int_equal(access_memory(0xc0005000, PF_W), SHADOW_FILLED);
	shadow_protect(&pc, 0x5000);
	assert_int_equal(access_memory(0x5000, PF_W), SHADOW_PROTECTED);
	assert_int_equal(access_memory(0x5000, 0), SHADOW_FILLED);
	assert_int_equal(access_memory(0xc0005000, PF_W), SHADOW_PROTECTED);
	assert_int_equal(access_memory(0xc0006000, PF_W), SHADOW_FILLED);
	/* The large page is in pieces, and each can be written but one. */
	for (u32 i = 0; i < 1024; i++)
		assert_int_equal(shadow_walk(processor.cr3, 0xc0000000 + i * PAGE_SIZE, &global)
					 .writable, i != 5);
	shadow_protect(&pc, 0);
	assert_int_equal(access_memory(0x5000, PF_W), SHADOW_FILLED);
	assert_int_equal(access_memory(0xc0005000, PF_W), SHADOW_FILLED);
	check_isolation();
	guest_end();
}

static void a_change_of_the_kernel_half_ends_the_short_way(void **state)
{
	const u32 page = 0xc0005000;

	(void)state;
	plain_start(64);
	for (unsigned change = 0; change < 4; change++) {
		pc.shadow.protected_page = page;
		if (change == 0)
			shadow_invalidate(&pc, page);
		else if (change == 1)
			shadow_flush_all(&pc);
		else if (change == 2)
			shadow_protect(&pc, 0x5000);
		else
			cr0_load(pc.cr0 & ~CR0_PG);
		assert_int_equal(pc.shadow.protected_page, 0);
	}
	guest_end();
}

static void caching_begins_with_the_first_flush(void **state)
{
	(void)state;
	plain_start(64);
	access_memory(0x5000, PF_U);
	cr3_load(directories[1]);
	cr3_load(directories[0]);
	assert_int_equal(vcpu.counters[COUNTER_space_hits], 0);
	shadow_flush(&pc, directories[3], 0, PAGE_SIZE);
	assert_int_equal(vcpu.counters[COUNTER_flush_misses], 1);
	access_memory(0x5000, PF_U);
	cr3_load(directories[1]);
	cr3_load(directories[0]);
	assert_int_equal(vcpu.counters[COUNTER_space_hits], 1);
	assert_int_equal(pc.shadow.current->used_groups[0], 1);
	/* The same value once more asks for a flush. */
	cr3_load(directories[0]);
	assert_int_equal(pc.shadow.current->used_groups[0], 0);
	guest_end();
}

static void a_kernel_page_is_filled_when_it_is_invalidated(void **state)
{
	bool global;

	(void)state;
	plain_start(64);
	for (u32 i = 0; i < 1024; i++)
		entry_set(0x9000 + i * 4, 0);
	entry_set(pde_address(0, 0x301), 0x9000 | PTE_P | PTE_W);
	shadow_flush_all(&pc);
	entry_set(0x9000 + 4, 0x7000 | PTE_P | PTE_W | PTE_G | PTE_D);
	shadow_invalidate(&pc, 0xc0401000);
	assert_int_equal(shadow_walk(processor.cr3, 0xc0401000, &global).frame,
			 GUEST_BASE + 0x7000);
	assert_true(global);
	entry_set(0x9000 + 4, 0);
	shadow_invalidate(&pc, 0xc0401000);
	assert_false(shadow_walk(processor.cr3, 0xc0401000, &global).present);
}

/* The processor remembers a page of the kernel half that is not the guest's to write. Its 4 MiB are
 * rebuilt when another page of them is invalidated, and now it could be written. */
static void the_vmm_does_not_store_where_a_page_was(void **state)
{
	const u32 page = 0xc0405000, other = 0xc0407000;

	(void)state;
	plain_start(64);
	for (u32 i = 0; i < 1024; i++)
		entry_set(0x9000 + i * 4, 0);
	entry_set(0x9000 + 5 * 4, GUEST_SIZE | PTE_P | PTE_W | PTE_A | PTE_D);
	entry_set(pde_address(0, 0x301), 0x9000 | PTE_P | PTE_W);
	shadow_flush_all(&pc);
	assert_int_equal(access_memory(page, 0), SHADOW_FILLED);
	assert_int_equal(tlb_walk(page).frame, pc.shadow.nothing);
	entry_set(pde_address(0, 0x301), 0);
	shadow_invalidate(&pc, other);
	entry_set(0x9000 + 5 * 4, 0x7000 | PTE_P | PTE_W | PTE_A | PTE_D);
	entry_set(pde_address(0, 0x301), 0x9000 | PTE_P | PTE_W);
	shadow_invalidate(&pc, other);
	vmm_stores(page);
	guest_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vmm_does_not_store_where_a_page_was),
		cmocka_unit_test(the_pool_is_too_small_to_create),
		cmocka_unit_test(paging_off_and_on_keeps_spaces_apart),
		cmocka_unit_test(paging_off_forgets_what_nobody_flushed),
		cmocka_unit_test(ring_3_runs_without_paging),
		cmocka_unit_test(the_vmm_is_never_filled),
		cmocka_unit_test(a_kernel_page_that_cannot_be_split_vanishes),
		cmocka_unit_test(a_frame_is_zeroed_between_faults_of_a_process),
		cmocka_unit_test(a_table_is_freed_only_when_the_processor_forgets_it),
		cmocka_unit_test(all_spaces_in_use_are_evicted_in_turn),
		cmocka_unit_test(a_space_larger_than_the_pool_is_refused),
		cmocka_unit_test(a_load_without_a_frame_stops_the_guest),
		cmocka_unit_test(a_fault_fills_its_neighbours),
		cmocka_unit_test(a_page_is_writable_only_after_it_is_dirty),
		cmocka_unit_test(a_page_made_for_a_write_comes_alone),
		cmocka_unit_test(the_vmm_writes_where_the_guests_kernel_could),
		cmocka_unit_test(error_codes_are_those_of_the_guests_tables),
		cmocka_unit_test(memory_that_is_missing_reads_as_ones),
		cmocka_unit_test(the_local_apic_is_read_where_it_is),
		cmocka_unit_test(a_protected_page_is_read_only_everywhere),
		cmocka_unit_test(a_change_of_the_kernel_half_ends_the_short_way),
		cmocka_unit_test(caching_begins_with_the_first_flush),
		cmocka_unit_test(a_kernel_page_is_filled_when_it_is_invalidated),
		cmocka_unit_test(cached_spaces_cover_the_guests),
		cmocka_unit_test(uncached_spaces_cover_the_guests),
		cmocka_unit_test(spaces_without_global_or_large_pages_cover_the_guests),
		cmocka_unit_test(eviction_keeps_a_poor_guest_running),
		cmocka_unit_test(a_hostile_guest_reaches_nothing_else),
		cmocka_unit_test(a_hostile_guest_gains_nothing_from_an_empty_pool),
		cmocka_unit_test(a_hostile_guest_that_interrupts_the_vmm_gains_nothing),
	};

	return RUN_TESTS(tests);
}
