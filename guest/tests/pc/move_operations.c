/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations of pc-moves.elf that need a local APIC, another vCPU, or a vCPU that moves. The second
 * vCPU executes them; each is prepared alike before every round.
 */
#include "moves.h"

#include "machine.h"

/* Ticks of the time stamp counter until the timer's interrupt: longer than a round needs. */
#define TIMER_TICKS 100000U
#define TIMER_VECTOR (GANDALF_IPI_FIRST + MOVE_TIMER)
#define PRIORITY 0x20U /* lets all those vectors through */

/* user.S */
extern const char user_system_call[];

/* boundary.S: what operations have for their stack. */
extern uint8_t boundary_stack[PAGE_SIZE];

static void interrupt_await(uint32_t which)
{
	while (move_interrupts[which] == 0)
		__asm__ volatile("pause");
}

static void interrupts_tell(void)
{
	ipi_send(1U << FIRST, MOVE_TELLS);
	interrupt_await(MOVE_TELLS);
}

/* Clears what is below the stack. Where in a loop an interrupt came is there, and is chance. */
static inline void stack_forget(void)
{
	uint32_t size;
	uint8_t *at = boundary_stack;

	__asm__ volatile("movl %%esp, %0\n\tsubl %1, %0\n\trep stosb"
			 : "=&c"(size), "+D"(at)
			 : "a"(0)
			 : "memory", "cc");
}

/* The first vCPU interrupts the second a moment after it has seen this one ask for it. */
static void execute_told(void)
{
	boundary_private.wake_wanted = 1;
	interrupt_await(MOVE_WAKES);
	irq_disable();
	stack_forget();
}

static void execute_halt(void)
{
	boundary_private.wake_wanted = 1;
	irq_wait();
	irq_disable();
}

static void prepare_own(void)
{
	ipi_send(1U << SECOND, MOVE_OWN);
}

static void prepare_enabled(void)
{
	irq_enable();
}

static void execute_own(void)
{
	ipi_send(1U << SECOND, MOVE_OWN);
}

static void execute_enable(void)
{
	irq_enable();
	irq_disable();
}

static void execute_return(void)
{
	user_trap(user_system_call);
}

static void prepare_store(void)
{
	*apic_register(APIC_PRIORITY) = 0;
}

static void execute_store(void)
{
	*apic_register(APIC_PRIORITY) = PRIORITY;
}

static void prepare_timer(void)
{
	*apic_register(APIC_TIMER) = TIMER_VECTOR;
	irq_enable();
}

static void execute_timer(void)
{
	boundary_private.timer_began = time_stamp();
	*apic_register(APIC_COUNT) = TIMER_TICKS;
	interrupt_await(MOVE_TIMER);
	irq_disable();
	stack_forget();
}

void move_timer_came(void)
{
	boundary_private.timer_came = time_stamp();
	move_expect(boundary_private.timer_came - boundary_private.timer_began >= TIMER_TICKS,
		    "the timer came too early");
}

/* It comes home, which is asked to leave again while it does. */
static void prepare_arrive(void)
{
	move_to(AWAY);
}

static void execute_arrive(void)
{
	move_to(HOME);
}

const struct operation move_operations[] = {
	{ "tell", interrupts_tell, boundary_prepare_nothing, false },
	{ "told", execute_told, prepare_enabled, false },
	{ "halt", execute_halt, boundary_prepare_nothing, false },
	{ "interrupt-own", execute_own, prepare_enabled, false },
	{ "interrupt-waits", execute_enable, prepare_own, false },
	{ "interrupt-at-return", execute_return, prepare_own, false },
	{ "apic-store", execute_store, prepare_store, false },
	{ "apic-timer", execute_timer, prepare_timer, false },
	{ "arrive", execute_arrive, prepare_arrive, false },
	{ NULL, NULL, NULL, false },
};
