/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a guest may see, by its own tables and flushes alone: for each page that is looked at, what
 * its tables have said since it was flushed last. No entry of the shadow or of the TLB may say
 * more, and the VMM's stores go nowhere else.
 */
#ifndef GANDALF_FUZZ_SHADOW_ORACLE_H
#define GANDALF_FUZZ_SHADOW_ORACLE_H

#include "shadow_machine.h"
#include "world.h"

#define DIRECTORIES 3u
#define SLOTS 3u
#define USER_PAGES 8u
#define KERNEL_PAGES 16u
#define GRANTS 8u
#define DIRECTORY_FRAME(index) ((8u + (index)) << PAGE_SHIFT)

static const u32 user_slots[SLOTS] = { 0, 1, 0x2ff };
static const u32 kernel_slots[SLOTS] = { 0x300, 0x301, 0x3ef };

/* What the tables said of a page, and when it was seen last. */
struct grant {
	struct rights rights;
	bool global;
	u32 last;
};

/* A page of a space, or of the kernel half of all. What was only seen before it was flushed counts
 * no more; incomplete: when something could not be noted. */
struct history {
	struct grant grants[GRANTS];
	u32 count, flushed, incomplete;
};

static struct history user_history[DIRECTORIES][SLOTS * USER_PAGES];
static struct history kernel_history[SLOTS * KERNEL_PAGES];
/* Counts what has been noted. */
static u32 now;

static u32 user_page(u32 index)
{
	return user_slots[index / USER_PAGES] << 22 | index % USER_PAGES << 12;
}

static u32 kernel_page(u32 index)
{
	return kernel_slots[index / KERNEL_PAGES] << 22 | index % KERNEL_PAGES << 12;
}

/* Which of the directories; DIRECTORIES: another page that the guest takes for one. */
static u32 directory_number(u32 guest_directory)
{
	u32 number = (guest_directory >> PAGE_SHIFT) - (DIRECTORY_FRAME(0) >> PAGE_SHIFT);

	return number < DIRECTORIES ? number : DIRECTORIES;
}

static struct history *history_find(u32 guest_directory, u32 linear)
{
	u32 directory = directory_number(guest_directory), page = linear >> 12 & 1023;

	for (u32 slot = 0; slot < SLOTS; slot++) {
		if (linear >> 22 == kernel_slots[slot] && page < KERNEL_PAGES)
			return &kernel_history[slot * KERNEL_PAGES + page];
		if (linear >> 22 == user_slots[slot] && page < USER_PAGES &&
		    directory < DIRECTORIES)
			return &user_history[directory][slot * USER_PAGES + page];
	}
	return NULL;
}

/* Noting */

/* The global bit, which is of the last level only. */
static bool guest_is_global(u32 directory, u32 linear)
{
	const u32 *word = guest_word((directory & PTE_FRAME) + (linear >> 22) * 4);

	if ((x86->cr4 & CR4_PGE) == 0 || word == NULL)
		return false;
	if ((*word & PTE_PS) == 0 || (x86->cr4 & CR4_PSE) == 0)
		word = guest_word((*word & PTE_FRAME) + (linear >> 12) % 1024 * 4);
	return word != NULL && (*word & PTE_G) != 0;
}

static bool grant_is(const struct grant *grant, struct rights rights, bool global)
{
	return grant->rights.frame == rights.frame && grant->rights.writable == rights.writable &&
	       grant->rights.user == rights.user && grant->rights.dirty == rights.dirty &&
	       grant->global == global;
}

static struct grant *grant_place(struct history *history)
{
	if (history->count < GRANTS)
		return &history->grants[history->count++];
	for (u32 i = 0; i < GRANTS; i++)
		if (history->grants[i].last < history->flushed)
			return &history->grants[i];
	history->incomplete = now;
	return NULL;
}

static void history_note(struct history *history, u32 linear)
{
	struct rights rights = guest_walk(x86->cr3, x86->cr4, linear);
	bool global = guest_is_global(x86->cr3, linear);
	struct grant *grant;

	if (!rights.present)
		return;
	for (u32 i = 0; i < history->count; i++)
		if (grant_is(&history->grants[i], rights, global)) {
			history->grants[i].last = now;
			return;
		}
	grant = grant_place(history);
	if (grant != NULL)
		*grant = (struct grant){ rights, global, now };
}

/* What the tables say now; shadows are made from those that are loaded. */
static void oracle_note(void)
{
	u32 directory = directory_number(x86->cr3);

	now++;
	if ((x86->cr0 & CR0_PG) == 0)
		return;
	for (u32 i = 0; i < SLOTS * KERNEL_PAGES; i++)
		history_note(&kernel_history[i], kernel_page(i));
	if (directory < DIRECTORIES)
		for (u32 i = 0; i < SLOTS * USER_PAGES; i++)
			history_note(&user_history[directory][i], user_page(i));
}

/* Flushing, by the guest: what was not there at that time or later is gone */

static void history_flush(struct history *history, u32 since)
{
	if (history != NULL && since > history->flushed)
		history->flushed = since;
}

static void oracle_flush_space(u32 guest_directory, u32 start, u32 end, u32 since)
{
	u32 directory = directory_number(guest_directory);

	for (u32 i = 0; directory < DIRECTORIES && i < SLOTS * USER_PAGES; i++)
		if (user_page(i) >= (start & PTE_FRAME) && user_page(i) < end)
			history_flush(&user_history[directory][i], since);
}

/* also_global: not only what a load of CR3 has a CPU forget. */
static void oracle_flush_kernel(bool also_global, u32 since)
{
	for (u32 i = 0; i < SLOTS * KERNEL_PAGES; i++) {
		struct history *history = &kernel_history[i];
		u32 kept = 0;

		if (also_global)
			history_flush(history, since);
		for (u32 g = 0; g < history->count; g++)
			if (history->grants[g].global || history->grants[g].last >= since)
				history->grants[kept++] = history->grants[g];
		history->count = kept;
	}
}

static void oracle_flush_all(u32 since)
{
	for (u32 i = 0; i < DIRECTORIES; i++)
		oracle_flush_space(DIRECTORY_FRAME(i), 0, SHADOW_KERNEL, since);
	oracle_flush_kernel(true, since);
}

static void oracle_reset(void)
{
	memset(user_history, 0, sizeof(user_history));
	memset(kernel_history, 0, sizeof(kernel_history));
	now = 1;
}

/* Looking */

/* Where a frame of the guest's is, if anywhere. */
static bool frame_is(u32 frame, u32 of_guest)
{
	if (of_guest < GUEST_SIZE)
		return frame == GUEST_BASE + of_guest;
	if (!x86->policy->interruptible && (of_guest ^ x86->shadow.apic) < PAGE_SIZE)
		return frame == of_guest;
	return frame == x86->shadow.nothing;
}

static bool grant_covers(const struct grant *grant, struct rights rights)
{
	const struct rights *real = &grant->rights;

	return frame_is(rights.frame, real->frame) && rights.user <= real->user &&
	       (!rights.writable || (real->writable && real->dirty && real->frame < GUEST_SIZE));
}

static bool is_granted(const struct history *history, struct rights rights)
{
	if (history->incomplete != 0 && history->incomplete >= history->flushed)
		return true;
	for (u32 i = 0; i < history->count; i++)
		if (history->grants[i].last >= history->flushed &&
		    grant_covers(&history->grants[i], rights))
			return true;
	return false;
}

/* Whether the guest's kernel might write this frame there. */
static bool may_write(u32 linear, u32 frame)
{
	const struct history *history = history_find(x86->cr3, linear);

	if (x86->shadow.current == NULL)
		return frame == GUEST_BASE + (linear & PTE_FRAME);
	if (history == NULL ||
	    (history->incomplete != 0 && history->incomplete >= history->flushed))
		return true;
	for (u32 i = 0; i < history->count; i++)
		if (history->grants[i].last >= history->flushed &&
		    history->grants[i].rights.writable &&
		    frame == GUEST_BASE + history->grants[i].rights.frame)
			return true;
	return false;
}

static void broken_at(const char *what, u32 linear, u32 directory, struct rights rights)
{
	const struct history *history = history_find(directory, linear);

	fprintf(stderr, "broken: the %s has frame %x, W %d, U %d at %x in %x; since %u:\n", what,
		rights.frame, rights.writable, rights.user, linear, directory, history->flushed);
	for (u32 i = 0; i < history->count; i++) {
		const struct grant *grant = &history->grants[i];

		fprintf(stderr, "  frame %x, W %d, U %d, D %d, G %d at %u\n", grant->rights.frame,
			grant->rights.writable, grant->rights.user, grant->rights.dirty,
			grant->global, grant->last);
	}
	abort();
}

static void oracle_look(const char *what, u32 directory, u32 linear, struct rights rights)
{
	const struct history *history = history_find(directory, linear);

	if (rights.present && history != NULL && !is_granted(history, rights))
		broken_at(what, linear, directory, rights);
}

static void spaces_look(void)
{
	bool global;

	for (u32 i = 0; i < x86->shadow.space_limit; i++) {
		u32 frame = x86->shadow.space_frames[i / SHADOW_SPACES_PER_FRAME];
		const struct space *space =
			(struct space *)(physical + frame) + i % SHADOW_SPACES_PER_FRAME;

		if (space->directory == 0 || directory_number(space->guest) == DIRECTORIES ||
		    (world_detects() && space != x86->shadow.current))
			continue;
		for (u32 page = 0; page < SLOTS * USER_PAGES; page++)
			oracle_look("shadow", space->guest, user_page(page),
				    world_of_kernel(shadow_walk(space->directory, user_page(page),
								&global)));
	}
	for (u32 page = 0; page < SLOTS * KERNEL_PAGES; page++)
		oracle_look("kernel half", 0, kernel_page(page),
			    world_of_kernel(shadow_walk(x86->shadow.master, kernel_page(page),
							&global)));
}

/* What a process has where it sees nothing of its kernel. */
static void process_look(void)
{
	u32 directory = world_process();
	bool global;

	if (directory == 0)
		return;
	for (u32 page = 0; page < SLOTS * USER_PAGES; page++)
		oracle_look("process's view", x86->cr3, user_page(page),
			    shadow_walk(directory, user_page(page), &global));
	for (u32 page = 0; page < SLOTS * KERNEL_PAGES; page++)
		require(!shadow_walk(directory, kernel_page(page), &global).present);
}

static bool pool_frame_free[MACHINE_POOL_SIZE / PAGE_SIZE];

static void frame_note_free(u32 frame)
{
	pool_frame_free[(frame - MACHINE_POOL) / PAGE_SIZE] = true;
}

/* The processor knows no table that has been freed, and nothing that the guest has flushed. */
static void tlb_look(void)
{
	memset(pool_frame_free, 0, sizeof(pool_frame_free));
	pool_each_free(frame_note_free);
	for (u32 i = 0; i < LAYOUT_DIRECTORY_FIRST; i++) {
		u32 pde = directory_cache[i].pde;

		if (directory_cache[i].valid && (pde & PTE_PS) == 0)
			require(!pool_frame_free[((pde & PTE_FRAME) - MACHINE_POOL) / PAGE_SIZE]);
	}
	for (u32 i = 0; i < ARRAY_SIZE(tlb); i++) {
		u32 linear = tlb[i].page << PAGE_SHIFT;

		if (!tlb[i].valid || linear >= GANDALF_BASE)
			continue;
		if (tlb[i].rights.writable)
			frame_is_guests(tlb[i].rights.frame);
		require(world_process() == 0 || linear < SHADOW_KERNEL);
		if (x86->shadow.current == NULL)
			require(tlb[i].rights.frame == GUEST_BASE + linear ||
				tlb[i].rights.frame == x86->shadow.nothing);
		else
			oracle_look("TLB", x86->cr3, linear, world_of_loaded(tlb[i].rights));
	}
}

/* While the guest runs. */
static void oracle_check(void)
{
	shadow_check(x86);
	if (x86->shadow.current != NULL)
		spaces_look();
	process_look();
	tlb_look();
}

/* The VMM's own stores, after each of which the tables may be others: one may go to the entry that
 * it went by, which was dirty until then. */
static void store_seen(u32 linear, u32 frame)
{
	oracle_note();
	if (!may_write(linear, frame)) {
		fprintf(stderr, "broken: the VMM writes frame %x at %x\n", frame, linear);
		abort();
	}
}

static void store_done(void)
{
	oracle_note();
}

#endif
