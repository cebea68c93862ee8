/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: semaphores, their count. Waiting is in wait.c, the order of it in queue.c.
 */
#include "suite.h"

static void test_count(void)
{
	expect_equal(pol_sem(SEM_TWO), E_OK);
	expect_equal(pol_sem(SEM_TWO), E_TMOUT);
	expect_equal(sig_sem(SEM_TWO), E_OK);
	expect_equal(sig_sem(SEM_TWO), E_OK);
	expect_equal(sig_sem(SEM_TWO), E_QOVR); /* maxsem */
	expect_equal(wai_sem(SEM_TWO), E_OK);
	expect_equal(twai_sem(SEM_TWO, 1), E_OK);
	expect_equal(twai_sem(SEM_TWO, TMO_POL), E_TMOUT);
	expect_equal(sig_sem(SEM_TWO), E_OK); /* as at the start */
}

static void take(void)
{
	expect_equal(wai_sem(SEM_FIFO), E_OK);
	trace_self();
}

/* What a waiting task gets is not counted. */
static void test_handing_over(void)
{
	start(TSK_HIGH, take);
	expect(traced(""));
	expect_equal(sig_sem(SEM_FIFO), E_OK);
	expect(traced("h"));
	expect_equal(pol_sem(SEM_FIFO), E_TMOUT);
}

static void signal_in_handler(void)
{
	expect_equal(isig_sem(SEM_FIFO), E_OK); /* to HIGH */
	expect_equal(isig_sem(SEM_FIFO), E_OK);
	expect_equal(isig_sem(SEM_FIFO), E_QOVR);
	expect(traced(""));
}

static void test_in_handlers(void)
{
	start(TSK_HIGH, take);
	in_handler(signal_in_handler);
	expect(traced("h"));
	expect_equal(pol_sem(SEM_FIFO), E_OK);
	start(TSK_HIGH, take);
	in_interrupt(signal_in_handler);
	expect(traced("h"));
	expect_equal(pol_sem(SEM_FIFO), E_OK);
}

static void test_disabled(void)
{
	start(TSK_HIGH, take);
	dis_dsp();
	expect_equal(sig_sem(SEM_FIFO), E_OK);
	expect(traced(""));
	expect_equal(sig_sem(SEM_FIFO), E_OK);
	expect_equal(pol_sem(SEM_FIFO), E_OK);
	expect_equal(twai_sem(SEM_FIFO, TMO_POL), E_TMOUT);
	expect_equal(wai_sem(SEM_TWO), E_CTX); /* also where it need not wait */
	ena_dsp();
	expect(traced("h"));
}

static const struct tap_test tests[] = {
	{ "sig_sem, wai_sem, twai_sem, pol_sem: the count", test_count },
	{ "sig_sem: to a waiting task", test_handing_over },
	{ "isig_sem: from both kinds of handlers", test_in_handlers },
	{ "sig_sem, pol_sem: with dispatching disabled", test_disabled },
};

const struct tap_group semaphore_tests = TAP_GROUP(tests);
