/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the architecture's numbers: pages, bits of registers and of page-table
 * entries, exceptions. The instructions are in cpu.h.
 */
#pragma once

#define PAGE_SIZE 4096u
#define PAGE_SHIFT 12
#define LARGE_PAGE_SIZE 0x400000u
#define LARGE_PAGE_SHIFT 22
/* Where the page of an address begins. */
#define PAGE_OF(address) ((address) & ~(PAGE_SIZE - 1))

/* EFLAGS (SDM vol. 1, figure 3-8). */
#define EFLAGS_FIXED 0x2u
#define EFLAGS_TF 0x100u
#define EFLAGS_IF 0x200u
#define EFLAGS_IOPL 0x3000u
#define EFLAGS_IOPL_1 0x1000u
#define EFLAGS_NT 0x4000u
#define EFLAGS_RF 0x10000u
#define EFLAGS_VM 0x20000u
#define EFLAGS_AC 0x40000u
/* What a guest may set for itself: CF PF AF ZF SF TF DF OF NT RF AC ID. */
#define EFLAGS_GUEST 0x254dd5u

/* Control registers (SDM vol. 3, 2.5). */
#define CR0_PE 0x1u
#define CR0_MP 0x2u
#define CR0_EM 0x4u
#define CR0_TS 0x8u
#define CR0_ET 0x10u
#define CR0_NE 0x20u
#define CR0_WP 0x10000u
#define CR0_AM 0x40000u
#define CR0_PG 0x80000000u
#define CR4_TSD 0x4u
#define CR4_PSE 0x10u
#define CR4_PAE 0x20u
#define CR4_PGE 0x80u
#define CR4_OSFXSR 0x200u
#define CR4_OSXMMEXCPT 0x400u

/* Page-table entries (SDM vol. 3, 4.3). */
#define PTE_P 0x1u
#define PTE_W 0x2u
#define PTE_U 0x4u
#define PTE_PCD 0x10u
#define PTE_A 0x20u
#define PTE_D 0x40u
#define PTE_PS 0x80u
#define PTE_G 0x100u
#define PTE_FRAME 0xfffff000u
#define PTE_LARGE_FRAME 0xffc00000u

/* Segment descriptors (SDM vol. 3, figure 3-8). */
#define DESCRIPTOR_CODE (1ull << 43)
#define DESCRIPTOR_EXPAND_DOWN (1ull << 42)
#define DESCRIPTOR_WRITABLE (1ull << 41)
#define DESCRIPTOR_TSS_BUSY (1ull << 41)
#define DESCRIPTOR_ACCESSED (1ull << 40)
#define DESCRIPTOR_USER (1ull << 44) /* code or data, not system */
#define DESCRIPTOR_PRESENT (1ull << 47)
#define DESCRIPTOR_BIG (1ull << 54)
#define DESCRIPTOR_GRANULARITY (1ull << 55)

/* Exceptions (SDM vol. 3, table 6-1). */
enum exception {
	EXCEPTION_DE, EXCEPTION_DB, EXCEPTION_NMI, EXCEPTION_BP, EXCEPTION_OF, EXCEPTION_BR,
	EXCEPTION_UD, EXCEPTION_NM, EXCEPTION_DF, EXCEPTION_TS = 10, EXCEPTION_NP, EXCEPTION_SS,
	EXCEPTION_GP, EXCEPTION_PF, EXCEPTION_MF = 16, EXCEPTION_AC, EXCEPTION_MC, EXCEPTION_XM,
	EXCEPTIONS = 32
};

/* Vectors whose exception pushes an error code: 8, 10 to 14, 17. */
#define EXCEPTION_ERROR_CODES 0x00027d00u

/* Error code of a page fault (SDM vol. 3, figure 4-12). */
#define PF_P 0x1u
#define PF_W 0x2u
#define PF_U 0x4u
