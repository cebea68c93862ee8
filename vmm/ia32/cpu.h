/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor as C sees it: control registers, ports, MSRs, TLB. One inline
 * function per instruction, named after it; nothing here knows about guests.
 */
#ifndef GANDALF_IA32_CPU_H
#define GANDALF_IA32_CPU_H

#include "lib/types.h"

#define PAGE_SIZE 4096u
#define PAGE_SHIFT 12
#define LARGE_PAGE_SIZE 0x400000u
#define LARGE_PAGE_SHIFT 22

/* EFLAGS (SDM vol. 1, figure 3-8). */
#define EFLAGS_FIXED 0x2u
#define EFLAGS_TF 0x100u
#define EFLAGS_IF 0x200u
#define EFLAGS_IOPL 0x3000u
#define EFLAGS_IOPL_1 0x1000u
#define EFLAGS_NT 0x4000u
#define EFLAGS_RF 0x10000u
#define EFLAGS_VM 0x20000u
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
#define CR4_PSE 0x10u
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

/* Exceptions (SDM vol. 3, table 6-1). */
enum exception {
	EXCEPTION_DE = 0,
	EXCEPTION_DB = 1,
	EXCEPTION_NMI = 2,
	EXCEPTION_BP = 3,
	EXCEPTION_OF = 4,
	EXCEPTION_BR = 5,
	EXCEPTION_UD = 6,
	EXCEPTION_NM = 7,
	EXCEPTION_DF = 8,
	EXCEPTION_TS = 10,
	EXCEPTION_NP = 11,
	EXCEPTION_SS = 12,
	EXCEPTION_GP = 13,
	EXCEPTION_PF = 14,
	EXCEPTION_MF = 16,
	EXCEPTION_AC = 17,
	EXCEPTION_MC = 18,
	EXCEPTION_XM = 19,
	EXCEPTIONS = 32,
};

/* Vectors whose exception pushes an error code: 8, 10 to 14, 17. */
#define EXCEPTION_ERROR_CODES 0x00027d00u

/* Error code of a page fault (SDM vol. 3, figure 4-12). */
#define PF_P 0x1u
#define PF_W 0x2u
#define PF_U 0x4u
#define PF_RESERVED 0x8u

#define CONTROL_REGISTER(name)                                                \
	static inline u32 name##_read(void)                                   \
	{                                                                     \
		u32 value;                                                    \
		__asm__ volatile("mov %%" #name ", %0" : "=r"(value));        \
		return value;                                                 \
	}                                                                     \
	static inline void name##_write(u32 value)                            \
	{                                                                     \
		__asm__ volatile("mov %0, %%" #name : : "r"(value) : "memory"); \
	}

CONTROL_REGISTER(cr0)
CONTROL_REGISTER(cr2)
CONTROL_REGISTER(cr3)
CONTROL_REGISTER(cr4)
CONTROL_REGISTER(dr0)
CONTROL_REGISTER(dr1)
CONTROL_REGISTER(dr2)
CONTROL_REGISTER(dr3)
CONTROL_REGISTER(dr6)
CONTROL_REGISTER(dr7)
#undef CONTROL_REGISTER

static inline void invlpg(u32 address)
{
	__asm__ volatile("invlpg (%0)" : : "r"(address) : "memory");
}

static inline u8 inb(u16 port)
{
	u8 value;
	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline void outb(u16 port, u8 value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

/* Size 1, 2 or 4 bytes. */
static inline u32 port_in(u16 port, u32 size)
{
	u32 value = 0;

	if (size == 1)
		__asm__ volatile("inb %1, %b0" : "+a"(value) : "d"(port));
	else if (size == 2)
		__asm__ volatile("inw %1, %w0" : "+a"(value) : "d"(port));
	else
		__asm__ volatile("inl %1, %0" : "=a"(value) : "d"(port));
	return value;
}

static inline void port_out(u16 port, u32 size, u32 value)
{
	if (size == 1)
		__asm__ volatile("outb %b0, %1" : : "a"(value), "d"(port));
	else if (size == 2)
		__asm__ volatile("outw %w0, %1" : : "a"(value), "d"(port));
	else
		__asm__ volatile("outl %0, %1" : : "a"(value), "d"(port));
}

static inline u64 rdtsc(void)
{
	u64 value;
	__asm__ volatile("rdtsc" : "=A"(value));
	return value;
}

static inline u64 rdmsr(u32 index)
{
	u64 value;
	__asm__ volatile("rdmsr" : "=A"(value) : "c"(index));
	return value;
}

static inline void wrmsr(u32 index, u64 value)
{
	__asm__ volatile("wrmsr" : : "c"(index), "A"(value));
}

struct cpuid_result {
	u32 eax, ebx, ecx, edx;
};

static inline struct cpuid_result cpuid(u32 leaf)
{
	struct cpuid_result result;
	__asm__ volatile("cpuid"
			 : "=a"(result.eax), "=b"(result.ebx), "=c"(result.ecx), "=d"(result.edx)
			 : "a"(leaf), "c"(0));
	return result;
}

static inline void cli(void)
{
	__asm__ volatile("cli" : : : "memory");
}

/* Sleeps until an interrupt has been served in ring 0. STI delays interrupts
 * by one instruction, so none can be served between it and HLT. */
static inline void sti_hlt_cli(void)
{
	__asm__ volatile("sti; hlt; cli" : : : "memory");
}

static inline void clts(void)
{
	__asm__ volatile("clts" : : : "memory");
}

#endif
