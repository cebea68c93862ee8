/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: what all calls that wait have in common: time-outs, polling, waiting for ever, forced
 * release, suspension and termination while they wait. For each call with a time-out and the one
 * without.
 */
#include "suite.h"

/* In place of a time-out: by the call that has none. */
#define UNTIMED (-100)

static FLGPTN pattern;
static VP_INT data;
static T_MSG *message;

static ER sleep_for(TMO timeout)
{
	return timeout == UNTIMED ? slp_tsk() : tslp_tsk(timeout);
}

static ER semaphore_for(TMO timeout)
{
	return timeout == UNTIMED ? wai_sem(SEM_PRIORITY) : twai_sem(SEM_PRIORITY, timeout);
}

static ER flag_for(TMO timeout)
{
	return timeout == UNTIMED ? wai_flg(FLG_CLEAR, 1, TWF_ANDW, &pattern) :
				     twai_flg(FLG_CLEAR, 1, TWF_ANDW, &pattern, timeout);
}

static ER send_for(TMO timeout)
{
	return timeout == UNTIMED ? snd_dtq(DTQ_FIFO, NULL) : tsnd_dtq(DTQ_FIFO, NULL, timeout);
}

static ER receive_for(TMO timeout)
{
	return timeout == UNTIMED ? rcv_dtq(DTQ_TWO, &data) : trcv_dtq(DTQ_TWO, &data, timeout);
}

static ER fetch_for(TMO timeout)
{
	return timeout == UNTIMED ? rcv_mbx(MBX_PRIORITY, &message) :
				     trcv_mbx(MBX_PRIORITY, &message, timeout);
}

/* The pool is empty while it is tested. */
static ER block_for(TMO timeout)
{
	return timeout == UNTIMED ? get_mpf(MPF_PRIORITY, &data) :
				     tget_mpf(MPF_PRIORITY, &data, timeout);
}

static ER (*wait_for)(TMO timeout);
static TMO helper_timeout;
static ER result;

static void wait_once(void)
{
	result = wait_for(helper_timeout);
	trace_self();
}

static void wait_start(TMO timeout)
{
	helper_timeout = timeout;
	start(TSK_HIGH, wait_once);
	expect(traced(""));
}

static void check_timeouts(void)
{
	SYSTIM before;

	settle();
	before = now();
	expect_equal(wait_for(5), E_TMOUT);
	expect_equal(now(), before + 6); /* at least what was asked for */
	expect_equal(wait_for(1), E_TMOUT);
	expect_equal(now(), before + 8);
	expect_equal(wait_for(TMO_POL), E_TMOUT);
	expect_equal(now(), before + 8);
	expect_equal(wait_for(TMO_FEVR - 1), E_PAR);
	expect_equal(wait_for((TMO)0x80000000), E_PAR);
	/* The one that is due first is the first, whoever waited first. */
	wait_start(3);
	expect_equal(dly_tsk(2), E_OK);
	expect(traced(""));
	expect_equal(dly_tsk(0), E_OK);
	expect(traced("h"));
	expect_equal(result, E_TMOUT);
}

static void check_disabled(void)
{
	dis_dsp();
	expect_equal(wait_for(TMO_POL), E_TMOUT);
	expect_equal(wait_for(UNTIMED), E_CTX);
	expect_equal(wait_for(TMO_FEVR), E_CTX);
	expect_equal(wait_for(1), E_CTX);
	expect_equal(wait_for(TMO_FEVR - 1), E_PAR); /* comes before E_CTX */
	ena_dsp();
}

static void release(void)
{
	expect_equal(irel_wai(TSK_HIGH), E_OK);
}

static void check_release(void)
{
	wait_start(UNTIMED);
	dly_tsk(20);
	expect(traced(""));
	expect_equal(rel_wai(TSK_HIGH), E_OK);
	expect(traced("h"));
	expect_equal(result, E_RLWAI);
	wait_start(TMO_FEVR);
	dly_tsk(20);
	expect(traced(""));
	expect_equal(rel_wai(TSK_HIGH), E_OK);
	expect(traced("h"));
	expect_equal(result, E_RLWAI);
	wait_start(0x7fffffff);
	in_handler(release);
	expect(traced("h"));
	expect_equal(result, E_RLWAI);
	wait_start(20);
	in_interrupt(release);
	expect(traced("h"));
	expect_equal(result, E_RLWAI);
	dly_tsk(30); /* the time-out has ended, too */
	expect(traced(""));
}

/* The time goes on, and so can the wait be ended, but the task cannot run. */
static void check_suspended(void)
{
	wait_start(3);
	expect_equal(sus_tsk(TSK_HIGH), E_OK);
	dly_tsk(5);
	expect(traced(""));
	expect_equal(rel_wai(TSK_HIGH), E_OBJ); /* suspended only */
	expect_equal(rsm_tsk(TSK_HIGH), E_OK);
	expect(traced("h"));
	expect_equal(result, E_TMOUT);
	wait_start(TMO_FEVR);
	expect_equal(sus_tsk(TSK_HIGH), E_OK);
	expect_equal(rel_wai(TSK_HIGH), E_OK);
	expect(traced(""));
	expect_equal(rsm_tsk(TSK_HIGH), E_OK);
	expect(traced("h"));
	expect_equal(result, E_RLWAI);
}

static void check_terminated(void)
{
	wait_start(3);
	expect_equal(ter_tsk(TSK_HIGH), E_OK);
	dly_tsk(5);
	expect(traced(""));
	expect_equal(wait_for(TMO_POL), E_TMOUT); /* nothing was given to it */
}

static void wait_test(ER (*wait)(TMO timeout))
{
	wait_for = wait;
	check_timeouts();
	check_disabled();
	check_release();
	check_suspended();
	check_terminated();
}

static void test_sleep(void)
{
	wait_test(sleep_for);
}

static void test_semaphore(void)
{
	wait_test(semaphore_for);
}

static void test_flag(void)
{
	wait_test(flag_for);
}

static void test_send(void)
{
	wait_test(send_for);
}

static void test_receive(void)
{
	wait_test(receive_for);
}

static void test_fetch(void)
{
	wait_test(fetch_for);
}

static void test_block(void)
{
	VP block;

	expect_equal(pget_mpf(MPF_PRIORITY, &block), E_OK);
	wait_test(block_for);
	expect_equal(rel_mpf(MPF_PRIORITY, block), E_OK);
}

/* Who waits with the same time-out goes on in the order of the beginning. */
static void wait_equally(void)
{
	tslp_tsk(4);
	trace_self();
}

static void test_order(void)
{
	settle();
	start(TSK_HIGH, wait_equally);
	start(TSK_ONE, wait_equally);
	start(TSK_TWO, wait_equally);
	chg_pri(TSK_TWO, MAIN_PRIORITY - 1); /* waits now, before ONE does */
	chg_pri(TSK_TWO, MAIN_PRIORITY);
	dly_tsk(5);
	settle();
	expect(traced("h21"));
}

static const struct tap_test tests[] = {
	{ "slp_tsk, tslp_tsk: time-outs, release, suspension", test_sleep },
	{ "wai_sem, twai_sem: time-outs, release, suspension", test_semaphore },
	{ "wai_flg, twai_flg: time-outs, release, suspension", test_flag },
	{ "snd_dtq, tsnd_dtq: time-outs, release, suspension", test_send },
	{ "rcv_dtq, trcv_dtq: time-outs, release, suspension", test_receive },
	{ "rcv_mbx, trcv_mbx: time-outs, release, suspension", test_fetch },
	{ "get_mpf, tget_mpf: time-outs, release, suspension", test_block },
	{ "tslp_tsk: the order of equal time-outs", test_order },
};

const struct tap_group wait_tests = TAP_GROUP(tests);
