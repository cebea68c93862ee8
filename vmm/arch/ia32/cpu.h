/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor as C sees it: control registers, ports, MSRs, TLB. One inline
 * function per instruction, named after it; nothing here knows about guests.
 * The unit tests put a simulated processor in the place of this file.
 */
#pragma once

#include "arch/ia32/register.h"
#include "arch/ia32/masked.h"
#include "lib/types.h"

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

CONTROL_REGISTER(cr0) CONTROL_REGISTER(cr2) CONTROL_REGISTER(cr3) CONTROL_REGISTER(cr4)
CONTROL_REGISTER(dr0) CONTROL_REGISTER(dr1) CONTROL_REGISTER(dr2) CONTROL_REGISTER(dr3)
CONTROL_REGISTER(dr6) CONTROL_REGISTER(dr7)
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

/* Reads a port of 1, 2 or 4 bytes; size says of how many. */
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

/* Computes the ticks since *time, in two halves. Returns false if *time is still to come. */
static inline bool rdtsc_since(const u64 *time, u32 *low, s32 *high)
{
	bool over;

	__asm__ volatile("rdtsc; sub %3, %0; sbb %4, %1"
			 : "=&a"(*low), "=&d"(*high), "=@ccns"(over)
			 : "m"(((const u32 *)time)[0]), "m"(((const u32 *)time)[1]) : "memory");
	return over;
}

/* Returns the bit of this number in a bitmap whose lowest bit comes first. */
static inline bool bit_test(const void *bits, u32 number)
{
	bool set;

	__asm__("bt %1, %2" : "=@ccc"(set) : "r"(number), "m"(*(const u32 (*)[])bits));
	return set;
}

/* Reads two words at an address that may be unmapped. Returns false if it is: trap_vmm() finds
 * the failing instruction in the fix-up table. */
MUST_CHECK static inline bool read_or_fail(const u32 *from, u32 *low, u32 *high)
{
	__asm__ goto("1: mov (%2), %0\n2: mov 4(%2), %1\n"
		     ".pushsection .fixups, \"a\"; .long 1b, %l3, 2b, %l3; .popsection"
		     : "=&r"(*low), "=&r"(*high) : "r"(from) : "memory" : failed);
	return true;
failed:
	return false;
}

/* Stores a word at an address that may be unmapped. Returns false if it is. */
MUST_CHECK static inline bool write_or_fail(u32 *to, u32 value)
{
	__asm__ goto("1: mov %1, %0\n"
		     ".pushsection .fixups, \"a\"; .long 1b, %l2; .popsection"
		     : : "m"(*to), "r"(value) : "memory" : failed);
	return true;
failed:
	return false;
}

/* Stores a byte likewise. */
MUST_CHECK static inline bool write_byte_or_fail(u8 *to, u8 value)
{
	__asm__ goto("1: movb %1, %0\n"
		     ".pushsection .fixups, \"a\"; .long 1b, %l2; .popsection"
		     : : "m"(*to), "qi"(value) : "memory" : failed);
	return true;
failed:
	return false;
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

#define INSTRUCTIONS(name, text)                                              \
	static inline void name(void)                                         \
	{                                                                     \
		__asm__ volatile(text : : : "memory");                        \
	}

INSTRUCTIONS(sti, "sti") INSTRUCTIONS(clts, "clts") INSTRUCTIONS(halt, "hlt")
#undef INSTRUCTIONS

/*
 * Begins a masked section, which the folder's masked_sections.h must name: interrupts are masked
 * behind the instructions in text. The word "inline" keeps GCC from counting each line of the
 * record as an instruction when it decides what to inline.
 */
#define MASKING(text, section)                                                                \
	do {                                                                                  \
		_Static_assert(MASKED_##section >= 0, "named in a table");              \
		__asm__ volatile inline(text "\n" MASKED_RECORD(#section) : : : "memory");    \
	} while (0)

#define cli(section) MASKING("cli", section)
/* Sleeps until an interrupt has been served in ring 0. STI delays interrupts
 * by one instruction, so no interrupt can be served between STI and HLT. */
#define sti_hlt_cli(section) MASKING("sti; hlt; cli", section)
/* Lets interrupts in for the length of one instruction. */
#define sti_nop_cli(section) MASKING("sti; nop; cli", section)

/* Sets the bit of this number in a bitmap whose lowest bit comes first. */
static inline void bit_set(u32 *map, u32 number)
{
	__asm__ volatile("bts %1, %0" : "+m"(*map) : "r"(number) : "memory", "cc");
}

/* Adds to a word in one instruction, so that an interrupt cannot come in the middle. Returns the
 * old value. */
static inline u32 fetch_add(u32 *at, u32 value)
{
	__asm__ volatile("xadd %0, %1" : "+r"(value), "+m"(*at) : : "memory", "cc");
	return value;
}

/* What stands before it has been written before what is behind it is, as an interrupt handler of
 * this core sees it. */
static inline void order_for_handlers(void)
{
	__asm__ volatile("" : : : "memory");
}

/* What is behind it is not read before what stands before it has been written, as it could be
 * without (SDM vol. 3, 8.2.3.4). It locks a word of this core's own stack, so nobody waits. */
static inline void order_stores(void)
{
	__asm__ volatile("lock addl $0, (%%esp)" : : : "memory", "cc");
}

/*
 * Saves this stack's pointer at from + offset, loads the one at to + offset, and goes on where the
 * other stack was left in the same way. Loads cr3 in between, unless it is 0. A stack that has been
 * left looks like this, highest address first:
 *	ebp
 *	return address, where it goes on	<- the pointer that is saved
 */
static inline void switch_stack(void *from, void *to, const u32 offset, u32 cr3)
{
	__asm__ volatile("push %%ebp; push $1f; mov %%esp, %c3(%0)\n"
			 "jecxz 2f; mov %2, %%cr3\n"
			 "2: mov %c3(%1), %%esp; ret\n"
			 "1: pop %%ebp"
			 : "+S"(from), "+b"(to), "+c"(cr3) : "i"(offset)
			 : "eax", "edx", "edi", "memory", "cc");
}

/*
 * Gives this stack up, loads cr3, and calls a function that does not return at the top of another
 * stack. There the function finds, highest address first:
 *	(top)
 *	return address, never used	<- esp
 */
static inline _Noreturn void stack_leave(const void *top, u32 cr3, void (*function)(void))
{
	__asm__ volatile("mov %0, %%esp; mov %1, %%cr3; call *%2"
			 : : "r"(top), "r"(cr3), "r"(function) : "memory");
	__builtin_unreachable();
}

/* Adds two numbers that have 32 bits behind the point, which are in *rest and *more_rest. Returns
 * the whole part of the sum, and leaves its fraction in *rest. */
static inline u64 add_with_rest(const u64 *whole, const u64 *more, u32 *rest,
				const u32 *more_rest)
{
	u64 sum;

	__asm__("mov %2, %%eax; add %%eax, %1; mov %3, %%eax; mov %4, %%edx\n"
		"adc %5, %%eax; adc %6, %%edx"
		: "=&A"(sum), "+m"(*rest)
		: "m"(*more_rest), "m"(*(const u32 *)whole), "m"(((const u32 *)whole)[1]),
		  "m"(*(const u32 *)more), "m"(((const u32 *)more)[1]) : "cc");
	return sum;
}

/* The operand of LGDT and LIDT. */
struct table_register {
	u16 limit;
	u32 base;
} __attribute__((packed));

static inline void lgdt_lidt_ltr(const struct table_register *gdt,
				 const struct table_register *idt, u32 task)
{
	__asm__ volatile("lgdt %0; lidt %1; ltr %w2"
			 : : "m"(*gdt), "m"(*idt), "r"(task) : "memory");
}

/* Loads CS, DS, ES and SS. FS, GS and the local descriptor table, which nobody gets, become
 * null. */
static inline void load_segments(u32 code, u32 data)
{
	__asm__ volatile("ljmp %0, $1f; 1:\n\t"
			 "mov %1, %%ds; mov %1, %%es; mov %1, %%ss; mov %2, %%fs; mov %2, %%gs;"
			 "lldt %w2"
			 : : "i"(code), "r"(data), "r"(0) : "memory");
}
