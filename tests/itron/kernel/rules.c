/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of the checks; see rules.h.
 */
#include "rules.h"

#include <string.h>

#include "board.h"
#include "kernel_id.h"
#include "print.h"

#define TRACE_MAXIMUM 64
#define INVALID_INSTRUCTION_BYTES 2

static unsigned int failed, passed;
static char letters[TRACE_MAXIMUM + 1];
static size_t letters_count;
static void (*helper_work[TNUM_TSKID + 1])(void);
static void (*volatile handler_work)(void);
static int initialized[3], initialized_count;

void (*exception_work)(TEXPTN pattern);
volatile UINT cyclic_counted, cyclic_phases;
void (*volatile exception_handler_work)(void);

void expectation(bool holds, const char *file, int line, const char *text)
{
	if (holds) {
		passed++;
		return;
	}
	failed++;
	print("%s:%d: does not hold: %s (trace: %s)\n", file, line, text, letters);
}

void trace(char letter)
{
	if (letters_count < TRACE_MAXIMUM)
		letters[letters_count++] = letter;
	letters[letters_count] = 0;
}

bool traced(const char *wanted)
{
	bool same = !strcmp(letters, wanted);

	if (!same)
		print("traced %s, not %s\n", letters, wanted);
	letters_count = 0;
	letters[0] = 0;
	return same;
}

void helper_set(ID task, void (*work)(void))
{
	helper_work[task] = work;
}

ER helper_start(ID task, void (*work)(void))
{
	helper_set(task, work);
	return act_tsk(task);
}

void helper_run(VP_INT exinf)
{
	ID self;

	get_tid(&self);
	expect((INT)exinf == self - 1);
	helper_work[self]();
}

void in_handler(void (*work)(void))
{
	handler_work = work;
	sta_cyc(CYC_CALL);
	while (handler_work)
		__asm__ volatile("pause");
	stp_cyc(CYC_CALL);
}

void handler_call(VP_INT exinf)
{
	expect((INT)exinf == 9);
	if (handler_work)
		handler_work();
	handler_work = NULL;
}

void cyclic_count_up(VP_INT exinf)
{
	(void)exinf;
	cyclic_counted++;
}

void cyclic_phase(VP_INT exinf)
{
	(void)exinf;
	cyclic_phases++;
}

void main_exception(TEXPTN pattern, VP_INT exinf)
{
	ID self;

	get_tid(&self);
	expect((INT)exinf == (self == TSK_MAIN ? 7 : 2));
	exception_work(pattern);
}

void exception_skip(T_EXCINF *information)
{
	expect(information->excno == 6);
	expect(sns_ctx());
	trace('X');
	if (exception_handler_work)
		exception_handler_work();
	information->eip += INVALID_INSTRUCTION_BYTES;
}

void initialize(VP_INT exinf)
{
	if (initialized_count < 3)
		initialized[initialized_count++] = (int)exinf;
}

void main_run(VP_INT exinf)
{
	expect((INT)exinf == 7);
	expect(initialized_count == 2 && initialized[0] == 11 && initialized[1] == 12);
	check_tasks();
	check_objects();
	check_contexts();
	print("%u hold, %u do not\n", passed, failed);
	print("%s rules\n", failed ? "FAIL" : "PASS");
	slp_tsk();
}
