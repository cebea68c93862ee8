/* SPDX-License-Identifier: MIT */
/*
 * The interface between the Gandalf VMM and its guests: the hypercalls, the page that a vCPU shares
 * with the VMM, and what an RTOS finds at its entry. The VMM, the RTOS ports and the Linux driver
 * include this file unchanged, and the host tool reads the same numbers from it.
 *
 * It holds only #define lines and structures of fixed-width fields, so that C, assembly (with
 * __ASSEMBLER__ defined) and the host tool can all read it.
 */
#ifndef GANDALF_H
#define GANDALF_H

/* The version of this interface. It is raised whenever a guest built for the old one would
 * misbehave. */
#define GANDALF_ABI_VERSION 1

/*
 * The VMM owns every linear address from here up. A Linux guest is booted with reservetop=64M, so
 * it does not use them.
 */
#define GANDALF_BASE 0xFC000000

/*
 * For Linux: the linear address of struct gandalf_shared, and of the alias, a second mapping of the
 * same frame. A guest clears its interrupt flag through the first, and sets it through the alias
 * only. While an interrupt waits the VMM makes the alias read-only. The store that enables
 * interrupts then faults, and the VMM delivers the interrupt there. So to disable or to enable
 * interrupts costs one store as long as no interrupt waits.
 */
#define GANDALF_SHARED_PAGE 0xFC000000
#define GANDALF_SHARED_ALIAS 0xFC001000

/* The value of the interrupt flag when interrupts are enabled. It is the bit of EFLAGS.IF. */
#define GANDALF_INTERRUPT_FLAG 0x200

/*
 * A hypercall is `int $GANDALF_HYPERCALL_VECTOR` from ring 1. EAX holds its number; EBX, ECX, EDX
 * and ESI hold its arguments. The result comes back in EAX, and all other registers are kept. A
 * negative result is one of the errors below or in control.h. A number that the VMM does not
 * know for this kind of guest, or an address outside the guest, stops the guest.
 */
#define GANDALF_HYPERCALL_VECTOR 0x1e

/*
 * For an RTOS: registers the guest's handlers, as LIDT does on a bare machine. EBX is the address
 * of a struct gandalf_handlers in the guest's data segment, which the VMM copies. Returns 0.
 */
#define GANDALF_HYPERCALL_HANDLERS 1

/*
 * For an RTOS: writes the interrupt flag, as STI and CLI do on a bare machine. EBX is 0 or
 * GANDALF_INTERRUPT_FLAG. If it sets the flag, waiting interrupts are delivered before the next
 * instruction. Returns the flag's old value, or GANDALF_ERROR_ARGUMENT for any other EBX. A guest
 * may write gandalf_shared.interrupt_flag itself instead; it needs this call only to set the flag
 * while gandalf_shared.pending is not 0.
 */
#define GANDALF_HYPERCALL_INTERRUPT_FLAG 2

/*
 * For an RTOS: sets the interrupt flag and waits until an interrupt has been delivered and its
 * handler has returned, as STI and HLT do on a bare machine. Guests of lower priority run
 * meanwhile. Returns 0.
 */
#define GANDALF_HYPERCALL_HALT 3

/*
 * For an RTOS: starts its periodic timer. EBX is the period in microseconds, from
 * GANDALF_TIMER_MINIMUM to 1,000,000; 0 stops the timer. The first expiry is one period from now.
 * Later ones are whole periods behind it, however late they are served. Returns 0, or
 * GANDALF_ERROR_ARGUMENT for any other period.
 */
#define GANDALF_HYPERCALL_TIMER 4
#define GANDALF_TIMER_MINIMUM 50

/*
 * For an RTOS: writes to the guest's console. EBX is the address of the bytes, ECX how many there
 * are, at most GANDALF_CONSOLE_CHUNK. Returns the bytes taken, which are fewer if an interrupt
 * waits or the console's buffer is full. Returns GANDALF_ERROR_ARGUMENT if ECX is too large.
 */
#define GANDALF_HYPERCALL_CONSOLE_WRITE 5
#define GANDALF_CONSOLE_CHUNK 256

/*
 * For an RTOS: reads what was typed on the guest's console. EBX is the address of a buffer, ECX its
 * size in bytes, at most GANDALF_CONSOLE_CHUNK. Returns the bytes read, 0 if there are none, or
 * GANDALF_ERROR_ARGUMENT if ECX is too large. The interrupt GANDALF_VECTOR_CONSOLE tells that
 * there is something to read.
 */
#define GANDALF_HYPERCALL_CONSOLE_READ 6

/*
 * For Linux: says that page-table entries of an address space permit less now than before, or soon
 * will. EBX is the guest-physical address of its page directory. ECX is the first linear
 * address concerned, and EDX the one behind the last; EDX = 0xFFFFFFFF stands for all. Linux calls
 * it at the head of flush_tlb_mm_range(). From the first call on the VMM keeps shadow page tables
 * across CR3 loads. Returns 0.
 */
#define GANDALF_HYPERCALL_FLUSH 16

/*
 * For Linux: loads the three descriptors of thread-local storage, GDT entries 6 to 8. EBX is the
 * linear address of the three, which are 24 bytes. The VMM stores them in the guest's GDT as they
 * are, and in the real GDT with what a guest may not have taken away. Returns 0.
 */
#define GANDALF_HYPERCALL_LOAD_TLS 17

/*
 * Rings the doorbell of another guest. An RTOS gets GANDALF_VECTOR_DOORBELL, and a Linux gets the
 * interrupt GANDALF_DOORBELL_IRQ. A halted guest wakes up. Several rings that the guest has not
 * taken yet count as one. EBX is the guest's place in the system description; the first is 0. A
 * Linux may ring every RTOS. An RTOS may ring those that it has a channel with. Returns 0, or
 * GANDALF_ERROR_ARGUMENT if the caller may not ring that guest, if it does not run, or if it
 * has no handler. What a guest of another CPU does is not asked: 0 if that CPU runs.
 */
#define GANDALF_HYPERCALL_DOORBELL 18
#define GANDALF_DOORBELL_IRQ 10

/*
 * A bit in register D of the virtual CMOS clock, for a Linux on a shared CPU. While it is 1 each
 * interrupt of the clock acknowledges itself: the next one comes although nobody has read register
 * C, which reads as 0. The bit is 0 at first; the other bits of register D stay as they are when it
 * is written. A real chip has no such bit, and some have part of an alarm there. So a guest may
 * set it only if it knows that the chip is virtual. The VMM knows the bit if it then reads as 1.
 */
#define GANDALF_RTC_AUTOMATIC 0x1

/* For every guest: does nothing, so that the cost of a hypercall can be measured. Returns 0. */
#define GANDALF_HYPERCALL_NULL 32

/*
 * For a guest that manages others (control.h): reads an object of the VMM, writes one, or acts on a
 * guest. EBX is an object or action, with the place of a guest. For READ and WRITE, ECX is
 * the address of the bytes, EDX how many there are, and ESI the offset in the object. READ and
 * WRITE return the bytes moved, ACT returns 0; each may return a negative error. A guest that may
 * not manage others gets GANDALF_ERROR_PERMISSION.
 */
#define GANDALF_HYPERCALL_READ 33
#define GANDALF_HYPERCALL_WRITE 34
#define GANDALF_HYPERCALL_ACT 35

/*
 * Gives a sign of life. A guest whose description sets watchdog_ms counts as faulty if it gives
 * none for so many milliseconds; the first call starts this watch. Returns how many that are, or 0
 * if nobody watches.
 */
#define GANDALF_HYPERCALL_ALIVE 36

/* An argument is out of its range. The value is that of Linux's EINVAL. */
#define GANDALF_ERROR_ARGUMENT (-22)

/*
 * Numbers of an RTOS's handlers. The CPU's exceptions keep their vectors (SDM vol. 3, table 6-1).
 * From GANDALF_VECTOR_IRQ on follow the 16 interrupts of the 8259 pair, of which the guest gets
 * those that the system description gives it. The others come from the VMM.
 */
#define GANDALF_VECTOR_IRQ 32
#define GANDALF_VECTOR_TIMER 48
#define GANDALF_VECTOR_CONSOLE 49
#define GANDALF_VECTOR_DOORBELL 50
#define GANDALF_VECTORS 64

/*
 * The state in which an RTOS starts, at its ELF entry point, in ring 1, or in ring 3 where the VMM
 * alone is privileged: bits 0 and 1 of its selectors are the ring. CS holds GANDALF_RTOS_CODE; DS,
 * ES, FS, GS and SS hold GANDALF_RTOS_DATA. Both segments begin where the guest's memory is mapped,
 * so an RTOS is linked at 0, which is ordinary memory. They end behind the guest's memory and its
 * channels (in ring 3 its pages do). EAX holds GANDALF_ENTRY_MAGIC. EBX and ESP hold the address of
 * struct gandalf_shared, which is the start of the guest's last page. The interrupt flag is 0.
 */
#define GANDALF_RTOS_CODE 0x61
#define GANDALF_RTOS_DATA 0x69
#define GANDALF_ENTRY_MAGIC 0x464C4147

#ifndef __ASSEMBLER__

#include <stdint.h>

#include "channel.h"

/*
 * The page that a vCPU and the VMM share. Linux has it at GANDALF_SHARED_PAGE; for an RTOS it is
 * the last page of its memory. A guest can write to all of it. The VMM relies on no field but the
 * interrupt flag.
 */
struct gandalf_shared {
	/* The virtual IF: 0 or GANDALF_INTERRUPT_FLAG. The guest writes it. The VMM clears it when
	 * it delivers an interrupt or an exception. */
	uint32_t interrupt_flag;
	/* For Linux, and for an RTOS in ring 3: the linear address of the last page fault that
	 * was delivered. The VMM writes it. */
	uint32_t cr2;
	/* For an RTOS: not 0 while an interrupt waits for the flag. The VMM writes it. A Linux
	 * learns the same by the fault on the alias. */
	uint32_t pending;
	/* GANDALF_ABI_VERSION of the VMM. The VMM writes it when the guest starts. */
	uint32_t abi_version;
	/* Bytes of the guest's memory, this page included. The VMM writes it when the guest
	 * starts. */
	uint32_t memory_size;
	/* Frequency of the time stamp counter in kHz. The VMM writes it when the guest starts. */
	uint32_t tsc_khz;
	/* For an RTOS: the time stamp at which the timer interrupt that is delivered was due. The
	 * VMM writes it before each timer interrupt. */
	uint64_t timer_expiry;
	/* For an RTOS: expiries since the timer was started that gave no interrupt of their own,
	 * since the guest had not taken the one before. The VMM writes it before each timer
	 * interrupt. */
	uint32_t timer_overruns;
	/* For a Linux with several vCPUs: how many spin locks the vCPU holds. The guest writes
	 * it. An RTOS may wait until it is 0 (GANDALF_PREEMPTION_DELAYED in control.h). */
	uint32_t locks;
	/* The guest's channels. The VMM writes them when the guest starts. */
	struct gandalf_channel_place channels[GANDALF_CHANNELS_MAXIMUM];
	/* For a Linux with several vCPUs: ticks of the time stamp counter in which the vCPU could
	 * have run, and others had the CPU, in all its lives. The VMM writes it before the vCPU
	 * goes on: between any two of its instructions. */
	uint64_t stolen;
	/* The same frequency as tsc_khz in units of 10 Hz, rounded down, of what is at most a
	 * millionth away from what the machine's 8254 says. The VMM measures it while guests run,
	 * and writes it some seconds after the machine's start, or when the guest starts if it
	 * knows it by then; it is 0 before. While a Linux has CPU 0 to itself, and with that the
	 * 8254, nothing is measured. */
	uint32_t tsc_rate;
};

/*
 * What GANDALF_HYPERCALL_HANDLERS registers. A handler is entered in ring 1 with the interrupt flag
 * 0. On the interrupted stack it finds, from the top: an error code if the CPU gives one for this
 * exception, EIP, CS, EFLAGS. It sets gandalf_shared.interrupt_flag and returns with IRET. An
 * interrupt that comes between that store and the IRET is delivered as if it came after the
 * IRET, so that frames do not pile up on the stack.
 */
struct gandalf_handlers {
	/* The offset of each handler in the code segment, or 0 for none. An exception without a
	 * handler stops the guest. An interrupt without one is dropped and counted. The guest
	 * writes all. */
	uint32_t entry[GANDALF_VECTORS];
};

#endif /* __ASSEMBLER__ */
#endif
