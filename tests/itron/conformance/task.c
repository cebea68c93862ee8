/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: task management.
 */
#include "suite.h"

static void test_activation(void)
{
	expect_equal(start(TSK_HIGH, trace_self), E_OK);
	expect(traced("h")); /* before the call returns */
	expect_equal(start(TSK_LOW, trace_self), E_OK);
	expect_equal(start(TSK_ONE, trace_self), E_OK);
	expect(traced("")); /* one of the same priority does not preempt */
	settle();
	expect(traced("1l"));
}

static void test_activation_requests(void)
{
	start(TSK_LOW, trace_self);
	for (UINT i = 0; i < TMAX_ACTCNT; i++)
		expect_equal(act_tsk(TSK_LOW), E_OK);
	expect_equal(act_tsk(TSK_LOW), E_QOVR);
	expect_equal(can_act(TSK_LOW), TMAX_ACTCNT);
	expect_equal(can_act(TSK_LOW), 0);
	expect_equal(act_tsk(TSK_LOW), E_OK);
	settle();
	expect(traced("ll"));
	expect_equal(can_act(TSK_LOW), 0); /* dormant */
}

static void activate_self(void)
{
	static bool again;

	trace_self();
	again = !again;
	if (again)
		expect_equal(act_tsk(TSK_SELF), E_OK);
	else
		expect_equal(can_act(TSK_SELF), 0);
}

static void activate_and_cancel(void)
{
	expect_equal(act_tsk(TSK_SELF), E_OK);
	expect_equal(can_act(TSK_SELF), 1);
	trace_self();
}

static void test_self_activation(void)
{
	start(TSK_HIGH, activate_self);
	expect(traced("hh"));
	start(TSK_HIGH, activate_and_cancel);
	expect(traced("h"));
}

#define CONTROL_DEFAULT 0x37fU
#define CONTROL_OTHER 0x27fU

/* Returns the x87's control word, and sets it to another value. */
static UH control_change(void)
{
	UH before = 0, other = CONTROL_OTHER;

	__asm__ volatile("fnstcw %0" : "=m"(before));
	__asm__ volatile("fldcw %0" : : "m"(other));
	return before;
}

static void activate_with_floating_point(void)
{
	static bool again;

	expect_equal(control_change(), CONTROL_DEFAULT);
	again = !again;
	if (again)
		expect_equal(act_tsk(TSK_SELF), E_OK);
}

/* Both where it goes on at once and where the other task ran between. */
static void test_floating_point_of_a_new_start(void)
{
	start(TSK_HIGH, activate_with_floating_point);
	start(TSK_HIGH, activate_with_floating_point);
}

static void activate_in_handler(void)
{
	ER result;

	expect_equal(iact_tsk(TSK_HIGH), E_OK);
	do
		result = iact_tsk(TSK_LOW);
	while (result == E_OK);
	expect_equal(result, E_QOVR);
	trace('x'); /* and the dispatch comes later */
}

static void test_handler_activation(void)
{
	start(TSK_LOW, trace_self);
	work_set(TSK_HIGH, trace_self);
	in_handler(activate_in_handler);
	expect(traced("xh"));
	expect_equal(can_act(TSK_LOW), TMAX_ACTCNT);
	expect_equal(ter_tsk(TSK_LOW), E_OK);
	in_interrupt(activate_in_handler);
	expect(traced("xh"));
	expect_equal(can_act(TSK_LOW), TMAX_ACTCNT);
	expect_equal(ter_tsk(TSK_LOW), E_OK);
}

static void end_by_call(void)
{
	trace_self();
	ext_tsk();
}

static void end_disabled(void)
{
	trace_self();
	dis_dsp();
	ext_tsk();
}

static void end_locked(void)
{
	trace_self();
	loc_cpu();
	ext_tsk();
}

static void test_end(void)
{
	start(TSK_HIGH, end_by_call);
	expect(traced("h"));
	start(TSK_HIGH, end_disabled);
	expect(traced("h") && !sns_dsp());
	start(TSK_HIGH, end_locked);
	expect(traced("h") && !sns_loc());
	expect_equal(dly_tsk(1), E_OK);
}

static bool restarted;

/* What an end undoes: priority, wake-ups. */
static void end_and_begin(void)
{
	PRI priority;

	get_pri(TSK_SELF, &priority);
	expect_equal(priority, HIGH_PRIORITY);
	expect_equal(can_wup(TSK_SELF), 0);
	expect(sns_tex());
	trace_self();
	if (restarted)
		return;
	restarted = true;
	chg_pri(TSK_SELF, HIGH_PRIORITY + 1);
	wup_tsk(TSK_SELF);
	ena_tex();
	act_tsk(TSK_SELF);
}

static void test_new_start(void)
{
	restarted = false;
	exception_work = NULL;
	start(TSK_HIGH, end_and_begin);
	expect(traced("hh"));
}

static void sleep_long(void)
{
	slp_tsk();
	trace('!');
}

static void test_termination(void)
{
	expect_equal(ter_tsk(TSK_MAIN), E_ILUSE);
	expect_equal(ter_tsk(TSK_HIGH), E_OBJ); /* dormant */
	start(TSK_LOW, trace_self);
	expect_equal(ter_tsk(TSK_LOW), E_OK); /* ready */
	start(TSK_LOW, trace_self);
	sus_tsk(TSK_LOW);
	expect_equal(ter_tsk(TSK_LOW), E_OK); /* suspended */
	start(TSK_HIGH, sleep_long);
	expect_equal(ter_tsk(TSK_HIGH), E_OK); /* waiting */
	start(TSK_HIGH, sleep_long);
	sus_tsk(TSK_HIGH);
	expect_equal(ter_tsk(TSK_HIGH), E_OK); /* both */
	expect_equal(ter_tsk(TSK_HIGH), E_OBJ);
	settle();
	expect(traced(""));
	start(TSK_HIGH, trace_self);
	expect(traced("h"));
}

static void test_termination_with_requests(void)
{
	PRI priority;

	start(TSK_LOW, trace_self);
	act_tsk(TSK_LOW);
	chg_pri(TSK_LOW, MAIN_PRIORITY + 1);
	expect_equal(ter_tsk(TSK_LOW), E_OK);
	expect_equal(get_pri(TSK_LOW, &priority), E_OK); /* is there anew */
	expect_equal(priority, LOW_PRIORITY);
	expect_equal(ter_tsk(TSK_LOW), E_OK);
	expect_equal(ter_tsk(TSK_LOW), E_OBJ);
}

static void test_priority_of_ready(void)
{
	start(TSK_ONE, trace_self);
	start(TSK_TWO, trace_self);
	expect_equal(chg_pri(TSK_ONE, MAIN_PRIORITY), E_OK); /* behind the other */
	settle();
	expect(traced("21"));
	start(TSK_ONE, trace_self);
	expect_equal(chg_pri(TSK_ONE, MAIN_PRIORITY - 1), E_OK);
	expect(traced("1"));
}

static void test_priority_of_running(void)
{
	PRI priority;

	start(TSK_ONE, trace_self);
	expect_equal(chg_pri(TSK_SELF, HIGH_PRIORITY), E_OK);
	expect_equal(get_pri(TSK_SELF, &priority), E_OK);
	expect_equal(priority, HIGH_PRIORITY);
	start(TSK_HIGH, trace_self);
	expect(traced(""));
	expect_equal(chg_pri(TSK_MAIN, HIGH_PRIORITY), E_OK); /* the same, but behind HIGH */
	expect(traced("h"));
	expect_equal(chg_pri(TSK_SELF, TPRI_INI), E_OK);
	expect(traced("1"));
	expect_equal(get_pri(TSK_MAIN, &priority), E_OK);
	expect_equal(priority, MAIN_PRIORITY);
	start(TSK_LOW, trace_self);
	expect_equal(chg_pri(TSK_SELF, LOW_PRIORITY + 1), E_OK);
	expect(traced("l"));
	expect_equal(chg_pri(TSK_SELF, TMIN_TPRI), E_OK);
	expect_equal(chg_pri(TSK_SELF, TPRI_INI), E_OK);
}

static void test_priority_errors(void)
{
	PRI priority;

	expect_equal(chg_pri(TSK_SELF, TMAX_TPRI + 1), E_PAR);
	expect_equal(chg_pri(TSK_SELF, -1), E_PAR);
	expect_equal(chg_pri(TSK_ONE, TMAX_TPRI), E_OBJ);
	expect_equal(get_pri(TSK_ONE, &priority), E_OBJ);
	dis_dsp();
	expect_equal(chg_pri(TSK_SELF, TMAX_TPRI), E_OK);
	expect_equal(get_pri(TSK_SELF, &priority), E_OK);
	expect_equal(priority, TMAX_TPRI);
	expect_equal(chg_pri(TSK_SELF, TPRI_INI), E_OK);
	ena_dsp();
}

static const struct tap_test tests[] = {
	{ "act_tsk: by priority", test_activation },
	{ "act_tsk, can_act: requests are counted", test_activation_requests },
	{ "act_tsk, can_act: TSK_SELF", test_self_activation },
	{ "act_tsk: floating point begins anew", test_floating_point_of_a_new_start },
	{ "iact_tsk: from both kinds of handlers", test_handler_activation },
	{ "ext_tsk: with dispatching disabled and the CPU locked", test_end },
	{ "ext_tsk: a task that was asked for starts anew", test_new_start },
	{ "ter_tsk: in every state", test_termination },
	{ "ter_tsk: a task that was asked for starts anew", test_termination_with_requests },
	{ "chg_pri: of ready tasks", test_priority_of_ready },
	{ "chg_pri, get_pri: of the running task", test_priority_of_running },
	{ "chg_pri, get_pri: errors, and dispatching disabled", test_priority_errors },
};

const struct tap_group task_tests = TAP_GROUP(tests);
