/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: fixed-size memory pools, their blocks. Waiting is in wait.c, the order of it in queue.c.
 */
#include "suite.h"

#include <string.h>

#define BLOCK 12 /* 10, rounded up */

/* The pool has been used by nobody yet, so that one of its two blocks is still to be given. */
static void test_never_given(void)
{
	VP block;

	expect_equal(get_mpf(MPF_TWO, &block), E_OK);
	expect_equal(rel_mpf(MPF_TWO, (UB *)block + BLOCK), E_PAR);
	expect_equal(rel_mpf(MPF_TWO, (UB *)block - BLOCK), E_PAR);
	expect_equal(rel_mpf(MPF_TWO, block), E_OK);
}

static void test_blocks(void)
{
	VP first, second, third;

	for (UINT round = 0; round < 2; round++) {
		expect_equal(get_mpf(MPF_TWO, &first), E_OK);
		expect_equal(tget_mpf(MPF_TWO, &second, 1), E_OK);
		expect_equal(pget_mpf(MPF_TWO, &third), E_TMOUT);
		expect((UW)first % 4 == 0 && (UW)second % 4 == 0);
		expect((UB *)second - (UB *)first == BLOCK || (UB *)first - (UB *)second == BLOCK);
		memset(first, 0xff, BLOCK);
		memset(second, 0xff, BLOCK); /* all of it is the task's */
		expect_equal(rel_mpf(MPF_TWO, first), E_OK);
		expect_equal(pget_mpf(MPF_TWO, &third), E_OK);
		expect(third == first);
		expect_equal(rel_mpf(MPF_TWO, first), E_OK);
		expect_equal(rel_mpf(MPF_TWO, second), E_OK);
	}
}

static void test_errors(void)
{
	VP block;

	expect_equal(pget_mpf(MPF_TWO, &block), E_OK);
	expect_equal(rel_mpf(MPF_TWO, (UB *)block + 4), E_PAR);
	expect_equal(rel_mpf(MPF_TWO, (UB *)block + 2 * BLOCK), E_PAR);
	expect_equal(rel_mpf(MPF_TWO, (UB *)block - 2 * BLOCK), E_PAR);
	expect_equal(rel_mpf(MPF_TWO, NULL), E_PAR);
	expect_equal(rel_mpf(MPF_FIFO, block), E_PAR); /* another pool's */
	expect_equal(rel_mpf(MPF_TWO, block), E_OK);
}

static VP received;

static void take(void)
{
	expect_equal(get_mpf(MPF_FIFO, &received), E_OK);
	trace_self();
}

static void test_disabled(void)
{
	VP block;

	dis_dsp();
	expect_equal(pget_mpf(MPF_FIFO, &block), E_OK);
	expect_equal(get_mpf(MPF_FIFO, &received), E_CTX);
	ena_dsp();
	start(TSK_HIGH, take);
	dis_dsp();
	expect_equal(rel_mpf(MPF_FIFO, block), E_OK);
	expect_equal(pget_mpf(MPF_FIFO, &block), E_TMOUT); /* it is HIGH's */
	expect(traced(""));
	ena_dsp();
	expect(traced("h") && received == block);
	expect_equal(rel_mpf(MPF_FIFO, received), E_OK);
}

static const struct tap_test tests[] = {
	{ "rel_mpf: a block that was never given", test_never_given },
	{ "get_mpf, tget_mpf, pget_mpf, rel_mpf: blocks", test_blocks },
	{ "rel_mpf: errors", test_errors },
	{ "pget_mpf, rel_mpf: with dispatching disabled", test_disabled },
};

const struct tap_group mempool_tests = TAP_GROUP(tests);
