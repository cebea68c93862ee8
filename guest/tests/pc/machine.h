/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine under the PC test guest: what it runs on, the instructions that
 * a kernel needs, its tables and its traps.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gandalf.h"
#include "selectors.h"

enum environment {
	NATIVE,    /* ring 0 of a PC */
	SHARED,    /* ring 1 or 3, IOPL 0, virtual interrupt flag */
	DEDICATED, /* ring 1, IOPL 1, the interrupt flag is real */
};
extern enum environment environment;
/* The ring in which this kernel is: 0 natively, 1, or 3 where the VMM alone is privileged. */
uint32_t kernel_ring(void);
/* From the boot loader; 0 if there are none. */
extern uint32_t boot_parameters;
#define BOOT_COMMAND_LINE 0x228 /* in the boot parameters: where it is */
/* Whether the command line begins with a text. The VMM may add words behind it. */
bool command_line_begins(const char *text);

#define SHARED_PAGE ((volatile struct gandalf_shared *)GANDALF_SHARED_PAGE)
#define SHARED_ALIAS ((volatile struct gandalf_shared *)GANDALF_SHARED_ALIAS)

#define EFLAGS_CARRY 0x1
#define EFLAGS_TRAP 0x100
#define EFLAGS_INTERRUPT 0x200
#define EFLAGS_IOPL_SHIFT 12

#define CR0_PE (1U << 0)
#define CR0_MP (1U << 1)
#define CR0_EM (1U << 2)
#define CR0_TS (1U << 3)
#define CR0_ET (1U << 4)
#define CR0_NE (1U << 5)
#define CR0_WP (1U << 16)
#define CR0_PG (1U << 31)
#define CR4_TSD (1U << 2)
#define CR4_PSE (1U << 4)
#define CR4_PGE (1U << 7)
#define CR4_OSFXSR (1U << 9)
#define CR4_OSXMMEXCPT (1U << 10)

enum {
	VECTOR_DE = 0, VECTOR_DB = 1, VECTOR_BP = 3, VECTOR_OF = 4, VECTOR_BR = 5, VECTOR_UD = 6,
	VECTOR_NM = 7, VECTOR_NP = 11, VECTOR_SS = 12, VECTOR_GP = 13, VECTOR_PF = 14,
	VECTOR_MF = 16,
};

#define ACCESS_CONTROL(name) \
	static inline uint32_t name##_read(void) \
	{ \
		uint32_t value; \
		__asm__ volatile("movl %%" #name ", %0" : "=r"(value)); \
		return value; \
	} \
	static inline void name##_write(uint32_t value) \
	{ \
		__asm__ volatile("movl %0, %%" #name : : "r"(value) : "memory"); \
	}

ACCESS_CONTROL(cr0)
ACCESS_CONTROL(cr2)
ACCESS_CONTROL(cr3)
ACCESS_CONTROL(cr4)
ACCESS_CONTROL(dr0)
ACCESS_CONTROL(dr1)
ACCESS_CONTROL(dr2)
ACCESS_CONTROL(dr3)
ACCESS_CONTROL(dr6)
ACCESS_CONTROL(dr7)

static inline uint8_t port_in(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "d"(port));
	return value;
}

static inline void port_out(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "d"(port));
}

static inline uint64_t time_stamp(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static inline uint32_t eflags_read(void)
{
	uint32_t flags;

	__asm__ volatile("pushfl\n\tpopl %0" : "=r"(flags));
	return flags;
}

static inline void invlpg(uint32_t address)
{
	__asm__ volatile("invlpg (%0)" : : "r"(address) : "memory");
}

static inline int32_t hypercall(uint32_t number, uint32_t b, uint32_t c, uint32_t d)
{
	int32_t result;

	__asm__ volatile("int %1"
			 : "=a"(result)
			 : "i"(GANDALF_HYPERCALL_VECTOR), "a"(number), "b"(b), "c"(c), "d"(d)
			 : "memory");
	return result;
}

/* The interrupt flag, the way the kernel of each environment does it. */
void irq_disable(void);
void irq_enable(void);
bool irq_enabled(void);
/* Enables interrupts and waits for one. */
void irq_wait(void);

/* Tables (tables.c) */

struct descriptor {
	uint32_t low, high;
};

struct task_state {
	uint32_t link, esp0, ss0;
	uint32_t others[22];
	uint32_t io_map; /* upper half: offset of the map */
};

/* Alone in its page. */
union gdt_page {
	struct descriptor entries[GDT_ENTRIES];
	uint8_t page[4096];
};
extern union gdt_page gdt_page;
#define gdt gdt_page.entries
extern struct descriptor idt[IDT_ENTRIES];
extern struct task_state task_state;

struct descriptor descriptor_make(uint32_t base, uint32_t limit, uint8_t type, uint8_t flags);
#define DESCRIPTOR_CODE(dpl) ((uint8_t)(0x9a | (dpl) << 5))
#define DESCRIPTOR_DATA(dpl) ((uint8_t)(0x92 | (dpl) << 5))
#define DESCRIPTOR_TASK 0x89
#define DESCRIPTOR_BYTES 0x4 /* flags: 32-bit, limit in bytes */
#define DESCRIPTOR_PAGES 0xc /* flags: 32-bit, limit in pages */

/* Fills the GDT and loads it; or loads it as it is. */
void gdt_load(void);
void gdt_register_load(void);
void idt_load(void);
void idt_register_load(void);
/* Lets a vector from VECTOR_MORE on in. */
void idt_open(uint32_t vector);
/* Lets another vector in, whose frame has the number of the stub, which is one of those. */
void idt_open_by(uint32_t vector, uint32_t stub);
void task_load(void);
/* Loads every segment register from the new GDT. */
void segments_load(void);
/* All of them, as a kernel begins. */
void tables_load(void);

/* Traps (trap.c) */

struct trap_frame {
	uint32_t edi, esi, ebp, unused, ebx, edx, ecx, eax;
	uint32_t es, ds;
	uint32_t vector, error;
	uint32_t eip, cs, eflags;
	uint32_t esp, ss; /* from ring 3 only */
};

/* The last exception or system call. */
struct trap {
	uint32_t count; /* since TRAP_PROVOKE() or user_trap() began */
	uint32_t vector, error, eip, cs, eflags;
	uint32_t esp, ss; /* from ring 3 only */
	uint32_t eax, ebx;
	uint32_t cr2;
	uint32_t stack; /* where the CPU's frame begins */
	bool flag;      /* interrupts enabled in the handler */
};
extern volatile struct trap trap;
extern volatile uint32_t trap_resume;
extern volatile uint32_t irq_count[16];
/* Called by the handler of each IRQ, before the end of interrupt; or NULL. */
extern void (*irq_hook[16])(struct trap_frame *frame);
/* The handler of vectors from VECTOR_MORE on. */
extern void (*more_hook)(struct trap_frame *frame);

/*
 * Executes the text of instructions, in which 9: may label the one that is to
 * trap, and goes on behind the text after the first exception. Operands follow.
 */
#define TRAP_PROVOKE(text, ...) \
	do { \
		trap.count = 0; \
		__asm__ volatile("movl $1f, trap_resume\n" text "\n1:\n\t" \
				 "movl $0, trap_resume" __VA_ARGS__); \
	} while (0)

/* Called by the handler of what traps in ring 3; or NULL. Returns whether that code goes on. */
extern bool (*user_hook)(struct trap_frame *frame);
/* Runs code of user.S in ring 3 until it traps; what trapped is in `trap`. */
void user_trap(const char *code);

/* Ends the run: natively by the emulator's exit port, else by switching off. */
void __attribute__((noreturn)) machine_off(bool passed);

/* Chips (chips.c) */

void pic_init(void);
/* Lets through the IRQs whose bits are set, and no others. */
void pic_unmask(uint16_t irqs);
uint16_t pic_request(void);
uint16_t pic_in_service(void);
/* Channel 0, rate generator. */
void pit_start(uint32_t hz);
void pit_stop(void);
/* Waits on channel 2; at most 50,000. */
void pit_delay(uint32_t microseconds);
/* Ticks of the time stamp counter per millisecond, measured once. */
uint32_t time_stamps_per_ms(void);

#define PIT_HZ 1193182

/* Pages (pages.c) */

#define PAGE_P 0x1U
#define PAGE_W 0x2U
#define PAGE_U 0x4U
#define PAGE_A 0x20U
#define PAGE_D 0x40U
#define PAGE_PS 0x80U
#define PAGE_G 0x100U
#define PAGE_SIZE 0x1000U
#define LARGE_PAGE_SIZE 0x400000U

/* Addresses that only the tests map. */
#define SCRATCH 0x40000000U
#define SCRATCH_LARGE 0x50000000U

extern uint32_t page_directory[1024];
extern uint32_t scratch_table[1024];
/* Frames to map there. */
extern uint8_t scratch_frame[4][4096];

/* Builds the directory (all memory where it is physically, user.S for ring 3)
 * and switches paging on. */
void paging_enable(void);
/* The same for a vCPU that finds the directory made. */
void paging_begin(void);
/* Where kernel_half_map() has the first 4 MiB once more: shadows of what is there stay. */
#define KERNEL_HALF 0xc0000000U
void kernel_half_map(void);
/* Runs a function with the stack at another address of the same memory. */
void stack_move(uint32_t distance, void (*run)(void));
/* Whether the guest was started before, by a mark that it leaves in the battery-backed memory,
 * which survives it. To be called once. */
bool is_second_run(void);
/* Maps a page of SCRATCH, without any invalidation. */
void scratch_map(uint32_t page, const void *frame, uint32_t flags);
/* Says to the VMM, as Linux does in flush_tlb_mm_range(), that entries of a
 * directory were downgraded; natively there is nobody to tell. */
void pages_flush(const uint32_t *directory, uint32_t start, uint32_t end);

#endif
