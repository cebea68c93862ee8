/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks: semaphores, event flags, data queues, mailboxes, memory pools.
 */
#include "kernel_id.h"
#include "rules.h"

static ER results[TNUM_TSKID + 1];
static VP_INT values[TNUM_TSKID + 1];
static FLGPTN patterns[TNUM_TSKID + 1];
static FLGPTN wanted[TNUM_TSKID + 1];
static MODE modes[TNUM_TSKID + 1];
static ID object;

static ID self_get(void)
{
	ID self;

	get_tid(&self);
	return self;
}

static void note(ID self, ER result)
{
	results[self] = result;
	trace((char)('0' + self));
}

static void take_semaphore(void)
{
	ID self = self_get();

	note(self, twai_sem(object, 50));
}

static void check_semaphores(void)
{
	expect(pol_sem(SEM_FIFO) == E_OK && pol_sem(SEM_FIFO) == E_TMOUT);
	expect(twai_sem(SEM_FIFO, 2) == E_TMOUT && twai_sem(SEM_FIFO, -5) == E_PAR);
	expect(sig_sem(SEM_FIFO) == E_OK && sig_sem(SEM_FIFO) == E_OK);
	expect(sig_sem(SEM_FIFO) == E_QOVR && wai_sem(SEM_FIFO) == E_OK && wai_sem(SEM_FIFO) == E_OK);
	expect(sig_sem(0) == E_ID && sig_sem(3) == E_NOEXS && pol_sem(5) == E_ID);
	object = SEM_FIFO;
	helper_start(TSK_LOW, take_semaphore);
	dly_tsk(1);
	helper_start(TSK_HIGH, take_semaphore);
	expect(sig_sem(SEM_FIFO) == E_OK && traced("")); /* the one of low priority was first */
	expect(sig_sem(SEM_FIFO) == E_OK && traced("2"));
	dly_tsk(1);
	expect(traced("3"));
	object = SEM_PRIORITY;
	helper_start(TSK_LOW, take_semaphore);
	helper_start(TSK_ONE, take_semaphore);
	dly_tsk(1);
	helper_start(TSK_HIGH, take_semaphore);
	expect(sig_sem(SEM_PRIORITY) == E_OK && traced("2"));
	expect(chg_pri(TSK_LOW, MAIN_PRIORITY - 1) == E_OK); /* takes a place in front */
	expect(sig_sem(SEM_PRIORITY) == E_OK && traced("3"));
	expect(rel_wai(TSK_ONE) == E_OK && traced(""));
	dly_tsk(0);
	expect(traced("4") && results[TSK_ONE] == E_RLWAI && results[TSK_LOW] == E_OK);
	helper_start(TSK_HIGH, take_semaphore);
	expect(ter_tsk(TSK_HIGH) == E_OK && sig_sem(SEM_PRIORITY) == E_OK);
	expect(pol_sem(SEM_PRIORITY) == E_OK && traced(""));
}

static void take_flag(void)
{
	ID self = self_get();

	note(self, wai_flg(object, wanted[self], modes[self], &patterns[self]));
}

static void flag_start(ID task, FLGPTN pattern, MODE mode)
{
	wanted[task] = pattern;
	modes[task] = mode;
	helper_start(task, take_flag);
}

static void check_flags(void)
{
	FLGPTN pattern = 0;

	expect(pol_flg(FLG_ONE, 3, TWF_ANDW, &pattern) == E_TMOUT);
	expect(pol_flg(FLG_ONE, 3, TWF_ORW, &pattern) == E_OK && pattern == 1);
	expect(pol_flg(FLG_ONE, 0, TWF_ORW, &pattern) == E_PAR);
	expect(pol_flg(FLG_ONE, 1, 2, &pattern) == E_PAR);
	expect(set_flg(FLG_ONE, 6) == E_OK && clr_flg(FLG_ONE, ~3U) == E_OK);
	expect(wai_flg(FLG_ONE, 4, TWF_ANDW, &pattern) == E_OK && pattern == 4);
	object = FLG_ONE;
	flag_start(TSK_HIGH, 0x30, TWF_ANDW);
	expect(pol_flg(FLG_ONE, 4, TWF_ORW, &pattern) == E_ILUSE);
	expect(set_flg(FLG_ONE, 0x10) == E_OK && traced(""));
	expect(set_flg(FLG_ONE, 0x20) == E_OK && traced("2") && patterns[TSK_HIGH] == 0x34);
	expect(twai_flg(FLG_ONE, 0x80, TWF_ORW, &pattern, 2) == E_TMOUT);
	object = FLG_MANY; /* by priority, all whose condition holds */
	flag_start(TSK_LOW, 1, TWF_ORW);
	dly_tsk(1);
	flag_start(TSK_HIGH, 3, TWF_ANDW);
	expect(set_flg(FLG_MANY, 1) == E_OK && traced(""));
	dly_tsk(1);
	expect(traced("3") && set_flg(FLG_MANY, 2) == E_OK && traced("2"));
	expect(patterns[TSK_LOW] == 1 && patterns[TSK_HIGH] == 3);
	object = FLG_CLEAR; /* the first takes it all */
	flag_start(TSK_LOW, 1, TWF_ORW);
	dly_tsk(1);
	flag_start(TSK_HIGH, 1, TWF_ORW);
	expect(set_flg(FLG_CLEAR, 3) == E_OK && traced(""));
	expect(pol_flg(FLG_CLEAR, 2, TWF_ORW, &pattern) == E_TMOUT);
	dly_tsk(1);
	expect(traced("3") && patterns[TSK_LOW] == 3);
	expect(set_flg(FLG_CLEAR, 5) == E_OK && traced("2") && patterns[TSK_HIGH] == 5);
}

static void send(void)
{
	ID self = self_get();

	note(self, snd_dtq(object, values[self]));
}

static void receive(void)
{
	ID self = self_get();

	note(self, rcv_dtq(object, &values[self]));
}

static VP_INT word(int value)
{
	return (VP_INT)value;
}

static void check_queues(void)
{
	VP_INT data;

	expect(psnd_dtq(DTQ_TWO, word(1)) == E_OK && psnd_dtq(DTQ_TWO, word(2)) == E_OK);
	expect(psnd_dtq(DTQ_TWO, word(3)) == E_TMOUT && tsnd_dtq(DTQ_TWO, word(3), 2) == E_TMOUT);
	object = DTQ_TWO;
	values[TSK_LOW] = word(30);
	helper_start(TSK_LOW, send);
	dly_tsk(1);
	values[TSK_HIGH] = word(20);
	helper_start(TSK_HIGH, send);
	expect(prcv_dtq(DTQ_TWO, &data) == E_OK && data == word(1) && traced("2"));
	expect(fsnd_dtq(DTQ_TWO, word(4)) == E_OK); /* 2 goes */
	expect(rcv_dtq(DTQ_TWO, &data) == E_OK && data == word(20));
	expect(rcv_dtq(DTQ_TWO, &data) == E_OK && data == word(4));
	expect(rcv_dtq(DTQ_TWO, &data) == E_OK && data == word(30));
	dly_tsk(1);
	expect(traced("3") && prcv_dtq(DTQ_TWO, &data) == E_TMOUT);
	expect(trcv_dtq(DTQ_TWO, &data, 1) == E_TMOUT);
	helper_start(TSK_HIGH, receive);
	expect(fsnd_dtq(DTQ_TWO, word(5)) == E_OK && traced("2") && values[TSK_HIGH] == word(5));
	object = DTQ_NONE; /* sender and receiver meet */
	expect(psnd_dtq(DTQ_NONE, word(1)) == E_TMOUT && fsnd_dtq(DTQ_NONE, word(1)) == E_ILUSE);
	values[TSK_HIGH] = word(6);
	helper_start(TSK_HIGH, send);
	expect(traced("") && prcv_dtq(DTQ_NONE, &data) == E_OK && data == word(6) && traced("2"));
	helper_start(TSK_HIGH, receive);
	expect(snd_dtq(DTQ_NONE, word(7)) == E_OK && traced("2") && values[TSK_HIGH] == word(7));
	expect(snd_dtq(9, word(1)) == E_ID);
}

static void fetch(void)
{
	ID self = self_get();
	T_MSG *message;

	note(self, rcv_mbx(object, &message));
	values[self] = message;
}

static void check_mailboxes(void)
{
	static T_MSG plain[2];
	static T_MSG_PRI urgent[4] = {
		{ .msgpri = 3 }, { .msgpri = 1 }, { .msgpri = 3 }, { .msgpri = 2 },
	};
	static const int order[] = { 1, 3, 0, 2 };
	static T_MSG_PRI wrong = { .msgpri = 5 };
	T_MSG *message;

	expect(prcv_mbx(MBX_FIFO, &message) == E_TMOUT && trcv_mbx(MBX_FIFO, &message, 1) == E_TMOUT);
	expect(snd_mbx(MBX_FIFO, &plain[1]) == E_OK && snd_mbx(MBX_FIFO, &plain[0]) == E_OK);
	expect(rcv_mbx(MBX_FIFO, &message) == E_OK && message == &plain[1]);
	expect(rcv_mbx(MBX_FIFO, &message) == E_OK && message == &plain[0]);
	for (int i = 0; i < 4; i++)
		expect(snd_mbx(MBX_PRIORITY, &urgent[i].msgque) == E_OK);
	for (int i = 0; i < 4; i++)
		expect(prcv_mbx(MBX_PRIORITY, &message) == E_OK &&
		       message == &urgent[order[i]].msgque);
	expect(prcv_mbx(MBX_PRIORITY, &message) == E_TMOUT);
	expect(snd_mbx(MBX_PRIORITY, &wrong.msgque) == E_PAR && snd_mbx(MBX_FIFO, NULL) == E_PAR);
	wrong.msgpri = 0;
	expect(snd_mbx(MBX_PRIORITY, &wrong.msgque) == E_PAR && snd_mbx(3, &plain[0]) == E_ID);
	object = MBX_PRIORITY;
	helper_start(TSK_HIGH, fetch);
	expect(snd_mbx(MBX_PRIORITY, &urgent[0].msgque) == E_OK && traced("2"));
	expect(values[TSK_HIGH] == (VP_INT)&urgent[0]);
}

static void take_block(void)
{
	ID self = self_get();

	note(self, get_mpf(MPF_TWO, &values[self]));
}

static void check_pools(void)
{
	VP first, second, third;

	expect(get_mpf(MPF_TWO, &first) == E_OK && pget_mpf(MPF_TWO, &second) == E_OK);
	expect((char *)second - (char *)first == 12); /* 10, rounded up */
	expect(pget_mpf(MPF_TWO, &third) == E_TMOUT && tget_mpf(MPF_TWO, &third, 1) == E_TMOUT);
	expect(rel_mpf(MPF_TWO, (char *)first + 4) == E_PAR);
	expect(rel_mpf(MPF_TWO, (char *)first + 24) == E_PAR && rel_mpf(MPF_TWO, NULL) == E_PAR);
	helper_start(TSK_HIGH, take_block);
	expect(rel_mpf(MPF_TWO, first) == E_OK && traced("2") && values[TSK_HIGH] == first);
	expect(rel_mpf(MPF_TWO, second) == E_OK && rel_mpf(MPF_TWO, first) == E_OK);
	expect(get_mpf(MPF_TWO, &first) == E_OK && get_mpf(MPF_TWO, &second) == E_OK);
	expect(first != second && rel_mpf(MPF_TWO, first) == E_OK);
	expect(rel_mpf(MPF_TWO, second) == E_OK && rel_mpf(2, first) == E_ID);
}

void check_objects(void)
{
	check_semaphores();
	check_flags();
	check_queues();
	check_mailboxes();
	check_pools();
}
