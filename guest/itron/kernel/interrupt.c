/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupt handlers and CPU exception handlers, the part of the kernel that the port enters
 * into.
 */
#include "interrupt.h"

#include "schedule.h"
#include "system.h"
#include "time.h"

FP interrupt_handlers[TMAX_INHNO + 1];

void interrupt_init(void)
{
	interrupt_handlers[INHNO_TIMER] = time_interrupt;
	for (UINT i = 0; i < interrupt_count; i++)
		interrupt_handlers[interrupt_configuration[i].inhno] =
			interrupt_configuration[i].inthdr;
	for (UINT i = 0; i < exception_count; i++)
		interrupt_handlers[exception_configuration[i].excno] =
			exception_configuration[i].exchdr;
}

void interrupt_run(UINT vector)
{
	handler_runs = true;
	interrupt_handlers[vector]();
	cpu_locked = false; /* it was, or we were not here */
	handler_runs = false;
	schedule();
}

void exception_run(T_EXCINF *information)
{
	bool handler_ran = handler_runs, was_locked = cpu_locked;

	information->context = handler_ran;
	information->locked = was_locked;
	handler_runs = true;
	cpu_locked = false; /* so that the handler may call what handlers may */
	((void (*)(T_EXCINF *))interrupt_handlers[information->excno])(information);
	cpu_locked = was_locked;
	handler_runs = handler_ran;
	if (!handler_ran)
		schedule();
}
