/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the physical interrupts of a core. Each is ended at the controller at once and then handed
 * to its owner. If that is a guest, the interrupt stays pending until the guest takes it.
 */
#include "core/interrupt.h"

#include "arch.h"
#include "core/command.h"
#include "core/log.h"
#include "core/message.h"
#include "core/schedule.h"
#include "core/work.h"
#include "display.h"
#include "lib/owner.h"
#include "masked_state.h"

/* A TSC of fewer kHz is none: that by which it was measured is not there. */
#define TSC_KHZ_MINIMUM 10000
#define CONSOLE_WAITS 10u /* milliseconds that the UART waits for an RTOS, at most */
#define CONSOLE_BURST 10u /* its interrupts that are served fully after such a wait */
#define CONSOLE_RATE 20u  /* its interrupts in a millisecond, at most */

OF_CORE static struct vcpu *owners[IRQS];
OF_CORE_INITIALISED static int console_line = -1;
OF_CORE static struct deadline console_deadline;
static void serve_own(unsigned vector);
/* What serves interrupts. It is serve_own() unless the controllers have been left to a guest. */
OF_CORE_INITIALISED static void (*serve)(unsigned vector) = serve_own;
/* How often the UART has waited for an RTOS, plus how often it has been served since. */
OF_CORE static u32 console_waits;
/* The consoles are to be served: bytes have come in that the command line and the guests have not
 * been told of, or something has been left for a later interrupt. */
OF_CORE static bool due;

/* Returns whether output must wait. A fast UART would otherwise take the CPU from an RTOS for long.
 * Received bytes do not wait, since they would be lost. A screen without a UART is written to at a
 * deadline, so that this changes nothing there. */
static bool console_must_wait(void)
{
	return core.current->priority != 0 && console_waits < CONSOLE_WAITS;
}

static u64 console_expire(UNUSED struct deadline *deadline)
{
	bool waits = console_must_wait();

	console_waits += waits;
	if (due)
		serial_expect_room(true); /* output of others may have ended that */
	serial_interrupt_again(!waits);
	return waits ? rdtsc() + time_tsc_khz : TIME_NEVER;
}

static void lines_enable(void)
{
	controllers_init();
	if (time_irq() >= 0)
		irq_enable((unsigned)time_irq());
	if (console_line >= 0)
		irq_enable((unsigned)console_line);
}

void interrupt_init(int console_irq)
{
	console_line = console_irq;
	deadline_init(&console_deadline, console_expire, 0);
	time_init();
	log_line("TSC %u kHz, timer: %s", time_tsc_khz, time_hardware());
	if (time_tsc_khz < TSC_KHZ_MINIMUM)
		panic("no " TIMER_REFERENCE);
	lines_enable();
}

void interrupt_assign(u32 irqs, struct vcpu *vcpu)
{
	for (; irqs != 0; irqs &= irqs - 1) {
		unsigned irq = (unsigned)__builtin_ctz(irqs);

		owners[irq] = vcpu;
		irq_enable(irq);
	}
}

void interrupt_leave(void (*to)(unsigned vector))
{
	serve = to;
	controllers_release();
}

void interrupt_take_back(void)
{
	serve = serve_own;
	lines_enable();
}

/* Counts that the UART has been served. It may be served CONSOLE_BURST times behind a wait while an
 * RTOS holds the CPU; then it has to wait again. If no RTOS runs the count begins anew. */
static void console_count(void)
{
	if (core.current->priority == 0 || ++console_waits >= CONSOLE_WAITS + CONSOLE_BURST)
		console_waits = 0;
}

/* Has what has come in come to whom it is for, and what is to go out go on. Other interrupts are
 * let in between the steps, which may be of bytes, too. What is left is done at a later interrupt:
 * output that has to wait for an RTOS, and all where no interrupt can be let in. A command may have
 * taken down or paused the vCPU on whose stack this is, or the stack may have no room for more. */
static void consoles_step(void)
{
	bool left;

	for (;;) {
		left = true;
		if (work_must_end())
			break;
		if (due) {
			/* What comes amid this is for this, or, where another vCPU gets the core,
			 * for the next interrupt there. */
			work_admit(command_input);
			due = false;
			command_input();
			continue;
		}
		left = console_must_wait();
		if (!left) {
			console_count();
			work_admit(console_pump);
			log_pump();
		}
		work_admit(console_tell);
		log_tell();
		if (!due)
			break;
	}
	due = left;
}

/*
 * Takes the steps, unless this interrupt has interrupted them on the same VMM stack: they go on
 * behind it, and see what has come in. On a slow machine a step takes longer than the UART is
 * masked for, and the stack would never be long enough.
 */
static void consoles_serve(void)
{
	struct vcpu *vcpu = core.current;

	EXPECTS_MASKED();
	if (vcpu->serves_consoles)
		return;
	vcpu->serves_consoles = true;
	consoles_step();
	vcpu->serves_consoles = false;
}

/* Serves the UART. It moves few bytes, and leaves the rest to a later interrupt: without an end,
 * UART interrupts would keep out the timer's, which the CPU may serve after those of lines. The
 * UART stays masked until the deadline. An RTOS that has just been woken up is delayed by all this,
 * so nothing is done without need. */
static void console_interrupt(void)
{
	serial_mask_interrupts();
	deadline_set(&console_deadline, rdtsc() + time_tsc_khz / CONSOLE_RATE);
	due |= log_receive();
	consoles_serve();
}

/* The keyboard masks itself. What it leaves comes by the UART, or, where there is none, by the idle
 * vCPU and the deadline of the screen. */
static void keyboard_interrupt(void)
{
	consoles_serve();
	if (!due)
		return;
	if (console_line >= 0) {
		deadline_set(&console_deadline, rdtsc() + time_tsc_khz / CONSOLE_RATE);
		return;
	}
	schedule_housekeeping(HOUSEKEEPING_COMMAND);
	log_pump();
}

static void line_interrupt(unsigned irq)
{
	if (!irq_acknowledge(irq))
		return;
	if ((int)irq == time_irq())
		time_interrupt();
	else if ((int)irq == console_line)
		console_interrupt();
	else if (keyboard_serve(irq, &due))
		keyboard_interrupt();
	else if (owners[irq] != NULL && owners[irq]->state != VCPU_OFF)
		owners[irq]->operations->interrupt(owners[irq], irq);
}

static void serve_own(unsigned vector)
{
	unsigned irq = irq_of_vector(vector);

	if (irq < IRQS)
		line_interrupt(irq);
	else
		message_interrupt();
}

void interrupt_serve(unsigned vector)
{
	EXPECTS_MASKED();
	serve(vector);
}
