/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated processor in the place of vmm/arch/ia32/cpu.h: the same functions, acting
 * on a structure. What an instruction does beyond that is in machine.h.
 */
#ifndef GANDALF_IA32_CPU_H
#define GANDALF_IA32_CPU_H

#include "arch/ia32/masked.h"
#include "arch/ia32/register.h"
#include "lib/types.h"

/* The operand of LGDT and LIDT. */
struct table_register {
	u16 limit;
	u32 base;
} __attribute__((packed));

struct processor {
	u32 cr0, cr2, cr3, cr4;
	u32 dr0, dr1, dr2, dr3, dr6, dr7;
	u64 tsc, apic_base;
	u32 features; /* CPUID 1, EDX */
	struct table_register gdt, idt;
	u32 task, code, data;
	unsigned cr3_writes, invlpgs, admissions, sleeps;
	bool interrupts; /* IF */
	unsigned masked; /* the masked section that began last */
	unsigned unguarded; /* debug registers written with IF 1 */
	void (*admit)(void); /* where interrupts are let in for an instruction; or NULL */
	void (*order)(void); /* where other cores see what was stored before; or NULL */
};

extern struct processor processor;

void processor_set_cr3(u32 value);
void processor_set_cr4(u32 value);
void processor_invlpg(u32 address);
void processor_sleep(void);

#define REGISTER(name)                                      \
	static inline u32 name##_read(void)                 \
	{                                                   \
		return processor.name;                      \
	}
#define REGISTER_WRITE(name)                                \
	static inline void name##_write(u32 value)          \
	{                                                   \
		processor.name = value;                     \
	}
#define DEBUG_REGISTER_WRITE(name)                          \
	static inline void name##_write(u32 value)          \
	{                                                   \
		processor.name = value;                     \
		processor.unguarded += processor.interrupts; \
	}

REGISTER(cr0)
REGISTER(cr2)
REGISTER(cr3)
REGISTER(cr4)
REGISTER(dr6)
REGISTER_WRITE(cr0)
REGISTER_WRITE(cr2)
DEBUG_REGISTER_WRITE(dr0)
DEBUG_REGISTER_WRITE(dr1)
DEBUG_REGISTER_WRITE(dr2)
DEBUG_REGISTER_WRITE(dr3)
DEBUG_REGISTER_WRITE(dr6)
DEBUG_REGISTER_WRITE(dr7)
#undef REGISTER
#undef REGISTER_WRITE
#undef DEBUG_REGISTER_WRITE

static inline void cr3_write(u32 value)
{
	processor_set_cr3(value);
}

static inline void cr4_write(u32 value)
{
	processor_set_cr4(value);
}

static inline void invlpg(u32 address)
{
	processor_invlpg(address);
}

/* What ports do is the matter of a test that has some. */
u8 inb(u16 port);
void outb(u16 port, u8 value);

static inline u64 rdtsc(void)
{
	return processor.tsc;
}

static inline bool rdtsc_since(const u64 *time, u32 *low, s32 *high)
{
	u64 ticks = processor.tsc - *time;

	*low = (u32)ticks;
	*high = (s32)(ticks >> 32);
	return *high >= 0;
}

u32 entry_copy(void *to, const void *from, u32 size);

static inline bool read_or_fail(const u32 *from, u32 *low, u32 *high)
{
	const u32 *next = (const u32 *)((uintptr_t)from + 4);

	return entry_copy(low, from, 4) == 0 && entry_copy(high, next, 4) == 0;
}

static inline bool write_or_fail(u32 *to, u32 value)
{
	return entry_copy(to, &value, 4) == 0;
}

static inline bool write_byte_or_fail(u8 *to, u8 value)
{
	return entry_copy(to, &value, 1) == 0;
}

/* IA32_APIC_BASE is the only MSR. */
static inline u64 rdmsr(u32 index)
{
	(void)index;
	return processor.apic_base;
}

static inline void wrmsr(u32 index, u64 value)
{
	(void)index;
	processor.apic_base = value;
}

struct cpuid_result {
	u32 eax, ebx, ecx, edx;
};

static inline struct cpuid_result cpuid(u32 leaf)
{
	(void)leaf;
	return (struct cpuid_result){.edx = processor.features};
}

static inline void sti(void)
{
	processor.interrupts = true;
}

/* A masked section must be in the table here, too. */
#define MASKING(statement, section)                                           \
	do {                                                                  \
		_Static_assert(MASKED_##section >= 0, "named in a table"); \
		statement;                                                    \
	} while (0)
#define cli(section)                                                          \
	MASKING(processor.interrupts = false; processor.masked = MASKED_##section, section)

static inline void bit_set(u32 *map, u32 number)
{
	map[number / 32] |= 1u << number % 32;
}

static inline u32 fetch_add(u32 *at, u32 value)
{
	*at += value;
	return *at - value;
}

static inline void order_for_handlers(void)
{
}

static inline void order_stores(void)
{
	if (processor.order != NULL)
		processor.order();
}

static inline void processor_admit(void)
{
	processor.admissions++;
	if (processor.admit != NULL)
		processor.admit();
}

#define sti_nop_cli(section) MASKING(processor_admit(), section)
#define sti_hlt_cli(section) MASKING(processor.sleeps++; processor_sleep(), section)

/* The test's own. */
void switch_stack(void *from, void *to, u32 offset, u32 cr3);

static inline bool bit_test(const void *bits, u32 number)
{
	return ((const u8 *)bits)[number / 8] >> number % 8 & 1;
}

static inline u64 add_with_rest(const u64 *whole, const u64 *more, u32 *rest,
				const u32 *more_rest)
{
	*rest += *more_rest;
	return *whole + *more + (*rest < *more_rest);
}

static inline void lgdt_lidt_ltr(const struct table_register *gdt,
				 const struct table_register *idt, u32 task)
{
	processor.gdt = *gdt;
	processor.idt = *idt;
	processor.task = task;
}

static inline void load_segments(u32 code, u32 data)
{
	processor.code = code;
	processor.data = data;
}

#endif
