/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: task exceptions.
 */
#include "suite.h"

void (*exception_work)(TEXPTN pattern);

static TEXPTN seen;
static ER result;

void main_exception(TEXPTN pattern, VP_INT exinf)
{
	if (exception_work) /* first of all: a service call is a chance to dispatch */
		exception_work(pattern);
	if (!sns_loc())
		expect_equal(exinf, self_letter());
}

static void note(TEXPTN pattern)
{
	seen = pattern;
	trace('e');
	expect(sns_tex() && !sns_ctx() && !sns_loc());
}

static void test_request(void)
{
	exception_work = note;
	expect(sns_tex());
	expect_equal(ras_tex(TSK_SELF, 1), E_OK); /* disabled: kept */
	expect_equal(ras_tex(TSK_MAIN, 4), E_OK);
	expect(traced(""));
	expect_equal(ena_tex(), E_OK);
	expect(traced("e"));
	expect_equal(seen, 5);
	expect(!sns_tex());
	expect_equal(ras_tex(TSK_SELF, 0x80000000), E_OK); /* enabled: at once */
	expect(traced("e"));
	expect_equal(seen, 0x80000000);
	expect_equal(dis_tex(), E_OK);
	expect(sns_tex());
}

static void test_request_errors(void)
{
	expect_equal(ras_tex(TSK_SELF, 0), E_PAR);
	expect_equal(ras_tex(TSK_LOW, 1), E_OBJ); /* dormant */
	start(TSK_ONE, trace_self);
	expect_equal(ras_tex(TSK_ONE, 1), E_OBJ); /* has no routine */
	settle();
	expect(traced("1"));
}

static void enable_without_routine(void)
{
	expect_equal(ena_tex(), E_OBJ);
	expect_equal(dis_tex(), E_OBJ);
	expect_equal(ras_tex(TSK_SELF, 1), E_OBJ);
	expect(sns_tex());
	trace_self();
}

static void test_no_routine(void)
{
	start(TSK_ONE, enable_without_routine);
	settle();
	expect(traced("1"));
}

static void ask_again(TEXPTN pattern)
{
	note(pattern);
	if (pattern == 0x10) {
		expect_equal(ras_tex(TSK_SELF, 0x20), E_OK);
		trace('f'); /* the other comes after this one */
	}
}

static void nest(TEXPTN pattern)
{
	note(pattern);
	if (pattern == 0x10) {
		expect_equal(ras_tex(TSK_SELF, 0x20), E_OK);
		expect_equal(ena_tex(), E_OK); /* now */
		expect(!sns_tex());
		trace('f');
	}
}

static void test_nested(void)
{
	exception_work = ask_again;
	ena_tex();
	expect_equal(ras_tex(TSK_SELF, 0x10), E_OK);
	expect(traced("efe") && !sns_tex());
	exception_work = nest;
	expect_equal(ras_tex(TSK_SELF, 0x10), E_OK);
	expect(traced("eef") && !sns_tex());
	dis_tex();
}

static void request_in_handler(void)
{
	expect_equal(iras_tex(TSK_MAIN, 0x40), E_OK);
	expect_equal(iras_tex(TSK_HIGH, 1), E_OBJ); /* dormant */
	expect_equal(iras_tex(TSK_MAIN, 0), E_PAR);
	expect(!sns_tex()); /* of the task that was interrupted */
	trace('x');
}

static void test_handler_request(void)
{
	exception_work = note;
	ena_tex();
	in_handler(request_in_handler);
	expect(traced("xe"));
	in_interrupt(request_in_handler);
	expect(traced("xe"));
	in_exception(request_in_handler);
	expect(traced("xe"));
	expect_equal(seen, 0x40);
	dis_tex();
}

static void enabled_sleep(void)
{
	expect(sns_tex()); /* disabled when a task begins */
	expect_equal(ena_tex(), E_OK);
	result = slp_tsk();
	trace_self();
}

/* The wait does not end, and the routine runs when the task does. */
static void test_waiting(void)
{
	exception_work = note;
	start(TSK_HIGH, enabled_sleep);
	expect_equal(ras_tex(TSK_HIGH, 8), E_OK);
	expect(traced(""));
	expect_equal(wup_tsk(TSK_HIGH), E_OK);
	expect(traced("eh"));
	expect_equal(seen, 8);
	expect_equal(result, E_OK);
	start(TSK_LOW, enabled_sleep);
	settle();
	expect_equal(ras_tex(TSK_LOW, 2), E_OK);
	expect_equal(rel_wai(TSK_LOW), E_OK);
	expect(traced(""));
	settle();
	expect(traced("el"));
	expect_equal(result, E_RLWAI);
}

static void end_in_routine(TEXPTN pattern)
{
	note(pattern);
	ext_tsk();
}

static void test_end_in_routine(void)
{
	exception_work = end_in_routine;
	start(TSK_HIGH, enabled_sleep);
	ras_tex(TSK_HIGH, 1);
	expect_equal(wup_tsk(TSK_HIGH), E_OK);
	expect(traced("e"));
	expect_equal(ter_tsk(TSK_HIGH), E_OBJ);
	/* Requests end with the task. */
	exception_work = note;
	start(TSK_LOW, trace_self);
	ras_tex(TSK_LOW, 1);
	expect_equal(ter_tsk(TSK_LOW), E_OK);
	start(TSK_LOW, enabled_sleep);
	settle();
	expect(traced(""));
	expect_equal(ter_tsk(TSK_LOW), E_OK);
}

static void activate_high(void)
{
	expect_equal(iact_tsk(TSK_HIGH), E_OK);
}

static volatile bool routine_ended;

/* And a CPU exception's handler wakes a task. */
static void lock_in_routine(TEXPTN pattern)
{
	note(pattern);
	loc_cpu();
	in_exception(activate_high);
	trace('f');
	routine_ended = true;
}

static void test_lock_in_routine(void)
{
	exception_work = lock_in_routine;
	work_set(TSK_HIGH, trace_self);
	ena_tex();
	expect_equal(ras_tex(TSK_SELF, 1), E_OK);
	expect(traced("efh") && !sns_loc());
	expect_equal(dly_tsk(1), E_OK);
	routine_ended = false;
	handler_begin(request_in_handler); /* and main goes on without a service call */
	while (!routine_ended)
		__asm__ volatile("pause");
	trace('m');
	handler_end();
	expect(traced("xefhm"));
	dis_tex();
}

static void test_disabled_dispatch(void)
{
	exception_work = note;
	dis_dsp();
	ena_tex();
	expect_equal(ras_tex(TSK_SELF, 1), E_OK);
	expect(traced("e") && sns_dsp());
	dis_tex();
	ena_dsp();
}

/* The routine comes between the end of a wait and the return of the call that has waited. */
static void wait_in_routine(TEXPTN pattern)
{
	FLGPTN flags;
	VP_INT data;

	note(pattern);
	expect_equal(twai_sem(SEM_FIFO, 1), E_TMOUT);
	expect_equal(twai_flg(FLG_MANY, 1, TWF_ORW, &flags, 1), E_TMOUT);
	expect_equal(tsnd_dtq(DTQ_FIFO, (VP_INT)99, 1), E_TMOUT);
	expect_equal(trcv_dtq(DTQ_FIFO, &data, 1), E_TMOUT);
	trace('f');
}

static VP_INT received;
static FLGPTN pattern_received;

static void receive(void)
{
	ena_tex();
	result = rcv_dtq(DTQ_PRIORITY, &received);
	trace_self();
	expect_equal(result, E_OK);
	result = wai_flg(FLG_FIFO, 6, TWF_ORW, &pattern_received);
	trace_self();
}

static void test_wait_in_routine(void)
{
	exception_work = wait_in_routine;
	start(TSK_HIGH, receive);
	ras_tex(TSK_HIGH, 1);
	expect_equal(snd_dtq(DTQ_PRIORITY, (VP_INT)42), E_OK);
	dly_tsk(20);
	expect(traced("efh"));
	expect_equal(received, 42);
	ras_tex(TSK_HIGH, 1);
	expect_equal(set_flg(FLG_FIFO, 4), E_OK);
	dly_tsk(20);
	expect(traced("efh"));
	expect_equal(result, E_OK);
	expect_equal(pattern_received, 4);
}

static void wake_and_request(void)
{
	activate_high();
	expect_equal(iras_tex(TSK_MAIN, 1), E_OK);
}

/* A CPU exception with the CPU locked: when it is unlocked, the more urgent task comes first. */
static void test_after_lock(void)
{
	exception_work = note;
	work_set(TSK_HIGH, trace_self);
	ena_tex();
	loc_cpu();
	in_exception(wake_and_request);
	expect(traced("") && sns_loc());
	unl_cpu();
	expect(traced("he"));
	dis_tex();
}

static const struct tap_test tests[] = {
	{ "ras_tex, ena_tex, dis_tex: requests are kept and delivered", test_request },
	{ "ras_tex: errors", test_request_errors },
	{ "ena_tex, dis_tex, sns_tex: a task without a routine", test_no_routine },
	{ "ras_tex, ena_tex: in the routine", test_nested },
	{ "iras_tex: from handlers", test_handler_request },
	{ "ras_tex: a waiting task", test_waiting },
	{ "ras_tex: the routine ends the task", test_end_in_routine },
	{ "ras_tex: the routine locks the CPU", test_lock_in_routine },
	{ "ras_tex: with dispatching disabled", test_disabled_dispatch },
	{ "ras_tex: the routine waits between a wait and its result", test_wait_in_routine },
	{ "iras_tex: after a dispatch that waits as well", test_after_lock },
};

const struct tap_group exception_tests = TAP_GROUP(tests);
