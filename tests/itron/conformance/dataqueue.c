/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: data queues, what comes out of them. Waiting is in wait.c, the order of it in queue.c.
 */
#include "suite.h"

static ID object;
static INT value;

static void send(void)
{
	expect_equal(snd_dtq(object, (VP_INT)value), E_OK);
	trace_self();
}

static void receive(void)
{
	VP_INT data = NULL;

	expect_equal(rcv_dtq(object, &data), E_OK);
	value = (INT)data;
	trace_self();
}

static void expect_next(ID queue, INT wanted)
{
	VP_INT data = NULL;

	expect_equal(prcv_dtq(queue, &data), E_OK);
	expect_equal(data, wanted);
}

static void test_ring(void)
{
	VP_INT data;

	/* Twice, so that its end is passed. */
	for (INT i = 0; i < 2; i++) {
		expect_equal(psnd_dtq(DTQ_TWO, (VP_INT)1), E_OK);
		expect_equal(snd_dtq(DTQ_TWO, (VP_INT)2), E_OK);
		expect_equal(psnd_dtq(DTQ_TWO, (VP_INT)3), E_TMOUT);
		expect_next(DTQ_TWO, 1);
		expect_equal(tsnd_dtq(DTQ_TWO, (VP_INT)4, 1), E_OK);
		expect_equal(rcv_dtq(DTQ_TWO, &data), E_OK);
		expect_equal(data, 2);
		expect_equal(trcv_dtq(DTQ_TWO, &data, 1), E_OK);
		expect_equal(data, 4);
		expect_equal(prcv_dtq(DTQ_TWO, &data), E_TMOUT);
		expect_equal(psnd_dtq(DTQ_TWO, (VP_INT)5), E_OK);
		expect_next(DTQ_TWO, 5);
	}
}

/* What a waiting sender sends goes into the ring as soon as there is room. */
static void test_waiting_sender(void)
{
	psnd_dtq(DTQ_TWO, (VP_INT)1);
	psnd_dtq(DTQ_TWO, (VP_INT)2);
	object = DTQ_TWO;
	value = 3;
	start(TSK_HIGH, send);
	expect(traced(""));
	expect_next(DTQ_TWO, 1);
	expect(traced("h"));
	expect_next(DTQ_TWO, 2);
	expect_next(DTQ_TWO, 3);
}

static void test_forced(void)
{
	expect_equal(fsnd_dtq(DTQ_TWO, (VP_INT)1), E_OK);
	expect_equal(fsnd_dtq(DTQ_TWO, (VP_INT)2), E_OK);
	expect_equal(fsnd_dtq(DTQ_TWO, (VP_INT)3), E_OK); /* 1 goes */
	object = DTQ_TWO;
	value = 4;
	start(TSK_HIGH, send);
	expect_equal(fsnd_dtq(DTQ_TWO, (VP_INT)5), E_OK); /* 2 goes, HIGH waits on */
	expect(traced(""));
	expect_next(DTQ_TWO, 3);
	expect(traced("h"));
	expect_next(DTQ_TWO, 5);
	expect_next(DTQ_TWO, 4);
	start(TSK_HIGH, receive);
	expect_equal(fsnd_dtq(DTQ_TWO, (VP_INT)6), E_OK);
	expect(traced("h"));
	expect_equal(value, 6);
	expect_equal(fsnd_dtq(DTQ_FIFO, (VP_INT)1), E_ILUSE); /* there is no room at all */
	object = DTQ_FIFO;
	start(TSK_HIGH, receive);
	expect_equal(fsnd_dtq(DTQ_FIFO, (VP_INT)1), E_ILUSE); /* nor now */
	expect_equal(ter_tsk(TSK_HIGH), E_OK);
}

/* Without room sender and receiver meet. */
static void test_meeting(void)
{
	VP_INT data;

	expect_equal(psnd_dtq(DTQ_FIFO, (VP_INT)1), E_TMOUT);
	expect_equal(prcv_dtq(DTQ_FIFO, &data), E_TMOUT);
	object = DTQ_FIFO;
	value = 6;
	start(TSK_HIGH, send);
	expect(traced(""));
	expect_next(DTQ_FIFO, 6);
	expect(traced("h"));
	start(TSK_HIGH, receive);
	expect_equal(snd_dtq(DTQ_FIFO, (VP_INT)7), E_OK);
	expect(traced("h"));
	expect_equal(value, 7);
	start(TSK_HIGH, receive);
	expect_equal(psnd_dtq(DTQ_FIFO, (VP_INT)-1), E_OK);
	expect(traced("h"));
	expect_equal(value, -1);
}

static void send_in_handler(void)
{
	expect_equal(ipsnd_dtq(DTQ_TWO, (VP_INT)1), E_OK);
	expect_equal(ipsnd_dtq(DTQ_TWO, (VP_INT)2), E_OK);
	expect_equal(ipsnd_dtq(DTQ_TWO, (VP_INT)3), E_TMOUT);
	expect_equal(ifsnd_dtq(DTQ_TWO, (VP_INT)4), E_OK);
	expect_equal(ifsnd_dtq(DTQ_FIFO, (VP_INT)1), E_ILUSE);
}

static void hand_over_in_handler(void)
{
	expect_equal(ipsnd_dtq(DTQ_FIFO, (VP_INT)8), E_OK);
	expect_equal(ifsnd_dtq(DTQ_TWO, (VP_INT)9), E_OK);
	expect(traced(""));
}

static void test_in_handlers(void)
{
	in_handler(send_in_handler);
	expect_next(DTQ_TWO, 2);
	expect_next(DTQ_TWO, 4);
	in_interrupt(send_in_handler);
	expect_next(DTQ_TWO, 2);
	expect_next(DTQ_TWO, 4);
	object = DTQ_FIFO;
	start(TSK_HIGH, receive);
	in_handler(hand_over_in_handler);
	expect(traced("h"));
	expect_equal(value, 8);
	expect_next(DTQ_TWO, 9);
}

static void test_disabled(void)
{
	object = DTQ_TWO;
	start(TSK_HIGH, receive);
	dis_dsp();
	expect_equal(psnd_dtq(DTQ_TWO, (VP_INT)1), E_OK);
	expect_equal(fsnd_dtq(DTQ_TWO, (VP_INT)2), E_OK);
	expect(traced(""));
	expect_next(DTQ_TWO, 2);
	expect_equal(snd_dtq(DTQ_TWO, (VP_INT)3), E_CTX);
	ena_dsp();
	expect(traced("h"));
	expect_equal(value, 1);
}

static const struct tap_test tests[] = {
	{ "snd_dtq, tsnd_dtq, psnd_dtq, rcv_dtq, trcv_dtq, prcv_dtq: the ring", test_ring },
	{ "snd_dtq: a sender that waits", test_waiting_sender },
	{ "fsnd_dtq: the oldest makes room", test_forced },
	{ "snd_dtq, rcv_dtq: no room at all", test_meeting },
	{ "ipsnd_dtq, ifsnd_dtq: from both kinds of handlers", test_in_handlers },
	{ "psnd_dtq, fsnd_dtq, prcv_dtq: with dispatching disabled", test_disabled },
};

const struct tap_group dataqueue_tests = TAP_GROUP(tests);
