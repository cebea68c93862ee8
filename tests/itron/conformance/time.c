/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: the system time and cyclic handlers. Time-outs are in wait.c.
 */
#include "suite.h"

/* With TA_STA: cyctim and cycphs, and the first call when cycphs has passed as a time-out does. */
#define STARTED_PERIOD 7
#define STARTED_FIRST 6
#define PHASE_PERIOD 10
#define PHASE_FIRST 5

static volatile UINT counted, phases, started;

void cyclic_count_up(VP_INT exinf)
{
	expect_equal(exinf, 3);
	expect(sns_ctx() && !sns_loc());
	counted++;
}

void cyclic_phase(VP_INT exinf)
{
	(void)exinf;
	phases++;
	iloc_cpu(); /* which ends with the handler */
}

void cyclic_started(VP_INT exinf)
{
	(void)exinf;
	expect(!sns_loc());
	started++;
}

/* Before anything changes the system time. */
static void test_started(void)
{
	settle();
	expect_equal(started, (now() - STARTED_FIRST) / STARTED_PERIOD + 1);
	expect_equal(phases, (now() - PHASE_FIRST) / PHASE_PERIOD + 1);
	dly_tsk(69);
	expect_equal(started, (now() - STARTED_FIRST) / STARTED_PERIOD + 1);
	expect_equal(phases, (now() - PHASE_FIRST) / PHASE_PERIOD + 1);
	expect_equal(stp_cyc(CYC_STARTED), E_OK);
	expect_equal(stp_cyc(CYC_STARTED), E_OK);
	started = 0;
	dly_tsk(20);
	expect_equal(started, 0);
}

static void test_system_time(void)
{
	SYSTIM time = 0xfffffff0, before = now(), after;

	settle();
	before = now();
	expect_equal(set_tim(&time), E_OK);
	expect_equal(get_tim(&after), E_OK);
	expect_equal(after, time);
	expect_equal(dly_tsk(30), E_OK); /* whatever the system time does */
	expect_equal(get_tim(&after), E_OK);
	expect_equal(after, 15); /* it wraps */
	before += 31;
	expect_equal(set_tim(&before), E_OK);
	expect_equal(now(), before);
}

static ER result;

static void sleep_for_100(void)
{
	result = tslp_tsk(100);
	trace_self();
}

static void tick_100(void)
{
	for (UINT i = 0; i < 100; i++)
		expect_equal(isig_tim(), E_OK);
	trace('x');
}

static void tick(void)
{
	expect_equal(isig_tim(), E_OK);
	trace('x');
}

/* A tick more than the timer's. */
static void test_signal(void)
{
	SYSTIM before;

	settle();
	before = now();
	start(TSK_HIGH, sleep_for_100);
	in_interrupt(tick_100);
	expect_equal(now(), before + 100);
	expect(traced("x"));
	in_interrupt(tick);
	expect(traced("xh"));
	expect_equal(result, E_TMOUT);
}

static void test_cyclic(void)
{
	UINT count;

	settle();
	counted = 0;
	expect_equal(sta_cyc(CYC_THREE), E_OK);
	expect_equal(dly_tsk(2), E_OK);
	expect_equal(counted, 0); /* 3 ticks have gone, it waits for the 4th */
	dly_tsk(9);
	count = counted;
	expect_equal(count, 4); /* in the 4th, 7th, 10th and 13th */
	expect_equal(stp_cyc(CYC_THREE), E_OK);
	dly_tsk(9);
	expect_equal(counted, count);
	expect_equal(sta_cyc(CYC_THREE), E_OK);
	expect_equal(dly_tsk(1), E_OK);
	expect_equal(sta_cyc(CYC_THREE), E_OK); /* begins anew */
	expect_equal(dly_tsk(1), E_OK);
	expect_equal(counted, count);
	expect_equal(dly_tsk(1), E_OK);
	expect_equal(counted, count + 1);
	expect_equal(stp_cyc(CYC_THREE), E_OK);
}

/* With TA_PHS the phase stays, however often it is started and stopped. */
static void test_phase(void)
{
	SYSTIM before;
	UINT count;

	for (count = phases; phases == count;)
		dly_tsk(0);
	before = now();
	expect_equal(stp_cyc(CYC_PHASE), E_OK);
	expect_equal(dly_tsk(25), E_OK);
	expect_equal(phases, count + 1);
	expect_equal(sta_cyc(CYC_PHASE), E_OK);
	expect_equal(sta_cyc(CYC_PHASE), E_OK);
	while (phases == count + 1)
		dly_tsk(0);
	expect_equal(now(), before + 30);
	expect_equal(stp_cyc(CYC_PHASE), E_OK);
}

static void test_disabled(void)
{
	SYSTIM time = now();

	dis_dsp();
	counted = 0;
	expect_equal(set_tim(&time), E_OK);
	expect_equal(get_tim(&time), E_OK);
	expect_equal(sta_cyc(CYC_THREE), E_OK);
	while (!counted) /* handlers are called */
		__asm__ volatile("pause");
	expect_equal(stp_cyc(CYC_THREE), E_OK);
	ena_dsp();
}

static const struct tap_test tests[] = {
	{ "CRE_CYC: TA_STA, cycphs", test_started },
	{ "set_tim, get_tim: the system time wraps, waits do not", test_system_time },
	{ "isig_tim: a tick", test_signal },
	{ "sta_cyc, stp_cyc: periods", test_cyclic },
	{ "sta_cyc, stp_cyc: TA_PHS", test_phase },
	{ "set_tim, get_tim, sta_cyc, stp_cyc: with dispatching disabled", test_disabled },
};

const struct tap_group time_tests = TAP_GROUP(tests);
