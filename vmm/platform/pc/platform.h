/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine as core sees it: core includes this header and no other of the platform, and knows
 * no chip, register or port. What a PC has for each purpose is said here, and is the function of a
 * chip below. All are inline, so the wall costs no instruction. Another platform has a header of
 * this name with the same functions.
 *
 * It includes headers of chips, and offers of them what is named here:
 *
 *	serial.h	serial_init(), serial_enable_interrupts(), serial_room(), serial_write(),
 *			serial_expect_room(), serial_read(), serial_mask_interrupts(),
 *			serial_interrupt_again(), serial_idle(): the line that carries all consoles
 *	power.h		power_off_machine(), power_stop_machine(): the ways in which it ends, in
 *			the masked section power_off
 *	timer.h		timer_hardware: what the clock is programmed by
 *	firmware.h	firmware_find_cpus(), firmware_cpus: which CPUs there are
 *
 * `make check` names a file of core that uses anything else of them.
 */
#pragma once

#include "arch/ia32/layout.h"
#include "platform/pc/apic.h"
#include "platform/pc/cmos.h"
#include "platform/pc/firmware.h"
#include "platform/pc/i8042.h"
#include "platform/pc/i8254.h"
#include "platform/pc/i8259.h"
#include "platform/pc/masked_sections.h"
#include "platform/pc/power.h"
#include "platform/pc/serial.h"
#include "platform/pc/vga.h"

/* --- Interrupts of devices, by 16 lines of a pair of 8259s --- */

#define IRQS 16u

/* Sets the controllers up with all lines masked, but those that irq_enable() was called for. */
static inline void controllers_init(void)
{
	i8259_init();
}

/* Leaves the controllers to a guest as the firmware does, with all lines masked. */
static inline void controllers_release(void)
{
	i8259_release();
}

/* Lets a line interrupt, by edges. */
static inline void irq_enable(unsigned irq)
{
	i8259_enable(irq);
}

/* Ends the interrupt of a line. Returns false if it was spurious: nobody is to be told of it. */
static inline bool irq_acknowledge(unsigned irq)
{
	return i8259_acknowledge(irq);
}

/* Returns whose line's interrupt has a vector; a number from IRQS on stands for none of them. */
static inline unsigned irq_of_vector(unsigned vector)
{
	return vector - VECTOR_PIC;
}

/* --- Time: the local APIC's timer, or the 8254 where there is none --- */

/* By what the TSC is measured, for a sentence that says that it is not there. */
#define TIMER_REFERENCE "8254"

/* Returns the ticks of the TSC in a millisecond, measured in some 30 ms. Called before the timer is
 * chosen. */
static inline u32 timer_measure_tsc(void)
{
	return i8254_measure_tsc();
}

/* What the TSC can be measured by for as long as one likes: a count that goes up so often in a
 * second, modulo 2^16, from reference_begin() on. To ask for it takes two steps, of which the first
 * is the point of time. Nothing else may use timer_measure_tsc() or the local APIC's measurement
 * from then on. */
#define REFERENCE_FREQUENCY I8254_FREQUENCY
static inline void reference_begin(void)
{
	i8254_count_begin();
}

static inline void reference_latch(void)
{
	i8254_latch();
}

static inline u16 reference_count(void)
{
	return i8254_count();
}

/* Chooses the timer that interrupts at deadlines, and prepares it. */
static inline const struct timer_hardware *timer_choose(void)
{
	return apic_init() ? &apic_timer : &i8254_timer;
}

/* Returns the date, in seconds since 1970-01-01 00:00, from the clock that a battery keeps. */
static inline u32 date_now(void)
{
	return cmos_seconds();
}

/* --- CPUs, which interrupt each other by their local APICs --- */

/* What a CPU must have to be one of several, for a sentence that says that it is not there. */
#define CPU_REFERENCE "local APIC"

/* Returns whether this machine's CPUs can interrupt each other. */
static inline bool cpus_are_reachable(void)
{
	return apic_base != 0;
}

/* Returns the number by which the CPU that runs this is addressed. */
static inline u32 cpu_own_id(void)
{
	return apic_own_id();
}

/* Has a CPU begin at a page below 1 MiB. This takes some 10 ms. */
static inline void cpu_start(u32 id, u32 page)
{
	apic_start_cpu(id, page);
}

/* Has a CPU wait until it is started once more. */
static inline void cpu_stop(u32 id)
{
	apic_stop_cpu(id);
}

/* Prepares the CPU that runs this, another one than the first, to be that of the core with an
 * index: devices do not interrupt it. */
static inline void cpu_join(u32 index)
{
	apic_join(index);
}

/* Interrupt a CPU: there is a message for it, or a doorbell, or what a vCPU has for another one;
 * these two have interrupts of their own. Interrupts are masked. */
static inline void cpu_interrupt_message(u32 id)
{
	apic_interrupt(id, VECTOR_APIC_MESSAGE);
}

static inline void cpu_interrupt_doorbell(u32 id)
{
	apic_interrupt(id, VECTOR_APIC_DOORBELL);
}

/* Interrupt several cores at once, by the bits of their indices. */
static inline void cores_interrupt_message(u32 cores)
{
	apic_interrupt_cores(cores, VECTOR_APIC_MESSAGE);
}

static inline void cores_interrupt_ipi(u32 cores)
{
	apic_interrupt_cores(cores, VECTOR_APIC_IPI);
}

/* Returns whether the interrupt that came by a vector is one of these three, where a guest has the
 * 8259s and may have given them any vectors. */
static inline bool cpu_message_came(u32 vector)
{
	return apic_vector_is_message(vector) && vector == apic_in_service();
}

/* Ends the interrupt by another CPU, or by any other vector that is none of a line. */
static inline void cpu_end_interrupt(void)
{
	apic_end_of_interrupt();
}

/* --- The screen, which has the output where there is no serial line, and the keyboard --- */

/* Empties the screen. */
static inline void screen_clear(void)
{
	vga_clear();
}

/* Returns whether a byte can be written now. If not, each call does some 250 instructions of what
 * keeps the screen busy, so the caller asks again. */
MUST_CHECK static inline bool screen_is_ready(void)
{
	return vga_is_ready();
}

/* Writes a byte at the cursor, which the screen is ready for. */
static inline void screen_write(u8 byte)
{
	vga_write(byte);
}

/* Returns the cells of the screen, of 16 bits for a character and its colours. To read them is
 * slow. */
static inline u16 *screen_cells(void)
{
	return vga_cells();
}

/* Shows the cursor at a cell. */
static inline void screen_place_cursor(u32 cell)
{
	vga_place_cursor(cell);
}

/* The line of the keyboard's interrupts. */
#define KEYBOARD_IRQ I8042_IRQ

/* Has the keyboard begin, without what has been typed so far. Returns false if there is none. */
MUST_CHECK static inline bool keyboard_start(void)
{
	return i8042_empty();
}

/* Returns the keyboard's next code, of set 1, or -1. */
static inline int keyboard_read(void)
{
	return i8042_read();
}

/* Keeps a line from interrupting until irq_enable() is called for it again. What comes meanwhile
 * interrupts then. */
static inline void irq_disable(unsigned irq)
{
	i8259_disable(irq);
}
