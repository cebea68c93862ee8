/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: sleeping and waking up, suspension, forced release, delays. What sleeping has in common
 * with other waits is in wait.c.
 */
#include "suite.h"

static ER result;

static void sleep_once(void)
{
	result = slp_tsk();
	trace_self();
}

static void delay_long(void)
{
	result = dly_tsk(1000);
	trace_self();
}

static void test_wake_up(void)
{
	start(TSK_HIGH, sleep_once);
	expect(traced(""));
	expect_equal(wup_tsk(TSK_HIGH), E_OK);
	expect(traced("h"));
	expect_equal(result, E_OK);
	expect_equal(wup_tsk(TSK_HIGH), E_OBJ); /* dormant */
	expect_equal(can_wup(TSK_HIGH), E_OBJ);
}

static void test_wake_ups_counted(void)
{
	expect_equal(wup_tsk(TSK_SELF), E_OK);
	expect_equal(wup_tsk(TSK_MAIN), E_OK);
	expect_equal(slp_tsk(), E_OK);
	expect_equal(tslp_tsk(TMO_POL), E_OK);
	expect_equal(tslp_tsk(TMO_POL), E_TMOUT);
	for (UINT i = 0; i < TMAX_WUPCNT; i++)
		expect_equal(wup_tsk(TSK_SELF), E_OK);
	expect_equal(wup_tsk(TSK_SELF), E_QOVR);
	expect_equal(can_wup(TSK_SELF), TMAX_WUPCNT);
	expect_equal(can_wup(TSK_SELF), 0);
}

static void wake_up_in_handler(void)
{
	ER last;

	expect_equal(iwup_tsk(TSK_HIGH), E_OK);
	expect_equal(iwup_tsk(TSK_ONE), E_OBJ);
	do
		last = iwup_tsk(TSK_MAIN);
	while (last == E_OK);
	expect_equal(last, E_QOVR);
	expect(traced(""));
}

static void test_handler_wake_up(void)
{
	start(TSK_HIGH, sleep_once);
	in_handler(wake_up_in_handler);
	expect(traced("h"));
	expect_equal(can_wup(TSK_SELF), TMAX_WUPCNT);
	start(TSK_HIGH, sleep_once);
	in_interrupt(wake_up_in_handler);
	expect(traced("h"));
	expect_equal(can_wup(TSK_SELF), TMAX_WUPCNT);
}

/* A wake-up ends no other wait: it is counted. */
static void sleep_after_delay(void)
{
	expect_equal(dly_tsk(1), E_OK);
	result = slp_tsk();
	trace_self();
}

static void test_wake_up_of_delayed(void)
{
	start(TSK_HIGH, sleep_after_delay);
	expect_equal(wup_tsk(TSK_HIGH), E_OK);
	expect(traced(""));
	dly_tsk(3);
	expect(traced("h"));
	expect_equal(result, E_OK);
}

static void test_release_errors(void)
{
	expect_equal(rel_wai(TSK_HIGH), E_OBJ); /* dormant */
	expect_equal(rel_wai(TSK_MAIN), E_OBJ); /* running */
	start(TSK_LOW, trace_self);
	expect_equal(rel_wai(TSK_LOW), E_OBJ); /* ready */
	sus_tsk(TSK_LOW);
	expect_equal(rel_wai(TSK_LOW), E_OBJ); /* suspended */
	expect_equal(ter_tsk(TSK_LOW), E_OK);
}

static void release_errors_in_handler(void)
{
	expect_equal(irel_wai(TSK_HIGH), E_OBJ);
	expect_equal(irel_wai(TSK_MAIN), E_OBJ);
}

static void test_handler_release_errors(void)
{
	in_handler(release_errors_in_handler);
	in_interrupt(release_errors_in_handler);
}

static void test_suspension(void)
{
	expect_equal(sus_tsk(TSK_HIGH), E_OBJ);
	expect_equal(rsm_tsk(TSK_HIGH), E_OBJ);
	expect_equal(frsm_tsk(TSK_HIGH), E_OBJ);
	start(TSK_LOW, trace_self);
	expect_equal(rsm_tsk(TSK_LOW), E_OBJ); /* ready, not suspended */
	for (UINT i = 0; i < TMAX_SUSCNT; i++)
		expect_equal(sus_tsk(TSK_LOW), E_OK);
	expect_equal(sus_tsk(TSK_LOW), E_QOVR);
	expect_equal(rsm_tsk(TSK_LOW), E_OK);
	settle();
	expect(traced(""));
	expect_equal(frsm_tsk(TSK_LOW), E_OK);
	expect_equal(frsm_tsk(TSK_LOW), E_OBJ);
	settle();
	expect(traced("l"));
}

static void suspend_self(void)
{
	trace('s');
	result = sus_tsk(TSK_SELF);
	trace_self();
}

static void test_self_suspension(void)
{
	start(TSK_HIGH, suspend_self);
	expect(traced("s"));
	expect_equal(rsm_tsk(TSK_HIGH), E_OK);
	expect(traced("h"));
	expect_equal(result, E_OK);
}

/* Waiting and suspended: each ends by itself. */
static void test_suspension_of_waiting(void)
{
	start(TSK_HIGH, sleep_once);
	expect_equal(sus_tsk(TSK_HIGH), E_OK);
	expect_equal(wup_tsk(TSK_HIGH), E_OK);
	expect(traced(""));
	expect_equal(rsm_tsk(TSK_HIGH), E_OK);
	expect(traced("h"));
	start(TSK_HIGH, sleep_once);
	expect_equal(sus_tsk(TSK_HIGH), E_OK);
	expect_equal(frsm_tsk(TSK_HIGH), E_OK);
	expect(traced(""));
	expect_equal(rel_wai(TSK_HIGH), E_OK);
	expect(traced("h"));
	expect_equal(result, E_RLWAI);
}

/* One that goes on is the last of its priority. */
static void test_order_after_suspension(void)
{
	start(TSK_ONE, trace_self);
	start(TSK_TWO, trace_self);
	sus_tsk(TSK_ONE);
	rsm_tsk(TSK_ONE);
	settle();
	expect(traced("21"));
}

static void test_suspension_disabled(void)
{
	start(TSK_LOW, trace_self);
	dis_dsp();
	expect_equal(sus_tsk(TSK_SELF), E_CTX);
	expect_equal(sus_tsk(TSK_MAIN), E_CTX);
	expect_equal(sus_tsk(TSK_LOW), E_OK);
	expect_equal(rsm_tsk(TSK_LOW), E_OK);
	ena_dsp();
	settle();
	expect(traced("l"));
}

static void test_delay(void)
{
	SYSTIM before;

	settle();
	before = now();
	expect_equal(dly_tsk(0), E_OK);
	expect_equal(now(), before + 1);
	expect_equal(dly_tsk(7), E_OK);
	expect_equal(now(), before + 9);
	expect_equal(dly_tsk(TMAX_RELTIM + 1), E_PAR);
	start(TSK_HIGH, delay_long);
	expect_equal(wup_tsk(TSK_HIGH), E_OK);
	expect(traced(""));
	expect_equal(rel_wai(TSK_HIGH), E_OK);
	expect(traced("h"));
	expect_equal(result, E_RLWAI);
}

static void delay_longest(void)
{
	result = dly_tsk(TMAX_RELTIM);
	trace_self();
}

static void test_longest_delay(void)
{
	start(TSK_HIGH, delay_longest);
	dly_tsk(20);
	expect(traced(""));
	expect_equal(rel_wai(TSK_HIGH), E_OK);
	expect(traced("h"));
}

static const struct tap_test tests[] = {
	{ "wup_tsk: ends sleeping", test_wake_up },
	{ "wup_tsk, can_wup: requests are counted", test_wake_ups_counted },
	{ "iwup_tsk: from both kinds of handlers", test_handler_wake_up },
	{ "wup_tsk: is counted while the task is delayed", test_wake_up_of_delayed },
	{ "rel_wai: errors", test_release_errors },
	{ "irel_wai: errors", test_handler_release_errors },
	{ "sus_tsk, rsm_tsk, frsm_tsk: suspensions nest", test_suspension },
	{ "sus_tsk: TSK_SELF", test_self_suspension },
	{ "sus_tsk: of waiting tasks", test_suspension_of_waiting },
	{ "rsm_tsk: the task goes behind its equals", test_order_after_suspension },
	{ "sus_tsk: with dispatching disabled", test_suspension_disabled },
	{ "dly_tsk: times, errors", test_delay },
	{ "dly_tsk: the longest time", test_longest_delay },
};

const struct tap_group synchronization_tests = TAP_GROUP(tests);
