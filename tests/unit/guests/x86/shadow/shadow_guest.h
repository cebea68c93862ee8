/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest with page tables of its own, for the tests of shadow.c: the VMM around them, accesses by
 * way of the TLB of shadow_model.h, and what must hold always, whatever the guest does.
 */
#ifndef GANDALF_SHADOW_GUEST_H
#define GANDALF_SHADOW_GUEST_H

#include "core/log.h"
#include "guests/x86/x86.h"
#include "core/trace.h"
#include "guests/x86/shadow/shadow.h"
#include "arch/ia32/switch.h"
#include "fake/asked.h"
#include "fake/last_words.h"
#include "fake/policy.h"
#include "views.h"
#include "guests/x86/shadow/shadow_model.h"

#define BASE_DIRECTORY LAYOUT_DIRECTORY_FIRST
#define KERNEL_DIRECTORY 0x300u
#define FRAMES_OF_GUEST (GUEST_SIZE / PAGE_SIZE)

static struct vm vm;
static struct vcpu vcpu;
static struct gandalf_shared shared;
static struct x86 x86;
static struct gandalf_guest guest;
static u32 random_state;
/* What the VMM has in its part of every directory, and in the vCPU's table. */
static u32 vmm_entries[1024];
static u32 table_copy[1024];

static u32 tlb_place(void)
{
	return random_next(&random_state);
}

/* Stand-ins for the rest of the VMM. */

/* One access of the guest; what became of it in the end. */
static enum shadow_result access_memory(u32 linear, u32 error)
{
	/* With direct gates a frame is zeroed first, in four steps at most. */
	unsigned limit = x86.policy->interruptible ? 2 : 6;
	enum shadow_result result;

	for (unsigned tries = 0; tries < limit; tries++) {
		bool global;
		bool present = shadow_walk(processor.cr3, linear, &global).present;
		u32 code = error | (present ? PF_P : 0);

		if (rights_allow(tlb_walk(linear), error))
			return SHADOW_FILLED;
		tlb_drop_page(linear);
		directory_cache[linear >> 22].valid = false;
		result = shadow_fill(&x86, linear, &code);
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
	if (!large && frame == x86.shadow.nothing) {
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
	u32 frame = x86.shadow.space_frames[index / SHADOW_SPACES_PER_FRAME];

	return (struct space *)(physical + frame) + index % SHADOW_SPACES_PER_FRAME;
}

/* Of two views, that of the process has the same below the kernel half, and nothing in that. */
static void views_are_sound(const struct space *space)
{
	if (VIEWS_ALWAYS == 0) {
		assert_int_equal(views_process(space), 0);
		return;
	}
	frame_claim(views_process(space));
	assert_memory_equal(physical + views_process(space), physical + space->directory,
			    KERNEL_DIRECTORY * 4);
	for (u32 i = KERNEL_DIRECTORY; i < BASE_DIRECTORY; i++)
		assert_int_equal(*physical_word(views_process(space) + i * 4), 0);
}

static void space_is_sound(const struct space *space)
{
	frame_claim(space->directory);
	views_are_sound(space);
	vmm_part_is_intact(space->directory);
	assert_memory_equal(physical + space->directory + KERNEL_DIRECTORY * 4,
			    physical + x86.shadow.master + KERNEL_DIRECTORY * 4,
			    (BASE_DIRECTORY - KERNEL_DIRECTORY) * 4);
	directory_is_sound(space->directory, 0, KERNEL_DIRECTORY);
}

static void tlb_is_guests(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(tlb); i++) {
		if (!tlb[i].valid || tlb[i].page >= GANDALF_BASE >> 12)
			continue;
		if (tlb[i].rights.frame == x86.shadow.nothing)
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
	struct shadow *shadow = &x86.shadow;

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
	/* What is searched up to there lies in the frames that have been made for it. */
	assert_true(shadow->space_limit <= SHADOW_SPACES);
	for (u32 i = 0; i < SHADOW_SPACES; i++) {
		if (space_of(i)->directory == 0)
			continue;
		assert_true(i < shadow->space_limit);
		space_is_sound(space_of(i));
	}
	assert_int_equal(frames_seen + pool_available, pool_frames);
	assert_int_equal(processor.cr3, vcpu.cr3);
	tlb_is_guests();
}

static u32 directories[12];

static bool any_dirty(u32 linear)
{
	for (unsigned i = 0; i < ARRAY_SIZE(directories); i++)
		if (guest_walk(directories[i], x86.cr4, linear).dirty)
			return true;
	return false;
}

/* Both walkers must agree on what an access comes to. */
UNUSED static void access_and_check(u32 linear, u32 error)
{
	struct rights before = guest_walk(x86.cr3, x86.cr4, linear);
	struct rights after;
	enum shadow_result result = access_memory(linear, error);

	/* As emulate_store() does. */
	if (result == SHADOW_PROTECTED && linear >= SHADOW_KERNEL)
		x86.shadow.protected_page = linear & PTE_FRAME;
	after = guest_walk(x86.cr3, x86.cr4, linear);
	if (x86.shadow.current == NULL) {
		assert_int_equal(result, linear < GUEST_SIZE || (error & PF_W) == 0
						 ? SHADOW_FILLED : SHADOW_OUTSIDE);
		return;
	}
	if (result == SHADOW_FULL)
		return;
	if (!rights_allow(before, error))
		assert_int_equal(result, SHADOW_FAULT);
	else if ((error & PF_W) && before.frame >= GUEST_SIZE)
		assert_int_equal(result, (before.frame ^ x86.shadow.apic) < PAGE_SIZE ?
						 SHADOW_APIC : SHADOW_OUTSIDE);
	else if ((error & PF_W) && before.frame == x86.shadow.protected_frame)
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
	memset(&x86, 0, sizeof(x86));
	memset(tlb, 0, sizeof(tlb));
	directory_cache_flush();
	asked.stops = false;
	guest.memory_base = GUEST_BASE;
	guest.memory_size = GUEST_SIZE;
	vm.guest = &guest;
	vm.vcpus = &vcpu;
	vcpu.trace = trace_ring_of(0);
	vcpu.x86 = &x86;
	vcpu.vm = &vm;
	x86.vm = &vm;
	x86.vcpu = &vcpu;
	policy_set(&x86, &fake_shared);
	core.current = &vcpu;
	idle_vcpu.cr3 = (u32)(uintptr_t)memory_directory;
	vcpu.table_frame = pool_allocate();
	for (u32 i = 0; i < 1024; i++)
		table_copy[i] = *physical_word(vcpu.table_frame + i * 4) = i << 12 | PTE_P;
	for (u32 i = BASE_DIRECTORY + 1; i < 1024; i++)
		vmm_entries[i] = memory_directory[i] = i << 22 | PTE_P | PTE_PS | PTE_G;
	vmm_entries[BASE_DIRECTORY] = vcpu.table_frame | PTE_P | PTE_W | PTE_A | VIEWS_ALWAYS;
	processor.cr4 = CR4_PSE | CR4_PGE;
	assert_true(shadow_create(&x86));
	shadow_reset(&x86);
	x86.cr0 = CR0_PE;
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
	asked.admissions = 0;
	shadow_destroy(&vcpu);
	/* Others wait for a part of it only. */
	assert_true(asked.admissions >= 100);
	assert_int_equal(core.cr3, (u32)(uintptr_t)memory_directory);
	assert_int_equal(pool_available, pool_frames - 6);
	for (u32 i = 0; i < SHADOW_HASH; i++)
		assert_int_equal(x86.shadow.hash[i], 0);
	shadow_reset(&x86);
	core.cr3 = vcpu.cr3;
	cr3_write(vcpu.cr3);
	x86.cr0 = CR0_PE;
	check_isolation();
	free_frames_are_empty();
}

static void cr0_load(u32 value)
{
	u32 changed = x86.cr0 ^ value;

	x86.cr0 = value;
	if (changed & CR0_PG)
		shadow_set_paging(&x86);
}

static void cr3_load(u32 value)
{
	shadow_load(&x86, value);
}

static u32 pde_address(u32 directory, u32 index)
{
	return directories[directory] + index * 4;
}

static void entry_set(u32 address, u32 value)
{
	*guest_word(address) = value;
}

/* A store of the VMM, as stack_writable() and guest_write() ask first: where the processor takes
 * it, since CR0.WP is 0 then and a page that it remembers as read-only does not stop it. */
UNUSED static void vmm_stores(u32 linear)
{
	struct rights rights;

	if (linear >= GANDALF_BASE ||
	    (!shadow_is_writable(&vcpu, linear) && !shadow_make_writable(&x86, linear)))
		return;
	rights = tlb_walk(linear);
	if (rights.present)
		assert_true(rights.frame - GUEST_BASE < GUEST_SIZE);
}

#endif
