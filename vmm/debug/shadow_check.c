/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the invariant of shadow page tables. The invariant holds whenever the guest runs, when the
 * VMM's work for it is done or suspended at a point (guests/x86/upcall.h):
 *
 * 	- The VMM's part of every directory equals memory_directory's, except for the vCPU's own
 * 	  page table. Of that, only the shared page, the alias unless it is a trap, and the stacks
 * 	  without suspended work can be written.
 * 	- The kernel half of every space equals the master's.
 * 	- A leaf names memory of the guest. For reading it may also name the page of ones, or the
 * 	  guest's local APIC. It has A and D, so that the CPU never sets them. Only leaves of the
 * 	  kernel half are global; if one there is not, local_kernel says so. The protected page
 * 	  cannot be written. With two levels of privilege each leaf is ring 3's, and what is global
 * 	  is below the kernel half.
 * 	- With two levels the directory of the process's view has below the kernel half what the
 * 	  other one has, and nothing there. The vCPU's own table is the VMM's alone in it.
 * 	- A frame of the pool is in one place, or free. Its parts that are not zero are marked: in a
 * 	  directory by used_groups, elsewhere by the pool's marks.
 * 	- Each space is found once by its hash, and lies where space_limit and space_free say.
 * 	- CR3, the current space and the guest's directory agree with the guest's registers.
 * 	- At the linear address in protected_page the kernel cannot write, so each store traps.
 *
 * The check cannot see whether an entry is what the guest's tables said at some time since the last
 * flush; tests/fuzz/fuzz_shadow.c compares with a model for that.
 */
#include "debug/shadow_check.h"

#include "core/guest_kind.h"
#include "core/core.h"
#include "core/vm.h"
#include "debug/frame_check.h"
#include "debug/must.h"
#include "debug/page_table_check.h"
#include "guests/x86/x86.h"
#include "lib/owner.h"
#include "views.h"

#define STACK_DISTANCE 3u /* pages from one upcall's stack to the next */
/* How many entries of a full check each return pays for, on average. */
#define RETURN_SHARE 128u

#define OWN (PTE_P | PTE_W | PTE_A | PTE_D)

/* The number of returns since the last full check. */
OF_CORE static u32 returns;

/* --- The VMM's part --- */

/* rights: VIEWS_ALWAYS where the guest's kernel may use the vCPU's own table, or 0. */
static void vmm_part_check(const struct x86 *x86, const u32 *directory, u32 rights)
{
	must(directory[KERNEL_END] == (x86->vcpu->table_frame | PTE_P | PTE_W | PTE_A | rights),
	     "a directory has another table of the vCPU", KERNEL_END, directory[KERNEL_END]);
	for (u32 i = KERNEL_END + 1; i < ENTRIES; i++)
		must(directory[i] == memory_directory[i], "a directory's part of the VMM differs",
		     i << LARGE_PAGE_SHIFT, directory[i]);
}

static u32 frame_of(const void *pool)
{
	return (u32)pool - pool_distance;
}

/* Checks one page of the vCPU's own table. A stack that holds suspended work is read-only, and so
 * is the alias while it is a trap. */
static void own_page_check(const struct x86 *x86, u32 index, u32 entry)
{
	u32 shared = frame_of(x86->vcpu->shared);
	u32 stack = index - (LAYOUT_STACK >> PAGE_SHIFT) % ENTRIES;
	u32 flags = OWN, frame = 0;

	if (index == (GANDALF_SHARED_PAGE - GANDALF_BASE) / PAGE_SIZE) {
		frame = shared;
		flags |= VIEWS_ALWAYS;
	} else if (index == (GANDALF_SHARED_ALIAS - GANDALF_BASE) / PAGE_SIZE) {
		frame = shared;
		flags |= VIEWS_ALWAYS;
		flags &= x86->armed ? ~PTE_W : ~0u;
	} else if (stack < (UPCALL_DEPTH + 1) * STACK_DISTANCE && (entry & PTE_P)) {
		frame = stack < 2 ? x86->vcpu->stack_frames[stack] : entry & PTE_FRAME;
		must(stack < 2 || stack % STACK_DISTANCE == 1, "a hole below a stack is none",
		     index, entry);
		flags &= stack / STACK_DISTANCE < x86->upcall_depth ? ~PTE_W : ~0u;
		claim(frame, "a stack's page is in two places");
	} else {
		/* The hole below a stack may have W set or not: it changes with that of the
		 * stack's other page, and means nothing in an absent entry. */
		entry &= ~PTE_W;
		flags = 0;
	}
	must(entry == (frame | flags), "the vCPU's own page differs", index, entry);
}

static void own_check(const struct x86 *x86)
{
	const u32 *table = pool_pointer(x86->vcpu->table_frame);

	entries_looked_at += ENTRIES;
	for (u32 i = 0; i < ENTRIES; i++)
		own_page_check(x86, i, table[i]);
}

/* --- While paging is off --- */

static void identity_check(const struct x86 *x86)
{
	const struct shadow *shadow = &x86->shadow;
	const u32 *directory = pool_pointer(shadow->identity);
	u32 large = shadow->memory_size >> LARGE_PAGE_SHIFT;

	vmm_part_check(x86, directory, VIEWS_ALWAYS);
	entries_looked_at += KERNEL_END;
	for (u32 i = 0; i < large; i++) {
		u32 frame = shadow->memory_base + (i << LARGE_PAGE_SHIFT);

		must(directory[i] == (frame | LEAF | PTE_W | PTE_U | PTE_PS),
		     "memory is not as it is without paging", i << LARGE_PAGE_SHIFT, directory[i]);
	}
	for (u32 i = large; i < KERNEL_END; i++) {
		if (directory[i] == 0)
			continue;
		must((directory[i] & ~PTE_FRAME) == (TABLE & ~PTE_W),
		     "more than memory can be written without paging", i, directory[i]);
		page_table_check(x86, i << LARGE_PAGE_SHIFT, directory[i] & PTE_FRAME, false);
	}
}

/* --- Spaces --- */

static void process_check(const struct x86 *x86, const struct space *space)
{
	const u32 *directory = pool_pointer(space->directory);
	const u32 *process = pool_pointer(views_process(space));

	claim(views_process(space), "a view's directory is in two places");
	vmm_part_check(x86, process, 0);
	for (u32 i = 0; i < KERNEL_END; i++)
		must(process[i] == (i < KERNEL_FIRST ? directory[i] : 0),
		     "a process's view is not what it is to be", i << LARGE_PAGE_SHIFT, process[i]);
}

static void space_check(const struct x86 *x86, const struct space *space)
{
	const u32 *directory = pool_pointer(space->directory);
	const u32 *master = pool_pointer(x86->shadow.master);

	claim(space->directory, "a directory is in two places");
	if (views_process(space) != 0)
		process_check(x86, space);
	must((~*pool_marks(space->directory) & ~0u << KERNEL_FIRST / PART) == 0,
	     "a directory's kernel half is not marked", space->guest, space->directory);
	vmm_part_check(x86, directory, VIEWS_ALWAYS);
	for (u32 i = KERNEL_FIRST; i < KERNEL_END; i++)
		must(directory[i] == master[i], "a space's kernel half differs",
		     i << LARGE_PAGE_SHIFT, directory[i]);
	for (u32 i = 0; i < KERNEL_FIRST; i += GROUP)
		if (space->used_groups[i / GROUP / 32] >> i / GROUP % 32 & 1)
			entries_check(x86, directory, i, i + GROUP);
		else
			must(is_zero(&directory[i], GROUP), "a space uses more than it says",
			     i << LARGE_PAGE_SHIFT, space->guest);
}

/* Checks that no space behind this one in its chain is that of the same directory. */
static void chain_check(const struct shadow *shadow, const struct space *space)
{
	for (u32 link = space->next; link != 0; link = space_at(shadow, link - 1)->next)
		must(space_at(shadow, link - 1)->guest != space->guest,
		     "a directory has two spaces", link, space->guest);
}

/* Checks that each space in a chain is in that of its hash. Returns how many there are. */
static u32 chains_check(const struct shadow *shadow)
{
	u32 count = 0;

	for (u32 hash = 0; hash < SHADOW_HASH; hash++)
		for (u32 link = shadow->hash[hash]; link != 0; count++) {
			const struct space *space = space_at(shadow, link - 1);

			must(link <= shadow->space_limit && count <= SHADOW_SPACES,
			     "a chain of spaces leads astray", hash, link);
			must(space->directory != 0 &&
				     (space->guest >> PAGE_SHIFT) % SHADOW_HASH == hash,
			     "a space is in the chain of another hash", hash, space->guest);
			chain_check(shadow, space);
			link = space->next;
		}
	return count;
}

static void spaces_check(const struct x86 *x86)
{
	const struct shadow *shadow = &x86->shadow;
	u32 chained, used = 0;

	must(shadow->space_limit <= SHADOW_SPACES && shadow->space_free <= SHADOW_SPACES,
	     "there are more spaces than there can be", shadow->space_limit, shadow->space_free);
	chained = chains_check(shadow);
	for (u32 i = 0; i < SHADOW_SPACES; i++) {
		const struct space *space = space_at(shadow, i);

		must(space->directory != 0 || i >= shadow->space_free,
		     "a space is free where none should be", i, shadow->space_free);
		if (space->directory == 0)
			continue;
		must(i < shadow->space_limit, "a space lies behind the last", i, space->guest);
		space_check(x86, space);
		used++;
	}
	must(chained == used, "a space is in no chain, or in two", chained, used);
	must(shadow->caching || used <= 1, "spaces are kept that nobody flushes", used, 0);
}

/* --- Registers --- */

static bool process_is_shown(const struct x86 *x86)
{
	const struct space *space = x86->shadow.current;

	return space != NULL && views_process(space) != 0 &&
	       views_in_process(x86->vcpu, x86->vcpu->frame);
}

/* Returns the directory that is to be loaded. */
static u32 directory_wanted(const struct x86 *x86)
{
	const struct space *space = x86->shadow.current;

	if (process_is_shown(x86))
		return views_process(space);
	return space != NULL ? space->directory : x86->shadow.identity;
}

static void current_check(const struct x86 *x86)
{
	const struct shadow *shadow = &x86->shadow;
	const struct space *space = shadow->current;
	u32 cr3 = directory_wanted(x86);
	u32 window;

	must(x86->vcpu->cr3 == cr3 && core.cr3 == cr3 && cr3_read() == cr3,
	     "another directory is loaded than the guest's", cr3_read(), cr3);
	must(views_are_known(x86), "the direct ways know something else of the views", cr3_read(),
	     cr3);
	must((space != NULL) == ((x86->cr0 & CR0_PG) != 0), "paging is not as the guest has it",
	     x86->cr0, cr3);
	if (space == NULL) {
		must(shadow->guest_directory == NULL && shadow->protected_page == 0,
		     "something is known of tables that are not in use", shadow->protected_page,
		     cr3);
		return;
	}
	must(space->guest == (x86->cr3 & PTE_FRAME), "another space is loaded than the guest's",
	     space->guest, x86->cr3);
	if (shadow->guest_directory == NULL)
		return;
	must(shadow->guest_window_entry ==
		     ((shadow->memory_base + (x86->cr3 & PTE_FRAME)) | PTE_P | PTE_A | PTE_D),
	     "another guest's directory is read", shadow->guest_window_entry, x86->cr3);
	window = ((u32)shadow->guest_directory - LAYOUT_WINDOWS) >> PAGE_SHIFT;
	must(shadow->guest_window == &memory_windows[window],
	     "the guest's directory is read through another window", (u32)shadow->guest_directory,
	     x86->cr3);
}

static bool is_memory_of_guests(u32 frame)
{
	for (u32 i = 0; i < ARRAY_SIZE(vms); i++) {
		const struct gandalf_guest *guest = vms[i].guest;

		if (guest != NULL && frame - guest->memory_base < guest->memory_size)
			return true;
	}
	return false;
}

/* Checks that the windows show only memory of guests, and show it to the VMM only. */
static void windows_check(void)
{
	entries_looked_at += MEMORY_WINDOWS;
	for (u32 i = 0; i < MEMORY_WINDOWS; i++)
		must(memory_windows[i] == 0 || ((memory_windows[i] & ~PTE_FRAME) == LEAF &&
						is_memory_of_guests(memory_windows[i] & PTE_FRAME)),
		     "a window shows what is not the guests'", i, memory_windows[i]);
}

/* Returns the present leaf of an address, or 0. A large page's is returned as that of a small
 * one. */
static u32 entry_find(const u32 *directory, u32 linear)
{
	u32 entry = directory[linear >> LARGE_PAGE_SHIFT];

	if (entry == 0)
		return 0;
	if (entry & PTE_PS)
		return (entry & ~(PTE_PS | PTE_FRAME)) | (entry & PTE_LARGE_FRAME) |
		       (linear & ~PTE_LARGE_FRAME & PTE_FRAME);
	return ((const u32 *)pool_pointer(entry & PTE_FRAME))[(linear >> PAGE_SHIFT) % ENTRIES];
}

static void protected_page_check(const struct x86 *x86)
{
	const struct shadow *shadow = &x86->shadow;
	u32 page = shadow->protected_page, entry;

	if (page < SHADOW_KERNEL || shadow->current == NULL)
		return;
	entry = entry_find(pool_pointer(x86->vcpu->cr3), page);
	must((entry & PTE_W) == 0, "another page has taken the place of the protected one", page,
	     entry);
}

static void owned_check(const struct x86 *x86)
{
	const struct shadow *shadow = &x86->shadow;

	claims_forget();
	claim(frame_of(x86), "the guest's struct x86 is in two places");
	claim(frame_of(x86->vcpu->shared), "the shared page is in two places");
	claim(x86->vcpu->tables_frame, "the descriptor tables are in two places");
	claim(x86->vcpu->table_frame, "the vCPU's table is in two places");
	claim(shadow->master, "the master is in two places");
	claim(shadow->identity, "the identity is in two places");
	claim(shadow->nothing, "the page of ones is in two places");
	for (u32 i = 0; i < SHADOW_SPACE_FRAMES; i++)
		claim(shadow->space_frames[i], "the list of spaces is in two places");
}

void shadow_check(const struct x86 *x86)
{
	const u32 *master = pool_pointer(x86->shadow.master);
	const u32 *nothing = pool_pointer(x86->shadow.nothing);

	entries_looked_at = returns = 0;
	owned_check(x86);
	current_check(x86);
	own_check(x86);
	identity_check(x86);
	windows_check();
	for (u32 i = 0; i < ENTRIES; i++)
		must(nothing[i] == ~0u, "the page of ones has been written", i, nothing[i]);
	vmm_part_check(x86, master, VIEWS_ALWAYS);
	entries_check(x86, master, KERNEL_FIRST, KERNEL_END);
	spaces_check(x86);
	protected_page_check(x86);
	claim_free_ones();
}

/* Checks the part of a page table that the guest's last fault may have filled. */
static void recent_check(const struct x86 *x86)
{
	u32 linear = x86->vcpu->fault_address & ~(PART * PAGE_SIZE - 1);
	const u32 *directory = pool_pointer(x86->vcpu->cr3);
	u32 entry = directory[linear >> LARGE_PAGE_SHIFT];
	bool kernel = linear >= SHADOW_KERNEL;

	if (linear >= GANDALF_BASE || x86->shadow.current == NULL || entry == 0)
		return;
	if (entry & PTE_PS)
		large_check(x86, linear & PTE_LARGE_FRAME, entry, kernel);
	else
		part_check(x86, linear,
			   (const u32 *)pool_pointer(entry & PTE_FRAME) +
				   (linear >> PAGE_SHIFT) % ENTRIES,
			   kernel);
}

void shadow_check_return(void)
{
	const struct vcpu *vcpu = core.current;
	const struct x86 *x86 = vcpu->x86;

	if (vcpu->vm->kind->real_time)
		return;
	current_check(x86);
	vmm_part_check(x86, pool_pointer(vcpu->cr3), process_is_shown(x86) ? 0 : VIEWS_ALWAYS);
	protected_page_check(x86);
	if (++returns >= entries_looked_at / RETURN_SHARE)
		shadow_check(x86);
	else
		recent_check(x86);
}
