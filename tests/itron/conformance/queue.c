/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: the order in which tasks that wait for an object get it: FIFO or by priority, what a
 * change of priority does to it, and what they are given.
 */
#include "suite.h"

/* How to wait for an object, and how to end one task's waiting. take: returns what it was given. */
struct kind {
	ER (*take)(ID id, INT *given);
	ER (*give)(ID id, INT value);
	ID fifo, priority;
	bool gives_values;
};

static const struct kind *kind;
static ID object;
static INT values[TNUM_TSKID + 1];

static ER semaphore_take(ID id, INT *given)
{
	(void)given;
	return wai_sem(id);
}

static ER semaphore_give(ID id, INT value)
{
	(void)value;
	return sig_sem(id);
}

static ER flag_take(ID id, INT *given)
{
	return wai_flg(id, ~0U, TWF_ORW, (FLGPTN *)given);
}

static ER flag_give(ID id, INT value)
{
	return set_flg(id, (FLGPTN)value);
}

/* Senders wait, and are released by one who receives what they sent: their IDs. */
static ER sender_take(ID id, INT *given)
{
	(void)given;
	return snd_dtq(id, (VP_INT)self());
}

static VP_INT sent;

static ER sender_give(ID id, INT value)
{
	(void)value;
	return rcv_dtq(id, &sent);
}

static ER receiver_take(ID id, INT *given)
{
	VP_INT data = NULL;
	ER result = rcv_dtq(id, &data);

	*given = (INT)data;
	return result;
}

static ER receiver_give(ID id, INT value)
{
	return snd_dtq(id, (VP_INT)value);
}

/* The value is the message's priority. */
static T_MSG_PRI letter;

static ER mailbox_take(ID id, INT *given)
{
	T_MSG *message = NULL;
	ER result = rcv_mbx(id, &message);

	expect(message == &letter.msgque);
	*given = letter.msgpri;
	return result;
}

static ER mailbox_give(ID id, INT value)
{
	letter.msgpri = value;
	return snd_mbx(id, &letter.msgque);
}

static VP blocks[TNUM_MPFID + 1];

static ER pool_take(ID id, INT *given)
{
	VP block = NULL;
	ER result = get_mpf(id, &block);

	expect(block == blocks[id]);
	(void)given;
	return result;
}

static ER pool_give(ID id, INT value)
{
	(void)value;
	return rel_mpf(id, blocks[id]);
}

static void take(void)
{
	ID id = self();

	expect_equal(kind->take(object, &values[id]), E_OK);
	trace_self();
}

static void give_next(const char *letters, ID task, INT value)
{
	expect_equal(kind->give(object, value), E_OK);
	settle();
	expect(traced(letters));
	if (kind->gives_values)
		expect_equal(values[task], value);
}

static void check_fifo(void)
{
	start_all(take);
	expect(traced(""));
	expect_equal(chg_pri(TSK_TWO, TMIN_TPRI), E_OK); /* which changes nothing */
	give_next("l", TSK_LOW, 1);
	give_next("1", TSK_ONE, 2);
	give_next("h", TSK_HIGH, 3);
	give_next("2", TSK_TWO, 4);
}

/* One that is given the priority of others comes behind them. */
static void check_priority(void)
{
	start_all(take);
	give_next("h", TSK_HIGH, 1);
	give_next("1", TSK_ONE, 2);
	start(TSK_HIGH, take);
	expect_equal(chg_pri(TSK_LOW, HIGH_PRIORITY), E_OK);
	give_next("h", TSK_HIGH, 3);
	give_next("l", TSK_LOW, 4);
	give_next("2", TSK_TWO, 1);
	start_all(take);
	expect_equal(chg_pri(TSK_HIGH, TMAX_TPRI), E_OK); /* from the first to the last */
	expect_equal(chg_pri(TSK_ONE, TPRI_INI), E_OK); /* behind TWO */
	give_next("2", TSK_TWO, 2);
	give_next("1", TSK_ONE, 3);
	give_next("l", TSK_LOW, 4);
	give_next("h", TSK_HIGH, 1);
}

/* Those in the middle leave by force. */
static void check_leaving(void)
{
	start_all(take);
	expect_equal(ter_tsk(TSK_LOW), E_OK);
	expect_equal(ter_tsk(TSK_TWO), E_OK);
	expect_equal(sus_tsk(TSK_HIGH), E_OK);
	give_next(object == kind->fifo ? "1" : "", TSK_ONE, 3);
	give_next(object == kind->fifo ? "" : "1", TSK_ONE, 3);
	expect_equal(rsm_tsk(TSK_HIGH), E_OK);
	expect(traced("h"));
}

static void queue_test(const struct kind *tested)
{
	kind = tested;
	if (tested->fifo) {
		object = tested->fifo;
		check_fifo();
		if (!tested->gives_values)
			check_leaving();
	}
	if (tested->priority) {
		object = tested->priority;
		check_priority();
		if (!tested->gives_values)
			check_leaving();
	}
}

static void test_semaphores(void)
{
	const struct kind tested = { semaphore_take, semaphore_give, SEM_FIFO, SEM_PRIORITY,
				     false };

	queue_test(&tested);
}

static void test_flags(void)
{
	const struct kind tested = { flag_take, flag_give, FLG_FIFO, FLG_PRIORITY, true };

	queue_test(&tested);
}

static void test_senders(void)
{
	const struct kind tested = { sender_take, sender_give, DTQ_FIFO, DTQ_PRIORITY, false };

	queue_test(&tested);
}

/* Receivers are in the order of their arrival, whatever the attribute. */
static void test_receivers(void)
{
	const struct kind fifo = { receiver_take, receiver_give, DTQ_FIFO, 0, true };
	const struct kind also = { receiver_take, receiver_give, DTQ_PRIORITY, 0, true };

	queue_test(&fifo);
	queue_test(&also);
}

static void test_mailboxes(void)
{
	const struct kind tested = { mailbox_take, mailbox_give, MBX_FIFO, MBX_PRIORITY, true };

	queue_test(&tested);
}

static void test_pools(void)
{
	const struct kind tested = { pool_take, pool_give, MPF_FIFO, MPF_PRIORITY, false };

	expect_equal(get_mpf(MPF_FIFO, &blocks[MPF_FIFO]), E_OK);
	expect_equal(get_mpf(MPF_PRIORITY, &blocks[MPF_PRIORITY]), E_OK);
	queue_test(&tested);
	expect_equal(rel_mpf(MPF_FIFO, blocks[MPF_FIFO]), E_OK);
	expect_equal(rel_mpf(MPF_PRIORITY, blocks[MPF_PRIORITY]), E_OK);
}

/* What is sent comes in the order in which the senders are released. */
static void test_sent(void)
{
	static const ID fifo[] = { TSK_LOW, TSK_ONE, TSK_HIGH, TSK_TWO };
	static const ID priority[] = { TSK_HIGH, TSK_ONE, TSK_TWO, TSK_LOW };
	const struct kind tested = { sender_take, sender_give, DTQ_FIFO, DTQ_PRIORITY, false };

	kind = &tested;
	object = DTQ_FIFO;
	start_all(take);
	for (UINT i = 0; i < 4; i++) {
		expect_equal(rcv_dtq(DTQ_FIFO, &sent), E_OK);
		expect_equal(sent, fifo[i]);
	}
	settle();
	expect(traced("h12l"));
	object = DTQ_PRIORITY;
	start_all(take);
	for (UINT i = 0; i < 4; i++) {
		expect_equal(prcv_dtq(DTQ_PRIORITY, &sent), E_OK);
		expect_equal(sent, priority[i]);
	}
	settle();
	expect(traced("h12l"));
}

static const struct tap_test tests[] = {
	{ "semaphores: the order of waiting tasks", test_semaphores },
	{ "event flags: the order of waiting tasks", test_flags },
	{ "data queues: the order of waiting senders", test_senders },
	{ "data queues: the order of waiting receivers", test_receivers },
	{ "mailboxes: the order of waiting tasks", test_mailboxes },
	{ "memory pools: the order of waiting tasks", test_pools },
	{ "data queues: what senders in a queue send", test_sent },
};

const struct tap_group queue_tests = TAP_GROUP(tests);
