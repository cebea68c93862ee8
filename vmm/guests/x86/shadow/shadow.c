/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow page tables. An entry here is never more permissive than the guest's
 * at some time since its last flush, names only memory of the guest, or for reading its
 * local APIC, and is writable only after the guest's dirty bit has been set.
 */
#include "guests/x86/shadow/shadow.h"

#include "arch/ia32/switch.h"
#include "core/log.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "guests/x86/pc.h"
#include "lib/string.h"

#define ENTRIES 1024u
/* Directory entries that a bit of used_groups stands for, and that are released
 * between two looks at more urgent guests. */
#define GROUP 8u
/* Directory entries of the kernel half: first, and behind the last. */
#define KERNEL_FIRST (SHADOW_KERNEL >> LARGE_PAGE_SHIFT)
#define KERNEL_END ((u32)LAYOUT_DIRECTORY_FIRST)
/* What is in use of a directory whose lower three quarters are empty. */
#define KERNEL_MARKS (~0u << KERNEL_FIRST * sizeof(u32) / POOL_GROUP)
/* Pages whose entries lie in one group of the pool's marks; long work looks at them together. */
#define PART (POOL_GROUP / sizeof(u32))
/* How many entries around a page fault are filled with it; a power of two. */
#define PREFILL 16u
/* Up to here pages are invalidated one by one, beyond it the TLB is flushed. */
#define FLUSH_SINGLE_PAGES 8u
/* A larger range is flushed by dropping the space: a bound for the time. */
#define FLUSH_RANGE (4 * LARGE_PAGE_SIZE)

static u32 directory_index(u32 linear)
{
	return linear >> LARGE_PAGE_SHIFT;
}

static u32 table_index(u32 linear)
{
	return (linear >> PAGE_SHIFT) % ENTRIES;
}

/* Spaces */

static struct space *space_at(const struct shadow *shadow, u32 index)
{
	struct space *spaces = pool_pointer(shadow->space_frames[index / SHADOW_SPACES_PER_FRAME]);

	return &spaces[index % SHADOW_SPACES_PER_FRAME];
}

static u32 space_hash(u32 guest)
{
	return (guest >> PAGE_SHIFT) % SHADOW_HASH;
}

static struct space *space_find(const struct shadow *shadow, u32 guest)
{
	u32 index = shadow->hash[space_hash(guest)];

	while (index != 0) {
		struct space *space = space_at(shadow, index - 1);

		if (space->guest == guest)
			return space;
		index = space->next;
	}
	return NULL;
}

COLD static void group_drop(u32 *entry)
{
	for (u32 i = 0; i < GROUP; i++, entry++) {
		if (*entry != 0 && (*entry & PTE_PS) == 0)
			pool_free(*entry & PTE_FRAME);
		*entry = 0;
	}
}

/* Where long work for a guest that has direct gates is interrupted (guests/x86/upcall.h). On a shared
 * CPU it is anyway, and never by the guest's own: nothing changes then. */
static inline void point(struct pc *pc)
{
	if (pc->points)
		upcall_point(pc);
}

/* Frees the shadow page tables of the lower three quarters, a few at a time: the idle vCPU lets more
 * urgent guests run in between. points: NULL or whose work is interrupted meanwhile; then the space
 * may be a free one, or another's, behind it. */
COLD static void space_drop(struct space *space, struct pc *points)
{
	for (u32 word = 0; word < ARRAY_SIZE(space->used_groups); word++)
		while (space->used_groups[word] != 0) {
			u32 group = word * 32 + (u32)__builtin_ctz(space->used_groups[word]);
			u32 *directory = pool_pointer(space->directory);

			group_drop(&directory[group * GROUP]);
			space->used_groups[word] &= space->used_groups[word] - 1;
			if (points != NULL)
				point(points);
			else if (core.current == &idle_vcpu)
				schedule_breathe();
		}
}

/* Returns the space's index. */
static u32 space_hash_remove(struct shadow *shadow, struct space *space)
{
	u16 *link = &shadow->hash[space_hash(space->guest)];
	u32 index;

	while (space_at(shadow, *link - 1u) != space)
		link = &space_at(shadow, *link - 1u)->next;
	index = *link - 1u;
	*link = space->next;
	return index;
}

static void space_hash_insert(struct shadow *shadow, struct space *space, u32 index, u32 guest)
{
	space->guest = guest;
	space->next = shadow->hash[space_hash(guest)];
	shadow->hash[space_hash(guest)] = (u16)(index + 1);
}

COLD static void space_free(struct shadow *shadow, struct space *space)
{
	shadow->space_free = minimum(shadow->space_free, space_hash_remove(shadow, space));
	space_drop(space, NULL);
	pool_free(space->directory);
	space->directory = 0;
}

/* One space serves all directories while nothing is cached. */
COLD static struct space *space_reuse(struct shadow *shadow, u32 guest)
{
	struct space *space = shadow->current;

	space_hash_insert(shadow, space, space_hash_remove(shadow, space), guest);
	return space;
}

/* The space that was loaded longest ago goes; false if there is only one. */
MUST_CHECK COLD static bool space_evict(struct pc *pc)
{
	struct shadow *shadow = &pc->shadow;
	struct space *oldest = NULL;

	for (u32 i = 0; i < shadow->space_limit; i++) {
		struct space *space = space_at(shadow, i);

		if (space->directory != 0 && space != shadow->current &&
		    (oldest == NULL || shadow->clock - space->used > shadow->clock - oldest->used))
			oldest = space;
	}
	if (oldest == NULL)
		return false;
	vcpu_count(pc->vcpu, COUNTER_space_evictions);
	space_free(shadow, oldest);
	return true;
}

MUST_CHECK static u32 frame_allocate(struct pc *pc)
{
	u32 frame;

	while ((frame = pool_allocate()) == 0)
		if (!space_evict(pc))
			return 0;
	return frame;
}

COLD static u32 space_free_index(struct pc *pc)
{
	u32 *index = &pc->shadow.space_free;

	/* All but the current one can be evicted. */
	do
		for (; *index < SHADOW_SPACES; ++*index)
			if (space_at(&pc->shadow, *index)->directory == 0)
				return *index;
	while (space_evict(pc));
	panic("all shadow page directories are in use");
}

MUST_CHECK COLD static struct space *space_create(struct pc *pc, u32 guest)
{
	struct shadow *shadow = &pc->shadow;
	u32 frame = frame_allocate(pc);
	u32 index = space_free_index(pc);
	struct space *space = space_at(shadow, index);
	u32 *master = pool_pointer(shadow->master);
	u32 *directory;

	if (frame == 0)
		return NULL;
	directory = pool_pointer(frame);
	memcpy(&directory[KERNEL_FIRST], &master[KERNEL_FIRST],
	       (ENTRIES - KERNEL_FIRST) * sizeof(u32));
	*pool_marks(frame) = KERNEL_MARKS;
	if (index >= shadow->space_limit)
		shadow->space_limit = index + 1;
	space->directory = frame;
	memset(space->used_groups, 0, sizeof(space->used_groups));
	space_hash_insert(shadow, space, index, guest);
	return space;
}

static void space_load(struct pc *pc, struct space *space)
{
	space->used = ++pc->shadow.clock;
	pc->shadow.current = space;
	pc->vcpu->cr3 = core.cr3 = space->directory;
	cr3_write(space->directory);
}

/* Drops what the CPU itself has cached, but for global entries. */
static void tlb_flush(void)
{
	cr3_write(cr3_read());
}

COLD static void tlb_flush_global(void)
{
	u32 cr4 = cr4_read();

	if (cr4 & CR4_PGE) {
		cr4_write(cr4 & ~CR4_PGE);
		cr4_write(cr4);
	} else {
		tlb_flush();
	}
}

/* The guest's own tables */

MUST_CHECK static inline u32 *guest_table_entry(struct pc *pc, u32 table, u32 index)
{
	u32 frame = table & PTE_FRAME;

	if (frame >= pc->shadow.memory_size)
		return NULL;
	return (u32 *)memory_window_frame(pc->shadow.memory_base + frame) + index;
}

/* What shadow_fill() begins with, at its first call behind a load of CR3, and when
 * the window has been used for something else; NULL: CR3 leads to no memory. */
MUST_CHECK COLD static u32 *guest_directory_find(struct pc *pc)
{
	struct shadow *shadow = &pc->shadow;

	shadow->guest_directory = guest_table_entry(pc, pc->cr3, 0);
	if (shadow->guest_directory == NULL)
		return NULL;
	shadow->guest_window =
		&memory_windows[((u32)shadow->guest_directory - LAYOUT_WINDOWS) >> PAGE_SHIFT];
	shadow->guest_window_entry = *shadow->guest_window;
	return shadow->guest_directory;
}

static bool pde_is_large(const struct pc *pc, u32 entry)
{
	return (entry & PTE_PS) != 0 && (pc->cr4 & CR4_PSE) != 0;
}

/* What a 4 KiB page inside a large one looks like. */
static u32 large_as_small(u32 pde, u32 linear)
{
	return (pde & (PAGE_SIZE - 1) & ~PTE_PS) | (pde & PTE_LARGE_FRAME) |
	       (linear & (LARGE_PAGE_SIZE - 1) & PTE_FRAME);
}

COLD bool shadow_translate(struct pc *pc, u32 linear, u32 *frame)
{
	const u32 *entry;
	u32 pde;

	if (pc->shadow.current == NULL)
		return false;
	entry = guest_table_entry(pc, pc->cr3, directory_index(linear));
	if (entry == NULL || (*entry & PTE_P) == 0)
		return false;
	pde = *entry;
	*frame = large_as_small(pde, linear) & PTE_FRAME;
	if (pde_is_large(pc, pde))
		return true;
	entry = guest_table_entry(pc, pde, table_index(linear));
	if (entry == NULL || (*entry & PTE_P) == 0)
		return false;
	*frame = *entry & PTE_FRAME;
	return true;
}

/* Of a frame that is not memory of the guest. */
static bool is_apic(const struct shadow *shadow, u32 frame)
{
	return (frame ^ shadow->apic) < PAGE_SIZE;
}

/* Shadow entry for a guest entry whose U and W hold for both levels. */
COLD static u32 shadow_entry(struct pc *pc, u32 entry, bool kernel)
{
	struct shadow *shadow = &pc->shadow;
	u32 frame = entry & PTE_FRAME;
	u32 result = PTE_P | PTE_A | PTE_D | (entry & PTE_U);
	bool global = (entry & PTE_G) != 0 && (pc->cr4 & CR4_PGE) != 0;

	/* What a load of CR3 has the guest's own TLB forget is looked for anew then. */
	shadow->local_kernel |= kernel && !global;
	if (frame >= shadow->memory_size)
		return result | (is_apic(shadow, frame) ? frame | PTE_PCD : shadow->nothing);
	if ((entry & PTE_W) && (entry & PTE_D) && (frame != shadow->protected_frame || frame == 0))
		result |= PTE_W;
	if (kernel && global)
		result |= PTE_G;
	return result | (shadow->memory_base + frame);
}

/* Whether a guest's large page can be one in the shadow. */
static bool large_fits(const struct shadow *shadow, u32 pde)
{
	u32 frame = pde & PTE_LARGE_FRAME;

	return frame < shadow->memory_size &&
	       (shadow->protected_frame == 0 ||
		(shadow->protected_frame & PTE_LARGE_FRAME) != frame);
}

/* Directories */

static u32 *current_directory(const struct shadow *shadow)
{
	return pool_pointer(shadow->current->directory);
}

/* Every change of an entry of the kernel half comes here first. */
static void kernel_changes(struct shadow *shadow)
{
	shadow->protected_page = 0;
}

/* A directory entry of the kernel half is the same in all spaces. */
COLD static void kernel_set_pde(struct shadow *shadow, u32 index, u32 entry)
{
	u32 *master = pool_pointer(shadow->master);

	if (master[index] == entry)
		return;
	kernel_changes(shadow);
	master[index] = entry;
	for (u32 i = 0; i < shadow->space_limit; i++) {
		const struct space *space = space_at(shadow, i);

		if (space->directory != 0)
			((u32 *)pool_pointer(space->directory))[index] = entry;
	}
}

static void set_pde(struct shadow *shadow, u32 index, u32 entry)
{
	struct space *space = shadow->current;

	if (index >= KERNEL_FIRST) {
		kernel_set_pde(shadow, index, entry);
		return;
	}
	current_directory(shadow)[index] = entry;
	space->used_groups[index / GROUP / 32] |= 1u << index / GROUP % 32;
}

/* The shadow page table for an address, made if it does not exist; NULL: no frame left, or the
 * access is to be tried again. A large page in its place goes in any case. */
MUST_CHECK COLD static u32 *shadow_table(struct pc *pc, u32 index)
{
	struct shadow *shadow = &pc->shadow;
	u32 entry = current_directory(shadow)[index];
	u32 frame;

	if (entry != 0 && (entry & PTE_PS) == 0)
		return pool_pointer(entry & PTE_FRAME);
	if (entry != 0) {
		set_pde(shadow, index, 0);
		tlb_flush_global();
	}
	/* With direct gates no interrupt comes in while a frame is zeroed for a process: Linux would
	 * take it for one of its kernel. So the process faults, and is interrupted, until it is. */
	if (pc->dedicated && index < KERNEL_FIRST && !pool_ready())
		return NULL;
	frame = frame_allocate(pc);
	if (frame == 0)
		return NULL;
	if (index < KERNEL_FIRST)
		*pool_marks(frame) = 0;
	set_pde(shadow, index, frame | PTE_P | PTE_W | PTE_U | PTE_A);
	return pool_pointer(frame);
}

COLD static void shadow_drop_pde(struct shadow *shadow, u32 index)
{
	u32 entry = current_directory(shadow)[index];

	if (entry == 0)
		return;
	set_pde(shadow, index, 0);
	if ((entry & PTE_PS) == 0)
		pool_free(entry & PTE_FRAME);
}

COLD static void shadow_set_large(struct pc *pc, u32 index, u32 pde)
{
	struct shadow *shadow = &pc->shadow;
	u32 small = large_as_small(pde, 0);
	u32 entry = shadow_entry(pc, small, index >= KERNEL_FIRST) | PTE_PS;
	u32 old = current_directory(shadow)[index];

	if (old == entry)
		return;
	shadow_drop_pde(shadow, index);
	set_pde(shadow, index, entry);
	/* The CPU may still know the table that was freed. */
	if (old != 0)
		tlb_flush();
}

/* The kernel half */

/* A part of a page table, from an address on. */
MUST_CHECK COLD static bool kernel_sync_table(struct pc *pc, u32 linear, u32 pde)
{
	bool large = pde_is_large(pc, pde);
	u32 *table = shadow_table(pc, directory_index(linear));
	const u32 *guest = large ? NULL : guest_table_entry(pc, pde, 0);

	if (table == NULL || (guest == NULL && !large))
		return false;
	kernel_changes(&pc->shadow);
	for (u32 i = table_index(linear), end = i + PART; i < end; i++) {
		u32 entry = guest == NULL ? large_as_small(pde, i << PAGE_SHIFT)
					  : guest[i] & (pde | ~(PTE_U | PTE_W));

		table[i] = entry & PTE_P ? shadow_entry(pc, entry, true) : 0;
	}
	return true;
}

/* Rebuilds a directory entry of the kernel half, or a part of its page table, from the current
 * space. Returns the address behind it. */
COLD static u32 kernel_sync_part(struct pc *pc, u32 linear)
{
	struct shadow *shadow = &pc->shadow;
	u32 index = directory_index(linear);
	u32 *guest = guest_table_entry(pc, pc->cr3, index);
	u32 pde = guest != NULL ? *guest : 0;

	shadow->protected_page = 0;
	if (pde & PTE_P)
		*guest = pde |= PTE_A;
	if ((pde & PTE_P) && pde_is_large(pc, pde) && large_fits(shadow, pde))
		shadow_set_large(pc, index, pde);
	else if ((pde & PTE_P) && kernel_sync_table(pc, linear, pde))
		return linear + PART * PAGE_SIZE;
	else
		shadow_drop_pde(shadow, index);
	return (linear & PTE_LARGE_FRAME) + LARGE_PAGE_SIZE;
}

/* Every part by itself, as the guest's registers say then, if it still has paging on. */
COLD static void kernel_sync_range(struct pc *pc, u32 linear, u32 end)
{
	while (linear < end && pc->shadow.current != NULL) {
		linear = kernel_sync_part(pc, linear);
		point(pc);
	}
}

COLD static void kernel_sync(struct pc *pc)
{
	vcpu_count(pc->vcpu, COUNTER_kernel_syncs);
	pc->shadow.local_kernel = false;
	pc->shadow.syncing = true;
	kernel_sync_range(pc, SHADOW_KERNEL, KERNEL_END << LARGE_PAGE_SHIFT);
	pc->shadow.syncing = false;
}

/* Filling */

/* Guest entries near the one that faulted, which the guest has used before. */
static void prefill(struct pc *pc, u32 *table, const u32 *guest, u32 pde)
{
	const struct shadow *shadow = &pc->shadow;
	u32 filled = 0;

	for (u32 i = 0; i < PREFILL; i++) {
		u32 entry, frame, rights;

		/* Most are filled, or not there. */
		if (table[i] != 0 || (~(entry = guest[i]) & (PTE_P | PTE_A)) != 0)
			continue;
		frame = entry & PTE_FRAME;
		rights = entry & pde & (PTE_U | PTE_W);
		if (frame >= shadow->memory_size)
			continue;
		/* As shadow_entry() has it, but for fewer instructions. */
		if ((entry & PTE_D) == 0 || frame == shadow->protected_frame)
			rights &= ~PTE_W;
		table[i] = (shadow->memory_base + frame) | rights | PTE_P | PTE_A | PTE_D;
		filled++;
	}
	pc->vcpu->counters[COUNTER_shadow_prefills] += filled;
}

COLD static enum shadow_result write_target(const struct shadow *shadow, u32 frame, u32 error)
{
	if ((error & PF_W) == 0)
		return SHADOW_FILLED;
	if (frame >= shadow->memory_size)
		return is_apic(shadow, frame) ? SHADOW_APIC : SHADOW_OUTSIDE;
	return frame == shadow->protected_frame && frame != 0 ? SHADOW_PROTECTED : SHADOW_FILLED;
}

/* The guest's tables have no page there. */
static inline enum shadow_result fill_absent(u32 *error)
{
	*error &= PF_W | PF_U;
	return SHADOW_FAULT;
}

/* The shadow has no place for a page: nothing is filled, and the access faults again. */
COLD static enum shadow_result fill_nothing(void)
{
	return pool_available != 0 ? SHADOW_FILLED : SHADOW_FULL;
}

/* The place of a page in the shadow; NULL: as shadow_table(). */
MUST_CHECK static inline u32 *fill_place(struct pc *pc, u32 linear)
{
	u32 entry = current_directory(&pc->shadow)[directory_index(linear)];
	u32 *table;

	if (entry != 0 && (entry & PTE_PS) == 0)
		table = pool_pointer(entry & PTE_FRAME);
	else if ((table = shadow_table(pc, directory_index(linear))) == NULL)
		return NULL;
	return &table[table_index(linear)];
}

/* A page of the kernel, a frame that is protected or not the guest's. */
COLD static enum shadow_result fill_seldom(struct pc *pc, u32 linear, u32 entry, u32 error)
{
	enum shadow_result result = write_target(&pc->shadow, entry & PTE_FRAME, error);
	u32 *place;

	if (linear >= GANDALF_BASE)
		return SHADOW_FAULT;
	if (result != SHADOW_FILLED)
		return result;
	place = fill_place(pc, linear);
	if (place == NULL)
		return fill_nothing();
	if (directory_index(linear) >= KERNEL_FIRST)
		kernel_changes(&pc->shadow);
	*place = shadow_entry(pc, entry, directory_index(linear) >= KERNEL_FIRST);
	pool_mark(place);
	return SHADOW_FILLED;
}

static inline enum shadow_result fill_small(struct pc *pc, u32 linear, u32 pde, u32 *error)
{
	const struct shadow *shadow = &pc->shadow;
	u32 cause = *error;
	u32 entry, rights, frame = pde & PTE_FRAME;
	u32 *guest, *place;

	if (frame >= shadow->memory_size)
		return fill_absent(error);
	guest = (u32 *)memory_window_frame(shadow->memory_base + frame) + table_index(linear);
	entry = *guest;
	if ((entry & PTE_P) == 0)
		return fill_absent(error);
	rights = entry & pde;
	/* The bits of the error code lie where those of an entry do. */
	if ((cause & ~rights & (PF_W | PF_U)) != 0) {
		*error = (cause & (PF_W | PF_U)) | PF_P;
		return SHADOW_FAULT;
	}
	entry |= PTE_A | (cause & PF_W) * (PTE_D / PF_W);
	*guest = entry;
	frame = entry & PTE_FRAME;
	if (linear >= SHADOW_KERNEL || frame >= shadow->memory_size ||
	    frame == shadow->protected_frame)
		return fill_seldom(pc, linear, entry & (pde | ~(PTE_U | PTE_W)), cause);
	place = fill_place(pc, linear);
	if (place == NULL)
		return fill_nothing();
	/* As shadow_entry() has it, but for fewer instructions. */
	rights &= (entry & PTE_D) / (PTE_D / PTE_W) | PTE_U;
	*place = (shadow->memory_base + frame) | rights | PTE_P | PTE_A | PTE_D;
	pool_mark(place);
	/* Where the shadow had an entry those near it were filled with that; a page that the
	 * guest has just made for a write comes alone. */
	if ((cause & PF_P) == 0 && ((cause & PF_W) == 0 || pc->vcpu->shared->cr2 != linear)) {
		u32 before = (u32)place / sizeof(u32) % PREFILL;

		prefill(pc, place - before, guest - before, pde);
	}
	return SHADOW_FILLED;
}

COLD static enum shadow_result fill_large(struct pc *pc, u32 linear, u32 *guest, u32 *error)
{
	struct shadow *shadow = &pc->shadow;
	u32 small;

	*error = (*error & (PF_W | PF_U)) | PF_P;
	if (linear >= GANDALF_BASE || (*error & ~*guest & (PF_W | PF_U)) != 0)
		return SHADOW_FAULT;
	*guest |= PTE_A | (*error & PF_W ? PTE_D : 0);
	small = large_as_small(*guest, linear);
	if (!large_fits(shadow, *guest) ||
	    write_target(shadow, small & PTE_FRAME, *error) != SHADOW_FILLED)
		return fill_seldom(pc, linear, small, *error);
	shadow_set_large(pc, directory_index(linear), *guest);
	return SHADOW_FILLED;
}

/* Paging off: physical memory as it is, and reads of nothing behind it. */
COLD static enum shadow_result fill_identity(struct pc *pc, u32 linear, const u32 *error)
{
	u32 *directory = pool_pointer(pc->shadow.identity);
	u32 *entry = &directory[directory_index(linear)];
	u32 *table;

	if (linear < pc->shadow.memory_size)
		return SHADOW_FILLED;
	if (linear >= GANDALF_BASE)
		return SHADOW_FAULT;
	if (*error & PF_W)
		return SHADOW_OUTSIDE;
	if (*entry == 0) {
		u32 frame = frame_allocate(pc);

		if (frame == 0)
			return SHADOW_FULL;
		*entry = frame | PTE_P | PTE_U | PTE_A;
	}
	table = pool_pointer(*entry & PTE_FRAME);
	table[table_index(linear)] = pc->shadow.nothing | PTE_P | PTE_U | PTE_A | PTE_D;
	return SHADOW_FILLED;
}

enum shadow_result shadow_fill(struct pc *pc, u32 linear, u32 *error)
{
	u32 *guest = pc->shadow.guest_directory;
	u32 pde;

	if (guest == NULL && pc->shadow.current == NULL)
		return fill_identity(pc, linear, error);
	if ((guest == NULL || *pc->shadow.guest_window != pc->shadow.guest_window_entry) &&
	    (guest = guest_directory_find(pc)) == NULL)
		return fill_absent(error);
	guest += directory_index(linear);
	pde = *guest;
	if ((pde & PTE_P) == 0)
		return fill_absent(error);
	vcpu_count(pc->vcpu, COUNTER_shadow_fills);
	if (pde_is_large(pc, pde))
		return fill_large(pc, linear, guest, error);
	*guest |= PTE_A;
	return fill_small(pc, linear, pde, error);
}

bool shadow_fill_for_vmm(struct vcpu *vcpu, u32 linear)
{
	u32 error = 0;

	if (linear >= GANDALF_BASE)
		return false;
	return shadow_fill(vcpu->vm->pc, linear, &error) == SHADOW_FILLED;
}

COLD bool shadow_make_writable(struct pc *pc, u32 linear)
{
	u32 error = PF_W;
	enum shadow_result result = shadow_fill(pc, linear, &error);

	/* The VMM's store passes by the protection of whatever page is there: here too it has to be the
	 * one that the guest's tables have now. */
	if (result == SHADOW_PROTECTED) {
		error = 0;
		result = shadow_fill(pc, linear, &error);
	}
	/* Behind a fault of its own the CPU would not remember what was there before, perhaps a page
	 * that is not the guest's to write. */
	invlpg(linear);
	return result == SHADOW_FILLED;
}

void *shadow_protected_page(const struct shadow *shadow)
{
	return memory_window_frame(shadow->memory_base + shadow->protected_frame);
}

/* Flushing */

static void space_zap_page(struct space *space, u32 linear)
{
	u32 *directory = pool_pointer(space->directory);
	u32 *entry = &directory[directory_index(linear)];

	if (*entry == 0)
		return;
	if (*entry & PTE_PS)
		*entry = 0;
	else
		((u32 *)pool_pointer(*entry & PTE_FRAME))[table_index(linear)] = 0;
}

/* A kernel page is filled again at once: the stack of an interrupt must never
 * be absent. */
COLD static void kernel_resync_page(struct pc *pc, u32 linear)
{
	u32 index = directory_index(linear);
	const u32 *pde = guest_table_entry(pc, pc->cr3, index);
	u32 entry = current_directory(&pc->shadow)[index];
	u32 *guest, *table;

	if (index >= KERNEL_END)
		return;
	kernel_changes(&pc->shadow);
	if (pde == NULL || (*pde & PTE_P) == 0 || pde_is_large(pc, *pde) || entry == 0 ||
	    (entry & PTE_PS) != 0) {
		linear &= PTE_LARGE_FRAME;
		kernel_sync_range(pc, linear, linear + LARGE_PAGE_SIZE);
		/* Of the other pages the CPU may remember what was there, and the VMM store there. */
		tlb_flush();
		return;
	}
	table = pool_pointer(entry & PTE_FRAME);
	entry = *pde;
	guest = guest_table_entry(pc, entry, table_index(linear));
	if (guest == NULL || (*guest & PTE_P) == 0)
		table[table_index(linear)] = 0;
	else
		table[table_index(linear)] =
			shadow_entry(pc, *guest & (entry | ~(PTE_U | PTE_W)), true);
}

COLD void shadow_invalidate(struct pc *pc, u32 linear)
{
	vcpu_count(pc->vcpu, COUNTER_invalidations);
	if (pc->shadow.current == NULL)
		return;
	if (directory_index(linear) >= KERNEL_FIRST)
		kernel_resync_page(pc, linear);
	else
		space_zap_page(pc->shadow.current, linear);
	if (linear < GANDALF_BASE)
		invlpg(linear);
}

static void space_flush_pages(struct pc *pc, struct space *space, u32 linear, u32 end)
{
	for (; linear < end; linear += PAGE_SIZE) {
		space_zap_page(space, linear);
		if (space == pc->shadow.current)
			invlpg(linear);
	}
}

/* Empties the part of a page table that an address is in, up to an end, if it has entries at all;
 * a large page, all of it. Returns the address behind. */
COLD static u32 space_zap_part(struct space *space, u32 linear, u32 end)
{
	u32 *entry = (u32 *)pool_pointer(space->directory) + directory_index(linear);
	u32 next = (linear & ~(PART * PAGE_SIZE - 1)) + PART * PAGE_SIZE;
	u32 *table;

	if (*entry == 0 || (*entry & PTE_PS)) {
		*entry = 0;
		return (linear & PTE_LARGE_FRAME) + LARGE_PAGE_SIZE;
	}
	if (*pool_marks(*entry & PTE_FRAME) >> table_index(linear) / PART & 1) {
		table = pool_pointer(*entry & PTE_FRAME);
		for (end = minimum(end, next); linear < end; linear += PAGE_SIZE)
			table[table_index(linear)] = 0;
	}
	return next;
}

static void space_flush_range(struct pc *pc, struct space *space, u32 linear, u32 end)
{
	u32 guest = space->guest;

	while (linear < end) {
		bool points = pc->points;

		linear = space_zap_part(space, linear, end);
		point(pc);
		if (points && (space = space_find(&pc->shadow, guest)) == NULL)
			return;
	}
	if (space == pc->shadow.current)
		tlb_flush();
}

void shadow_flush(struct pc *pc, u32 guest_directory, u32 start, u32 end)
{
	struct shadow *shadow = &pc->shadow;
	struct space *space;

	vcpu_count(pc->vcpu, COUNTER_flushes);
	shadow->caching = true;
	space = space_find(shadow, guest_directory & PTE_FRAME);
	if (space == NULL) {
		vcpu_count(pc->vcpu, COUNTER_flush_misses);
		return;
	}
	if (end > SHADOW_KERNEL || (start < end && end - start > FLUSH_RANGE)) {
		space_drop(space, pc);
		if (space == shadow->current)
			tlb_flush();
	} else if (start < end) {
		start &= PTE_FRAME;
		if (end - start <= FLUSH_SINGLE_PAGES * PAGE_SIZE)
			space_flush_pages(pc, space, start, end);
		else
			space_flush_range(pc, space, start, end);
	}
}

COLD void shadow_flush_all(struct pc *pc)
{
	if (pc->shadow.current == NULL)
		return;
	space_drop(pc->shadow.current, pc);
	kernel_sync(pc);
	tlb_flush_global();
}

COLD void shadow_protect(struct pc *pc, u32 guest_frame)
{
	if (pc->shadow.protected_frame == guest_frame)
		return;
	kernel_changes(&pc->shadow);
	pc->shadow.protected_frame = guest_frame;
	for (u32 i = 0; i < pc->shadow.space_limit; i++)
		space_drop(space_at(&pc->shadow, i), pc);
	shadow_flush_all(pc);
}

/* CR3 and paging */

/* All of them, so none is looked for in its chain, which may be as long as there are spaces. */
COLD static void spaces_free(struct shadow *shadow)
{
	for (u32 i = 0; i < shadow->space_limit; i++) {
		struct space *space = space_at(shadow, i);

		if (space->directory == 0)
			continue;
		space_drop(space, NULL);
		pool_free(space->directory);
		space->directory = 0;
		if (core.current == &idle_vcpu)
			schedule_breathe();
	}
	memset(shadow->hash, 0, sizeof(shadow->hash));
	shadow->space_limit = shadow->space_free = 0;
}

static struct space *space_for_load(struct pc *pc, u32 guest)
{
	struct shadow *shadow = &pc->shadow;
	struct space *space = space_find(shadow, guest);

	trace_fast(pc->vcpu->id, TRACE_cr3, guest, space != NULL);
	if (space != NULL) {
		vcpu_count(pc->vcpu, COUNTER_space_hits);
		return space;
	}
	vcpu_count(pc->vcpu, COUNTER_space_misses);
	if (!shadow->caching && shadow->current != NULL)
		return space_reuse(shadow, guest);
	return space_create(pc, guest);
}

void shadow_load(struct pc *pc, bool same)
{
	struct shadow *shadow = &pc->shadow;
	struct space *space;

	vcpu_count(pc->vcpu, COUNTER_cr3_loads);
	if ((pc->cr0 & CR0_PG) == 0)
		return;
	space = space_for_load(pc, pc->cr3 & PTE_FRAME);
	if (space == NULL) {
		vm_stop(pc->vm, "the pool has no frame left for its page tables");
		return;
	}
	shadow->guest_directory = NULL;
	if (same || !shadow->caching)
		space_drop(space, NULL);
	space_load(pc, space);
	if ((pc->cr4 & CR4_PGE) == 0 || shadow->local_kernel || shadow->syncing) {
		kernel_sync(pc);
		tlb_flush_global();
	}
}

COLD static void identity_load(struct pc *pc)
{
	pc->shadow.current = NULL;
	pc->shadow.guest_directory = NULL;
	pc->shadow.protected_page = 0;
	pc->vcpu->cr3 = core.cr3 = pc->shadow.identity;
	cr3_write(pc->shadow.identity);
	tlb_flush_global();
	/* What is not cached must not come back with paging. */
	spaces_free(&pc->shadow);
}

COLD void shadow_set_paging(struct pc *pc)
{
	if (pc->cr0 & CR0_PG) {
		pc->shadow.local_kernel = true; /* so that the load rebuilds it */
		shadow_load(pc, true);
	} else if (pc->shadow.current != NULL) {
		identity_load(pc);
	}
}

/* Life */

COLD static void master_fill(struct pc *pc)
{
	u32 *master = pool_pointer(pc->shadow.master);
	u32 *identity = pool_pointer(pc->shadow.identity);

	memcpy(&master[KERNEL_END], &memory_directory[KERNEL_END],
	       (ENTRIES - KERNEL_END) * sizeof(u32));
	master[KERNEL_END] = pc->vcpu->table_frame | PTE_P | PTE_W | PTE_A;
	memcpy(&identity[KERNEL_END], &master[KERNEL_END], (ENTRIES - KERNEL_END) * sizeof(u32));
	/* For ring 3 too, so that nothing faults that is there. */
	for (u32 i = 0; i < pc->shadow.memory_size >> LARGE_PAGE_SHIFT; i++) {
		if (i % GROUP == 0)
			schedule_breathe();
		identity[i] = (pc->shadow.memory_base + (i << LARGE_PAGE_SHIFT)) | PTE_P | PTE_W |
			      PTE_U | PTE_PS | PTE_A | PTE_D;
	}
}

COLD bool shadow_create(struct pc *pc)
{
	struct shadow *shadow = &pc->shadow;
	u32 *frames[] = {&shadow->master, &shadow->identity, &shadow->nothing,
			 &shadow->space_frames[0], &shadow->space_frames[1]};

	shadow->memory_base = pc->vm->guest->memory_base;
	shadow->memory_size = pc->vm->guest->memory_size;
	for (u32 i = 0; i < ARRAY_SIZE(frames); i++) {
		*frames[i] = pool_allocate();
		if (*frames[i] == 0)
			return false;
	}
	memset(pool_pointer(shadow->nothing), 0xff, PAGE_SIZE);
	return true;
}

COLD void shadow_reset(struct pc *pc)
{
	master_fill(pc);
	pc->shadow.current = NULL;
	pc->shadow.guest_directory = NULL;
	pc->shadow.caching = false;
	pc->shadow.protected_frame = pc->shadow.protected_page = 0;
	pc->vcpu->cr3 = pc->shadow.identity;
}

COLD void shadow_destroy(struct vcpu *vcpu)
{
	struct shadow *shadow = &vcpu->vm->pc->shadow;
	u32 *master = pool_pointer(shadow->master);
	u32 *identity = pool_pointer(shadow->identity);

	switch_leave_space(vcpu);
	shadow->current = NULL;
	spaces_free(shadow);
	for (u32 i = 0; i < KERNEL_END; i += GROUP) {
		group_drop(&master[i]);
		group_drop(&identity[i]);
		schedule_breathe();
	}
}
