/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context of a task on IA-32, the part in C: how it begins, and what the kernel is told of
 * interrupts and exceptions. context.S has the dispatcher.
 */
#include "context.h"

#include <string.h>

#include "board.h"
#include "cpu.h"
#include "interrupt.h"
#include "system.h"
#include "task.h"

/* From the top: bit 1 of EFLAGS, which is always 1, and IF. */
#define EFLAGS_INITIAL 0x202

/* The area that FXSAVE writes (SDM vol. 1, section 10.5.1): bytes, two fields, and what they
 * hold when all exceptions are masked and the registers are empty. */
#define FXSAVE_SIZE 512
#define FXSAVE_CONTROL 0
#define FXSAVE_MXCSR 24
#define CONTROL_INITIAL 0x37f
#define MXCSR_INITIAL 0x1f80

struct context {
	UW edi, esi, ebp, esp, ebx, edx, ecx, eax;
	UW entry;
	UW error_code;
	UW eip, cs, eflags;
};

_Static_assert(offsetof(struct task, stack) == 0, "context.S relies on it");

/* Returns the new top of the stack. */
static UB *floating_point_prepare(struct task *task, UB *top)
{
	top = (UB *)((UW)(top - FXSAVE_SIZE) & ~15U);
	memset(top, 0, FXSAVE_SIZE);
	*(UH *)(void *)(top + FXSAVE_CONTROL) = CONTROL_INITIAL;
	*(UW *)(void *)(top + FXSAVE_MXCSR) = MXCSR_INITIAL;
	task->floating_point = top;
	return top;
}

void port_task_prepare(struct task *task)
{
	const struct task_configuration *configuration = task->configuration;
	UB *top = (UB *)configuration->stk + configuration->stksz;
	struct context *context;
	VP *words;
	UH code;

	if (configuration->tskatr & TA_FPU)
		top = floating_point_prepare(task, top);
	/* As if called, with its argument on a multiple of 16, by what ends it. */
	words = (VP *)(void *)(top - TALIGN_STK);
	words[0] = configuration->exinf;
	words[-1] = (VP)context_task_returned;
	context = (struct context *)(void *)(words - 1) - 1;
	memset(context, 0, sizeof(*context));
	__asm__("movw %%cs, %0" : "=r"(code));
	context->cs = code;
	context->eip = (UW)configuration->task;
	context->eflags = EFLAGS_INITIAL;
	task->stack = context;
}

void port_floating_point_switch(VP from, VP to)
{
	if (from)
		__asm__ volatile("fxsave (%0)" : : "r"(from) : "memory");
	if (to)
		__asm__ volatile("fxrstor (%0)" : : "r"(to) : "memory");
}

void context_interrupt(struct context *context)
{
	UINT vector = (context->entry - (UW)context_entries) / CONTEXT_ENTRY_SIZE;
	T_EXCINF information = {
		.excno = vector,
		.error_code = context->error_code,
		.eip = context->eip,
		.eflags = context->eflags,
	};

	if (vector >= TMIN_INHNO) {
		if (port_interrupt_accept(vector))
			interrupt_run(vector);
		return;
	}
	exception_run(&information);
	context->eip = information.eip;
	context->eflags = information.eflags;
}

uint64_t board_time_stamp(void)
{
	return time_stamp();
}
