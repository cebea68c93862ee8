/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of the tests; see suite.h.
 */
#include "suite.h"

#include <string.h>

#include "print.h"

#define TRACE_MAXIMUM 64
#define INVALID_INSTRUCTION 6
#define INVALID_INSTRUCTION_BYTES 2

T_EXCINF exception_noted;

static char letters[TRACE_MAXIMUM + 1];
static size_t letters_count;
static void (*works[TNUM_TSKID + 1])(void);
static void (*volatile handler_work)(void);
static void (*volatile cpu_exception_work)(void);

void trace(char letter)
{
	if (letters_count < TRACE_MAXIMUM)
		letters[letters_count++] = letter;
	letters[letters_count] = 0;
}

ID self(void)
{
	ID id = TSK_NONE;

	get_tid(&id);
	return id;
}

char self_letter(void)
{
	static const char all[] = "-mhl12";

	return all[self()];
}

void trace_self(void)
{
	trace(self_letter());
}

bool traced(const char *wanted)
{
	bool same = !strcmp(letters, wanted);

	if (!same)
		print("# traced: %s, not %s\n", letters, wanted);
	letters_count = 0;
	letters[0] = 0;
	return same;
}

SYSTIM now(void)
{
	SYSTIM time;

	get_tim(&time);
	return time;
}

void settle(void)
{
	dly_tsk(1);
}

void work_set(ID task, void (*work)(void))
{
	works[task] = work;
}

ER start(ID task, void (*work)(void))
{
	work_set(task, work);
	return act_tsk(task);
}

void start_all(void (*work)(void))
{
	static const ID order[] = { TSK_LOW, TSK_ONE, TSK_HIGH, TSK_TWO };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		expect_equal(start(order[i], work), E_OK);
		settle();
	}
}

void helper_run(VP_INT exinf)
{
	expect_equal(exinf, self_letter());
	works[self()]();
}

void handler_begin(void (*work)(void))
{
	handler_work = work;
	sta_cyc(CYC_CALL);
}

void handler_end(void)
{
	stp_cyc(CYC_CALL);
	expect(!handler_work);
}

void in_handler(void (*work)(void))
{
	handler_begin(work);
	while (handler_work)
		__asm__ volatile("pause");
	handler_end();
}

void handler_call(VP_INT exinf)
{
	expect_equal(exinf, 9);
	if (handler_work)
		handler_work();
	handler_work = NULL;
}

void in_exception(void (*work)(void))
{
	cpu_exception_work = work;
	__asm__ volatile("ud2");
	expect(!cpu_exception_work);
}

void exception_skip(T_EXCINF *information)
{
	void (*work)(void) = cpu_exception_work;

	exception_noted = *information;
	expect_equal(information->excno, INVALID_INSTRUCTION);
	cpu_exception_work = NULL;
	if (work)
		work();
	information->eip += INVALID_INSTRUCTION_BYTES;
}

/* Helpers that a test has forgotten would disturb the others. */
static void test_all_ended(void)
{
	PRI priority;

	expect(traced(""));
	for (ID id = TSK_HIGH; id <= TSK_TWO; id++)
		expect_equal(get_pri(id, &priority), E_OBJ);
	expect_equal(get_pri(TSK_MAIN, &priority), E_OK);
	expect_equal(priority, MAIN_PRIORITY);
	expect_equal(can_wup(TSK_MAIN), 0);
	expect_equal(can_act(TSK_MAIN), 0);
	expect_equal(dis_tex(), E_OK);
}

static const struct tap_test end_each[] = {
	{ "nothing is left of the tests", test_all_ended },
};

void main_run(VP_INT exinf)
{
	const struct tap_group groups[] = {
		start_tests,	 task_tests,	  synchronization_tests, exception_tests,
		wait_tests,	 queue_tests,	  semaphore_tests,	 eventflag_tests,
		dataqueue_tests, mailbox_tests,	  mempool_tests,	 time_tests,
		system_tests,	 interrupt_tests, identifier_tests,	 context_tests,
		TAP_GROUP(end_each), result_tests,
	};

	expect_equal(exinf, 'm');
	tap_run("conformance", groups, sizeof(groups) / sizeof(groups[0]));
	slp_tsk();
}
