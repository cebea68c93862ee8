/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: mailboxes, the order of messages. Waiting is in wait.c, the order of it in queue.c.
 */
#include "suite.h"

static T_MSG plain[3];

static void expect_next(ID mailbox, const T_MSG *wanted)
{
	T_MSG *message = NULL;

	expect_equal(prcv_mbx(mailbox, &message), E_OK);
	expect(message == wanted);
}

static void test_fifo(void)
{
	T_MSG *message;

	expect_equal(prcv_mbx(MBX_FIFO, &message), E_TMOUT);
	for (int i = 2; i >= 0; i--)
		expect_equal(snd_mbx(MBX_FIFO, &plain[i]), E_OK);
	expect_equal(rcv_mbx(MBX_FIFO, &message), E_OK);
	expect(message == &plain[2]);
	expect_equal(trcv_mbx(MBX_FIFO, &message, 1), E_OK);
	expect(message == &plain[1]);
	expect_next(MBX_FIFO, &plain[0]);
	expect_equal(prcv_mbx(MBX_FIFO, &message), E_TMOUT);
	expect_equal(snd_mbx(MBX_FIFO, &plain[1]), E_OK); /* after it was empty */
	expect_next(MBX_FIFO, &plain[1]);
}

/* In the order of priorities, and of arrival among equals. */
static void test_priority(void)
{
	static T_MSG_PRI urgent[] = {
		{ .msgpri = 3 }, { .msgpri = 1 }, { .msgpri = 3 },
		{ .msgpri = 2 }, { .msgpri = 4 }, { .msgpri = 1 },
	};
	static const UINT order[] = { 1, 5, 3, 0, 2, 4 };

	for (UINT round = 0; round < 2; round++) {
		for (UINT i = 0; i < 6; i++)
			expect_equal(snd_mbx(MBX_PRIORITY, &urgent[i].msgque), E_OK);
		for (UINT i = 0; i < 6; i++)
			expect_next(MBX_PRIORITY, &urgent[order[i]].msgque);
	}
	/* One that comes when others are gone. */
	snd_mbx(MBX_PRIORITY, &urgent[3].msgque);
	snd_mbx(MBX_PRIORITY, &urgent[0].msgque);
	expect_next(MBX_PRIORITY, &urgent[3].msgque);
	snd_mbx(MBX_PRIORITY, &urgent[1].msgque);
	snd_mbx(MBX_PRIORITY, &urgent[4].msgque);
	expect_next(MBX_PRIORITY, &urgent[1].msgque);
	expect_next(MBX_PRIORITY, &urgent[0].msgque);
	expect_next(MBX_PRIORITY, &urgent[4].msgque);
}

static void test_errors(void)
{
	static T_MSG_PRI wrong = { .msgpri = 5 };
	T_MSG *message;

	expect_equal(snd_mbx(MBX_PRIORITY, &wrong.msgque), E_PAR); /* maxmpri is 4 */
	wrong.msgpri = 0;
	expect_equal(snd_mbx(MBX_PRIORITY, &wrong.msgque), E_PAR);
	wrong.msgpri = -1;
	expect_equal(snd_mbx(MBX_PRIORITY, &wrong.msgque), E_PAR);
	expect_equal(snd_mbx(MBX_FIFO, NULL), E_PAR);
	expect_equal(prcv_mbx(MBX_PRIORITY, &message), E_TMOUT);
}

static T_MSG *received;

static void fetch(void)
{
	expect_equal(rcv_mbx(MBX_FIFO, &received), E_OK);
	trace_self();
}

static void test_disabled(void)
{
	start(TSK_HIGH, fetch);
	dis_dsp();
	expect_equal(snd_mbx(MBX_FIFO, &plain[0]), E_OK);
	expect_equal(snd_mbx(MBX_FIFO, &plain[1]), E_OK);
	expect_next(MBX_FIFO, &plain[1]);
	expect_equal(rcv_mbx(MBX_FIFO, &received), E_CTX);
	expect(traced(""));
	ena_dsp();
	expect(traced("h") && received == &plain[0]);
}

static const struct tap_test tests[] = {
	{ "snd_mbx, rcv_mbx, trcv_mbx, prcv_mbx: TA_MFIFO", test_fifo },
	{ "snd_mbx, prcv_mbx: TA_MPRI", test_priority },
	{ "snd_mbx: errors", test_errors },
	{ "snd_mbx, prcv_mbx: with dispatching disabled", test_disabled },
};

const struct tap_group mailbox_tests = TAP_GROUP(tests);
