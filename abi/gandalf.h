/* SPDX-License-Identifier: MIT */
/*
 * The interface between the Gandalf VMM and its guests: the hypercalls, the
 * page that a vCPU shares with the VMM, and what an RTOS finds at its entry.
 * Included unchanged by the VMM, by the RTOS ports and by the Linux driver;
 * the host tool reads the same numbers from this file.
 *
 * It holds only #define lines and structures of fixed-width fields, so that C,
 * assembly (with __ASSEMBLER__ defined) and the host tool can all read it.
 */
#ifndef GANDALF_H
#define GANDALF_H

/* Raised whenever a guest built for the old number would misbehave. */
#define GANDALF_ABI_VERSION 1

/*
 * The VMM owns every linear address from here up. A Linux guest is booted with
 * reservetop=64M and so keeps out of it.
 */
#define GANDALF_BASE 0xFC000000

/*
 * Linux guests: the linear address of struct gandalf_shared, and of a second
 * mapping of the same frame. The guest *sets* its interrupt flag through the
 * alias only: the VMM makes the alias read-only while an interrupt waits, so
 * that the write that enables interrupts faults and the interrupt is delivered
 * there, while nested disables and enables cost one store each.
 */
#define GANDALF_SHARED_PAGE 0xFC000000
#define GANDALF_SHARED_ALIAS 0xFC001000

/* The value of the interrupt flag when interrupts are enabled (EFLAGS.IF). */
#define GANDALF_INTERRUPT_FLAG 0x200

/*
 * A hypercall is `int $GANDALF_HYPERCALL_VECTOR` from ring 1: number in EAX,
 * arguments in EBX, ECX, EDX; the result comes back in EAX, all other registers
 * are kept. A negative result is one of the errors below. A number that the
 * VMM does not know, or an address outside the guest, stops the guest.
 */
#define GANDALF_HYPERCALL_VECTOR 0x1e

/*
 * RTOS: registers the guest's handlers. EBX: address of struct
 * gandalf_handlers in the guest's data segment; it is copied. Stands for LIDT.
 * Returns 0.
 */
#define GANDALF_HYPERCALL_HANDLERS 1

/*
 * RTOS: sets the interrupt flag. EBX: 0 or GANDALF_INTERRUPT_FLAG. With the
 * flag set, waiting interrupts are delivered before the next instruction.
 * Returns the flag's old value. Stands for STI and CLI; a guest may also write
 * gandalf_shared.interrupt_flag itself and needs this call only to enable
 * while gandalf_shared.pending is not 0.
 */
#define GANDALF_HYPERCALL_INTERRUPT_FLAG 2

/*
 * RTOS: sets the interrupt flag and waits until an interrupt has been
 * delivered and its handler has returned. Stands for STI; HLT. Lets guests of
 * lower priority run meanwhile. Returns 0.
 */
#define GANDALF_HYPERCALL_HALT 3

/*
 * RTOS: starts the periodic timer. EBX: period in microseconds, at least
 * GANDALF_TIMER_MINIMUM and at most 1,000,000; 0 stops it. The first expiry is
 * one period from now; later ones keep the phase however late they are served.
 * Returns 0 or GANDALF_ERROR_ARGUMENT.
 */
#define GANDALF_HYPERCALL_TIMER 4
#define GANDALF_TIMER_MINIMUM 50

/*
 * RTOS: writes to the guest's console. EBX: address, ECX: bytes, at most
 * GANDALF_CONSOLE_CHUNK. Returns the number of bytes taken, which is less than
 * asked for when an interrupt waits, and 0 when the console's buffer is full.
 */
#define GANDALF_HYPERCALL_CONSOLE_WRITE 5
#define GANDALF_CONSOLE_CHUNK 256

/*
 * RTOS: reads what was typed on the guest's console. EBX: address, ECX: room
 * in bytes, at most GANDALF_CONSOLE_CHUNK. Returns the bytes read, 0 if none.
 * GANDALF_VECTOR_CONSOLE tells that there is something to read.
 */
#define GANDALF_HYPERCALL_CONSOLE_READ 6

/*
 * Linux: page-table entries of an address space were or are about to be
 * downgraded. EBX: guest-physical address of its page directory, ECX, EDX:
 * first and last+1 linear address, EDX = 0xFFFFFFFF for all. Called at the
 * head of flush_tlb_mm_range(); from the first call on the VMM keeps shadow
 * page tables across CR3 loads. Returns 0.
 */
#define GANDALF_HYPERCALL_FLUSH 16

/*
 * Linux: loads the three TLS descriptors (GDT entries 6 to 8). EBX: linear
 * address of the three, 24 bytes. The VMM stores them in the guest's GDT and,
 * checked, in the real one. Returns 0.
 */
#define GANDALF_HYPERCALL_LOAD_TLS 17

/*
 * Rings the doorbell of a guest: an RTOS gets GANDALF_VECTOR_DOORBELL, a Linux the
 * interrupt GANDALF_DOORBELL_IRQ, at once if it is halted; rings that it has not
 * taken yet are one. EBX: the guest's place in the system description, the first is
 * 0. A Linux may ring every RTOS, an RTOS whoever it has a channel with. Returns 0,
 * or GANDALF_ERROR_ARGUMENT if that guest does not run, or has no handler for it.
 */
#define GANDALF_HYPERCALL_DOORBELL 18
#define GANDALF_DOORBELL_IRQ 10

/*
 * A Linux on a shared CPU, in register D of its CMOS clock, whose other bits stay as
 * they are: each interrupt of the clock acknowledges itself, and register C, which
 * then reads as 0, need not be read for the next one. 0 at first. A real chip has no
 * such bit, some have part of an alarm there: a guest that sets this knows that it has
 * a virtual one, and that the VMM knows the bit if it reads as 1 then.
 */
#define GANDALF_RTC_AUTOMATIC 0x1

/* Does nothing; the cost of a hypercall. Every guest. Returns 0. */
#define GANDALF_HYPERCALL_NULL 32

/*
 * A guest that controls others (control.h): reads an object of the VMM, writes
 * one, or acts on a guest. EBX: object or action, with a place; ECX: address of
 * the bytes; EDX: how many; ESI: offset in the object. READ and WRITE return the
 * bytes moved, ACT 0, or a negative error. Others get GANDALF_ERROR_PERMISSION.
 */
#define GANDALF_HYPERCALL_READ 33
#define GANDALF_HYPERCALL_WRITE 34
#define GANDALF_HYPERCALL_ACT 35

/*
 * A sign of life, for a guest whose description sets watchdog_ms: without one for
 * that long, it counts as faulty. The first call starts the watch. Returns 0.
 */
#define GANDALF_HYPERCALL_ALIVE 36

/* Results. */
#define GANDALF_ERROR_ARGUMENT (-22)

/*
 * Handler numbers of an RTOS: the CPU's exceptions keep their vectors
 * (SDM vol. 3, table 6-1), then 16 interrupts of the 8259 pair as far as the
 * system description gives them to the guest, then the VMM's own.
 */
#define GANDALF_VECTOR_IRQ 32
#define GANDALF_VECTOR_TIMER 48
#define GANDALF_VECTOR_CONSOLE 49
#define GANDALF_VECTOR_DOORBELL 50
#define GANDALF_VECTORS 64

/*
 * An RTOS starts at its ELF entry point in ring 1, interrupt flag 0, with these
 * selectors: code in CS, data in DS, ES, FS, GS and SS, both of base B and limit
 * memory size - 1. EAX holds GANDALF_ENTRY_MAGIC, EBX the address of struct
 * gandalf_shared (the start of the last page of the guest's memory), ESP the
 * same address. Linked at 0; the address 0 itself is ordinary memory.
 */
#define GANDALF_RTOS_CODE 0x61
#define GANDALF_RTOS_DATA 0x69
#define GANDALF_ENTRY_MAGIC 0x464C4147

#ifndef __ASSEMBLER__

#include <stdint.h>

#include "channel.h"

/*
 * The page that a vCPU and the VMM share: at GANDALF_SHARED_PAGE for Linux, at
 * the start of the last page of an RTOS's memory. The VMM believes nothing in
 * it but the interrupt flag.
 */
struct gandalf_shared {
	/* The virtual IF, 0 or GANDALF_INTERRUPT_FLAG. The guest writes it; the
	 * VMM clears it when it delivers an interrupt or an exception. */
	uint32_t interrupt_flag;
	/* Linear address of the last page fault delivered. The VMM writes it.
	 * Linux only. */
	uint32_t cr2;
	/* Not 0 while an interrupt waits for the flag. The VMM writes it. RTOS
	 * only: Linux learns it by the fault on the alias. */
	uint32_t pending;
	/* GANDALF_ABI_VERSION of the VMM. The VMM writes it once. */
	uint32_t abi_version;
	/* Bytes of memory that the guest has, this page included. The VMM
	 * writes it once. */
	uint32_t memory_size;
	/* Frequency of the time stamp counter in kHz. The VMM writes it once. */
	uint32_t tsc_khz;
	/* The time stamp at which the timer interrupt being delivered was due,
	 * as programmed. The VMM writes it before each timer interrupt. */
	uint64_t timer_expiry;
	/* Expiries since the timer was started that were merged into a later
	 * interrupt because the guest had not taken the earlier one. The VMM
	 * writes it before each timer interrupt. */
	uint32_t timer_overruns;
	uint32_t reserved;
	/* The guest's channels. The VMM writes them once. */
	struct gandalf_channel_place channels[GANDALF_CHANNELS_MAXIMUM];
};

/*
 * What GANDALF_HYPERCALL_HANDLERS registers. A handler is entered in ring 1
 * with the interrupt flag 0 and, on the interrupted stack, from the top:
 * [error code, only where the CPU gives one], EIP, CS, EFLAGS. It returns with
 * IRET after it has set gandalf_shared.interrupt_flag; an interrupt that
 * arrives between that store and the IRET is delivered as if it came after
 * the IRET, so that stacks do not grow.
 */
struct gandalf_handlers {
	/* Offset of each handler in the code segment; 0: none. An exception
	 * without a handler stops the guest, an interrupt without one is
	 * dropped and counted. The guest writes it. */
	uint32_t entry[GANDALF_VECTORS];
};

#endif /* __ASSEMBLER__ */
#endif
