/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: the static API, what it has done when the first task runs.
 */
#include "suite.h"

void initialize(VP_INT exinf)
{
	expect(sns_ctx() && sns_dpn());
	trace((char)(INT)exinf);
	if ((INT)exinf == 'j')
		expect_equal(iact_tsk(TSK_SECOND), E_OK); /* once more than TA_ACT does */
}

/* Tasks with TA_ACT. */
void start_run(VP_INT exinf)
{
	trace((char)(INT)exinf);
}

/* This one first of all: routines in the file's order, then tasks by priority, then by ID. */
static void test_order(void)
{
	expect(traced("ijcabb"));
	expect_equal(now(), 0);
}

static void test_states(void)
{
	PRI priority;

	expect(!sns_ctx() && !sns_loc() && !sns_dsp() && !sns_dpn() && sns_tex());
	expect_equal(self(), TSK_MAIN);
	expect_equal(get_pri(TSK_MAIN, &priority), E_OK);
	expect_equal(priority, MAIN_PRIORITY);
	expect_equal(get_pri(TSK_HIGH, &priority), E_OBJ); /* no TA_ACT */
	expect_equal(get_pri(TSK_URGENT, &priority), E_OBJ); /* has returned */
}

static void test_objects(void)
{
	FLGPTN pattern;
	VP_INT data;
	T_MSG *message;

	expect_equal(pol_sem(SEM_TWO), E_OK); /* isemcnt is 1 */
	expect_equal(pol_sem(SEM_TWO), E_TMOUT);
	expect_equal(pol_sem(SEM_FIFO), E_TMOUT);
	expect_equal(pol_flg(FLG_ONE, 1, TWF_ANDW, &pattern), E_OK);
	expect_equal(pattern, 1); /* iflgptn */
	expect_equal(prcv_dtq(DTQ_TWO, &data), E_TMOUT);
	expect_equal(prcv_mbx(MBX_FIFO, &message), E_TMOUT);
	expect_equal(sig_sem(SEM_TWO), E_OK);
}

static const struct tap_test tests[] = {
	{ "ATT_INI and TA_ACT: the order of the start", test_order },
	{ "TA_ACT: the state in which tasks begin", test_states },
	{ "CRE_SEM, CRE_FLG, CRE_DTQ, CRE_MBX: initial values", test_objects },
};

const struct tap_group start_tests = TAP_GROUP(tests);
