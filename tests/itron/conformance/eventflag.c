/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: event flags, their patterns and attributes. Waiting is in wait.c, the order of it in
 * queue.c.
 */
#include "suite.h"

static ID object;
static FLGPTN wanted[TNUM_TSKID + 1], got[TNUM_TSKID + 1];
static MODE modes[TNUM_TSKID + 1];

static void take(void)
{
	ID id = self();

	expect_equal(wai_flg(object, wanted[id], modes[id], &got[id]), E_OK);
	trace_self();
}

static void wait_start(ID task, FLGPTN pattern, MODE mode)
{
	wanted[task] = pattern;
	modes[task] = mode;
	got[task] = 0;
	start(task, take);
	settle();
	expect(traced(""));
}

static void test_modes(void)
{
	FLGPTN pattern = 0;

	expect_equal(pol_flg(FLG_ONE, 3, TWF_ANDW, &pattern), E_TMOUT);
	expect_equal(pol_flg(FLG_ONE, 3, TWF_ORW, &pattern), E_OK);
	expect_equal(pattern, 1);
	expect_equal(set_flg(FLG_ONE, 6), E_OK);
	expect_equal(wai_flg(FLG_ONE, 5, TWF_ANDW, &pattern), E_OK);
	expect_equal(pattern, 7);
	expect_equal(clr_flg(FLG_ONE, ~3U), E_OK);
	expect_equal(twai_flg(FLG_ONE, 0xc, TWF_ORW, &pattern, 1), E_OK);
	expect_equal(pattern, 4); /* and it stays: there is no TA_CLR */
	expect_equal(pol_flg(FLG_ONE, 3, TWF_ORW, &pattern), E_TMOUT);
	expect_equal(set_flg(FLG_ONE, 0x80000000), E_OK);
	expect_equal(pol_flg(FLG_ONE, 0x80000004, TWF_ANDW, &pattern), E_OK);
	expect_equal(clr_flg(FLG_ONE, 0), E_OK);
	expect_equal(pol_flg(FLG_ONE, ~0U, TWF_ORW, &pattern), E_TMOUT);
}

static void test_errors(void)
{
	FLGPTN pattern;

	expect_equal(wai_flg(FLG_ONE, 0, TWF_ORW, &pattern), E_PAR);
	expect_equal(pol_flg(FLG_ONE, 0, TWF_ORW, &pattern), E_PAR);
	expect_equal(twai_flg(FLG_ONE, 0, TWF_ORW, &pattern, 1), E_PAR);
	expect_equal(wai_flg(FLG_ONE, 1, 2, &pattern), E_PAR);
	expect_equal(pol_flg(FLG_ONE, 1, 2, &pattern), E_PAR);
	expect_equal(twai_flg(FLG_ONE, 1, ~0U, &pattern, 1), E_PAR);
}

/* A second task is not let in, even if what it wants is there. */
static void test_single(void)
{
	FLGPTN pattern;

	object = FLG_ONE;
	set_flg(FLG_ONE, 1);
	wait_start(TSK_HIGH, 0x30, TWF_ANDW);
	expect_equal(wai_flg(FLG_ONE, 1, TWF_ORW, &pattern), E_ILUSE);
	expect_equal(pol_flg(FLG_ONE, 1, TWF_ORW, &pattern), E_ILUSE);
	expect_equal(twai_flg(FLG_ONE, 2, TWF_ORW, &pattern, 1), E_ILUSE);
	expect_equal(set_flg(FLG_ONE, 0x10), E_OK);
	expect(traced(""));
	expect_equal(set_flg(FLG_ONE, 0x20), E_OK);
	expect(traced("h"));
	expect_equal(got[TSK_HIGH], 0x31);
	clr_flg(FLG_ONE, 0);
}

/* All whose condition holds, by priority here. */
static void test_several(void)
{
	object = FLG_MANY;
	wait_start(TSK_LOW, 1, TWF_ORW);
	wait_start(TSK_HIGH, 3, TWF_ANDW);
	wait_start(TSK_ONE, 2, TWF_ORW);
	wait_start(TSK_TWO, 4, TWF_ORW);
	expect_equal(set_flg(FLG_MANY, 1), E_OK);
	settle();
	expect(traced("l"));
	expect_equal(got[TSK_LOW], 1);
	expect_equal(set_flg(FLG_MANY, 2), E_OK);
	expect(traced("h")); /* and ONE is ready */
	settle();
	expect(traced("1"));
	expect_equal(got[TSK_HIGH], 3);
	expect_equal(got[TSK_ONE], 3);
	expect_equal(set_flg(FLG_MANY, 0xc), E_OK);
	settle();
	expect(traced("2"));
	expect_equal(got[TSK_TWO], 0xf);
	clr_flg(FLG_MANY, 0);
}

/* TA_CLR: the first that is released takes all bits, also those that it did not wait for. */
static void test_clear(void)
{
	FLGPTN pattern;

	expect_equal(pol_flg(FLG_CLEAR, 0x10, TWF_ORW, &pattern), E_OK);
	expect_equal(pattern, 0xf0); /* iflgptn */
	expect_equal(pol_flg(FLG_CLEAR, 0x20, TWF_ORW, &pattern), E_TMOUT);
	object = FLG_FIFO;
	wait_start(TSK_LOW, 1, TWF_ORW);
	wait_start(TSK_TWO, 8, TWF_ORW);
	wait_start(TSK_HIGH, 1, TWF_ORW);
	expect_equal(set_flg(FLG_FIFO, 3), E_OK);
	expect(traced(""));
	expect_equal(pol_flg(FLG_FIFO, 2, TWF_ORW, &pattern), E_TMOUT);
	settle();
	expect(traced("l"));
	expect_equal(got[TSK_LOW], 3);
	expect_equal(set_flg(FLG_FIFO, 5), E_OK);
	expect(traced("h"));
	expect_equal(got[TSK_HIGH], 5);
	expect_equal(set_flg(FLG_FIFO, 0x18), E_OK);
	settle();
	expect(traced("2"));
	expect_equal(got[TSK_TWO], 0x18);
}

static void set_in_handler(void)
{
	expect_equal(iset_flg(FLG_MANY, 0x100), E_OK);
	expect(traced(""));
}

static void test_in_handlers(void)
{
	FLGPTN pattern;

	object = FLG_MANY;
	wait_start(TSK_HIGH, 0x100, TWF_ANDW);
	in_handler(set_in_handler);
	expect(traced("h"));
	expect_equal(got[TSK_HIGH], 0x100);
	clr_flg(FLG_MANY, 0);
	in_interrupt(set_in_handler);
	expect_equal(pol_flg(FLG_MANY, 0x100, TWF_ORW, &pattern), E_OK);
	clr_flg(FLG_MANY, 0);
}

static void test_disabled(void)
{
	FLGPTN pattern;

	object = FLG_MANY;
	wait_start(TSK_HIGH, 1, TWF_ORW);
	dis_dsp();
	expect_equal(set_flg(FLG_MANY, 3), E_OK);
	expect_equal(pol_flg(FLG_MANY, 2, TWF_ORW, &pattern), E_OK);
	expect_equal(clr_flg(FLG_MANY, 0), E_OK);
	expect(traced(""));
	ena_dsp();
	expect(traced("h"));
	expect_equal(got[TSK_HIGH], 3); /* when it was released */
}

static const struct tap_test tests[] = {
	{ "set_flg, clr_flg, wai_flg, twai_flg, pol_flg: patterns, modes", test_modes },
	{ "wai_flg, twai_flg, pol_flg: errors", test_errors },
	{ "wai_flg, twai_flg, pol_flg: TA_WSGL", test_single },
	{ "set_flg: several tasks", test_several },
	{ "set_flg, pol_flg: TA_CLR", test_clear },
	{ "iset_flg: from both kinds of handlers", test_in_handlers },
	{ "set_flg, pol_flg, clr_flg: with dispatching disabled", test_disabled },
};

const struct tap_group eventflag_tests = TAP_GROUP(tests);
