/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow page tables of one vCPU: two levels, filled from the guest's tables on
 * faults, kept while the guest's own TLB would be allowed to keep them.
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
	u32 memory_size;
	u32 master;       /* frame: kernel half and the VMM's part, for all spaces */
	u32 identity;     /* frame: directory while the guest's paging is off */
	u32 nothing;      /* frame of ones: what is read where no memory is */
	u32 apic;         /* what the guest reads in IA32_APIC_BASE: it may read the page; or 0 */
	struct space *current; /* NULL while paging is off */
	/* The guest's page directory, in its window of memory.c, which may show something
	 * else by now; NULL: not looked for since CR3 was loaded. */
	u32 *guest_directory;
	u32 *guest_window;         /* what that window shows, in memory_windows */
	u32 guest_window_entry;    /* what it has to show */
	u32 space_limit;       /* no space from this index on has been used */
	u32 space_free;        /* every space below this index is used */
	u32 clock;
	u32 protected_frame; /* guest-physical page kept read-only, or SHADOW_NO_FRAME */
	/* Where the kernel wrote it last, written by emulate_store(), or 0, which every change
	 * of an entry of the kernel half writes. Nothing that can be written is there meanwhile;
	 * the shadow may still have what the guest's tables led to before, without a flush since
	 * then. */
	u32 protected_page;
	bool caching;        /* the flush hypercall has been seen */
	bool local_kernel;   /* kernel entries exist that are not global */
	bool syncing;        /* the kernel half is being looked through for them */
	u32 space_frames[SHADOW_SPACE_FRAMES];
	u16 hash[SHADOW_HASH]; /* index + 1 of the first space */
};

/* No address of a frame, and in no large page of a guest. */
#define SHADOW_NO_FRAME (~0u)

enum shadow_result {
	SHADOW_FILLED,    /* the access can be repeated */
	SHADOW_FAULT,     /* the guest's own tables forbid it */
	SHADOW_OUTSIDE,   /* a write to memory that the guest does not have */
	SHADOW_PROTECTED, /* a write to the protected page */
	SHADOW_APIC,      /* a write to the local APIC */
	SHADOW_FULL,      /* no frame left */
};

/* Allocates what every guest needs; false if the pool is empty. */
MUST_CHECK bool shadow_create(struct x86 *x86);
/* Paging off, nothing shadowed, the identity loaded on the next switch. */
void shadow_reset(struct x86 *x86);
/* Gives all frames of spaces and tables back. */
void shadow_destroy(struct vcpu *vcpu);

/* CR0.PG or CR4 changed, or CR3 was loaded; x86->cr0, cr3, cr4 hold the new
 * values. same: the CR3 value was the old one, which is a request to flush. */
void shadow_set_paging(struct x86 *x86);
void shadow_load(struct x86 *x86, bool same);
void shadow_flush_all(struct x86 *x86);
void shadow_invalidate(struct x86 *x86, u32 linear);
/* The flush hypercall: linear addresses start..end - 1 of one space. */
void shadow_flush(struct x86 *x86, u32 guest_directory, u32 start, u32 end);
/* Keeps a guest-physical page read-only from now on, or SHADOW_NO_FRAME: none. */
void shadow_protect(struct x86 *x86, u32 guest_frame);

/* Makes one page accessible as the guest's tables allow; none of the VMM's. error: as the CPU's
 * page fault error code; SHADOW_FAULT gives it the P bit of the guest's tables. */
MUST_CHECK enum shadow_result shadow_fill(struct x86 *x86, u32 linear, u32 *error);
/* The same for the VMM's own access; false: not its fault. */
MUST_CHECK bool shadow_fill_for_vmm(struct vcpu *vcpu, u32 linear);

/* The guest-physical page at a linear address by the guest's tables; false if
 * there is none, or paging is off. */
MUST_CHECK bool shadow_translate(struct x86 *x86, u32 linear, u32 *frame);

/* Whether the address space that is loaded has a page writable. */
MUST_CHECK static inline bool shadow_is_writable(const struct vcpu *vcpu, u32 linear)
{
	const u32 *directory = pool_pointer(vcpu->cr3);
	u32 entry = directory[linear >> LARGE_PAGE_SHIFT];

	if (entry != 0 && (entry & PTE_PS) == 0)
		entry = *(const u32 *)((u32)pool_pointer(entry & PTE_FRAME) +
				       (linear >> PAGE_SHIFT) % 1024u * sizeof(u32));
	return (entry & PTE_W) != 0;
}

/* The page that is kept read-only, for the VMM's own store; a window of memory.c. */
void *shadow_protected_page(const struct shadow *shadow);

/* Makes a page writable for the VMM's own store, as the guest's kernel could; false: it could
 * not. The protected page counts as writable. To be asked where shadow_is_writable(), which
 * costs less, says no. */
MUST_CHECK bool shadow_make_writable(struct x86 *x86, u32 linear);
