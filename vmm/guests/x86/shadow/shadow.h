/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow page tables of one vCPU. They have two levels, are filled from the guest's
 * tables on faults, and are kept while the guest's own TLB might keep them.
 *
 * The upper quarter of the address space (Linux's kernel) is shared by all
 * shadows and never evicted; the lower three quarters exist once per guest page
 * directory ("space"), cached by its address as soon as the guest reports
 * downgrades by GANDALF_HYPERCALL_FLUSH, and dropped at every CR3 load before.
 */
#pragma once

#include "arch/ia32/memory.h"
#include "core/pool.h"
#include "core/vcpu.h"
#include "guests/x86/shadow/space.h"

struct x86;

struct shadow {
	u32 memory_base;  /* machine address of guest-physical 0 */
	u32 memory_size;  /* bytes */
	union {
		struct {
			/* The directory from which spaces copy the upper quarter. */
			u32 master;
			u32 identity; /* the directory while the guest's paging is off */
			u32 nothing;  /* a page full of ones, which is read where no memory is */
			u32 space_frames[SHADOW_SPACE_FRAMES];
		};
		u32 frames[3 + SHADOW_SPACE_FRAMES]; /* those that every guest needs */
	};
	u32 apic;         /* IA32_APIC_BASE as the guest reads it; 0: it has no local APIC */
	struct space *current; /* NULL while paging is off */
	/* The guest's page directory, in a window of memory.c, which may show something else by
	 * now. NULL if it has not been looked for since CR3 was loaded. */
	u32 *guest_directory;
	u32 *guest_window;         /* entry of memory_windows that says what the window shows */
	u32 guest_window_entry;    /* its value while the window shows that directory */
	u32 space_limit;       /* no space from this index on has been used */
	u32 space_free;        /* every space below this index is used */
	u32 clock;             /* counts what views_mark_loaded() does, for space.used */
	u32 protected_frame; /* guest-physical page kept read-only, or SHADOW_NO_FRAME */
	/* The linear page at which the kernel last wrote the protected frame, or 0. emulate_store()
	 * sets it; every change of an entry of the kernel half clears it. Until then no writable
	 * page is there. The guest's tables may lead elsewhere by now, without a flush. */
	u32 protected_page;
	bool caching;        /* the flush hypercall has been seen */
	bool local_kernel;   /* kernel entries exist that are not global */
	bool syncing;        /* the kernel half is being rebuilt, which finds such entries */
	u32 apic_distance;   /* from that address to the frame that the guest reads */
	u16 hash[SHADOW_HASH]; /* index + 1 of the first space of each chain; 0: none */
};

/* Stands for no frame: it is no frame's address, and in no large page of a guest. */
#define SHADOW_NO_FRAME (~0u)

enum shadow_result {
	SHADOW_FILLED,    /* the access can be repeated */
	SHADOW_CHANGED,   /* so it can; it may fault again, since a sibling has changed an entry */
	SHADOW_FAULT,     /* the guest's own tables forbid it */
	SHADOW_OUTSIDE,   /* a write to memory that the guest does not have */
	SHADOW_PROTECTED, /* a write to the protected page */
	SHADOW_APIC,      /* a write to the local APIC */
	SHADOW_FULL,      /* no frame left */
};

/* Allocates the frames that every guest needs. Returns false if the pool is empty. */
MUST_CHECK bool shadow_create(struct x86 *x86);
/* Empties the shadow for a guest that starts with paging off. The next switch loads the
 * identity. */
void shadow_reset(struct x86 *x86);
/* Gives all frames of spaces and page tables back to the pool. */
void shadow_destroy(struct vcpu *vcpu);

/* Follow the guest's change of CR0.PG, its load of CR3, a flush of everything, and INVLPG.
 * x86->cr0 and cr4 have the new values. cr3: what is loaded, mostly to switch to another address
 * space, and if CR3 has that value already, to flush. */
void shadow_set_paging(struct x86 *x86);
void shadow_load(struct x86 *x86, u32 cr3);
void shadow_flush_all(struct x86 *x86);
void shadow_invalidate(struct x86 *x86, u32 linear);
/* Does the flush hypercall: forgets the linear addresses from start to end - 1 of one space. */
void shadow_flush(struct x86 *x86, u32 guest_directory, u32 start, u32 end);
/* Forgets all that is shadowed. */
void shadow_forget(struct x86 *x86);
/* Keeps a guest-physical page read-only from now on, or none (SHADOW_NO_FRAME). */
void shadow_protect(struct x86 *x86, u32 guest_frame);

/* Whether the access that has faulted is to be repeated. */
static inline bool shadow_repeats(enum shadow_result result)
{
	return result <= SHADOW_CHANGED;
}

/* Makes one page below the VMM's base accessible, as the guest's tables allow. error is the CPU's
 * error code of the page fault; with SHADOW_FAULT it becomes that of the guest's page fault. */
MUST_CHECK enum shadow_result shadow_fill(struct x86 *x86, u32 linear, u32 *error);
/* Does the same for an access of the VMM, which ignores protection: so it stores to no page that
 * the guest's kernel could not write, but for the protected one. Returns false if the guest's
 * tables do not allow the access. */
MUST_CHECK bool shadow_fill_for_vmm(struct vcpu *vcpu, u32 linear, u32 error);

/* Finds the guest-physical page at a linear address in the guest's tables. Returns false if
 * there is none, or paging is off. */
MUST_CHECK bool shadow_translate(struct x86 *x86, u32 linear, u32 *frame);

/* Returns the entry by which the vCPU's present address space has a page, or 0. */
static inline u32 shadow_entry(const struct vcpu *vcpu, u32 linear)
{
	const u32 *directory = pool_pointer(vcpu->cr3);
	u32 entry = directory[linear >> LARGE_PAGE_SHIFT];

	if (entry != 0 && (entry & PTE_PS) == 0)
		entry = *(const u32 *)((u32)pool_pointer(entry & PTE_FRAME) +
				       (linear >> PAGE_SHIFT) % 1024u * sizeof(u32));
	return entry;
}

/* Returns whether the page is writable there. */
MUST_CHECK static inline bool shadow_is_writable(const struct vcpu *vcpu, u32 linear)
{
	return (shadow_entry(vcpu, linear) & PTE_W) != 0;
}

/* Returns the page that is kept read-only, in a window of memory.c, for the VMM to write. */
void *shadow_protected_page(const struct shadow *shadow);

/* Makes a page accessible for a store of the VMM. Returns false if the guest's kernel could not
 * write it; the protected page counts as writable. Callers ask shadow_is_writable() first, which
 * costs less. */
MUST_CHECK bool shadow_make_writable(struct x86 *x86, u32 linear);
