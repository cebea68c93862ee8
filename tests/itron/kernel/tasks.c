/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks: task management, synchronisation, task exceptions.
 */
#include "kernel_id.h"
#include "rules.h"

static void note_high(void)
{
	trace('h');
}

static void note_low(void)
{
	trace('l');
}

static void note_one(void)
{
	trace('1');
}

static void note_two(void)
{
	trace('2');
}

static void check_activation(void)
{
	PRI priority;

	expect(helper_start(TSK_HIGH, note_high) == E_OK && traced("h"));
	expect(helper_start(TSK_LOW, note_low) == E_OK && traced(""));
	for (UINT i = 0; i < TMAX_ACTCNT; i++)
		expect(act_tsk(TSK_LOW) == E_OK);
	expect(act_tsk(TSK_LOW) == E_QOVR);
	expect(can_act(TSK_LOW) == (ER_UINT)TMAX_ACTCNT);
	expect(can_act(TSK_LOW) == 0);
	expect(act_tsk(TSK_LOW) == E_OK);
	dly_tsk(2);
	expect(traced("ll"));
	expect(ter_tsk(TSK_LOW) == E_OBJ);
	expect(ter_tsk(TSK_MAIN) == E_ILUSE);
	expect(ter_tsk(TSK_SELF) == E_ID);
	expect(get_pri(TSK_LOW, &priority) == E_OBJ);
	expect(get_pri(TSK_SELF, &priority) == E_OK && priority == MAIN_PRIORITY);
	expect(act_tsk(-1) == E_ID && act_tsk(TNUM_TSKID + 1) == E_ID);
	expect(act_tsk(7) == E_NOEXS && chg_pri(6, 1) == E_NOEXS);
	/* Termination of a ready task with a request starts it anew. */
	expect(helper_start(TSK_LOW, note_low) == E_OK && act_tsk(TSK_LOW) == E_OK);
	expect(chg_pri(TSK_LOW, MAIN_PRIORITY + 1) == E_OK);
	expect(ter_tsk(TSK_LOW) == E_OK);
	expect(get_pri(TSK_LOW, &priority) == E_OK && priority == MAIN_PRIORITY + 4);
	expect(ter_tsk(TSK_LOW) == E_OK && ter_tsk(TSK_LOW) == E_OBJ);
	dly_tsk(2);
	expect(traced(""));
}

static void check_priority(void)
{
	PRI priority;

	helper_start(TSK_ONE, note_one);
	helper_start(TSK_TWO, note_two);
	expect(traced(""));
	expect(rot_rdq(TPRI_SELF) == E_OK && traced("12"));
	helper_start(TSK_ONE, note_one);
	helper_start(TSK_TWO, note_two);
	expect(chg_pri(TSK_ONE, MAIN_PRIORITY) == E_OK); /* behind the other */
	expect(rot_rdq(MAIN_PRIORITY) == E_OK && traced("21"));
	helper_start(TSK_ONE, note_one);
	expect(chg_pri(TSK_ONE, MAIN_PRIORITY - 1) == E_OK && traced("1"));
	expect(chg_pri(TSK_SELF, MAIN_PRIORITY - 2) == E_OK);
	helper_start(TSK_ONE, note_one);
	expect(traced(""));
	expect(chg_pri(TSK_SELF, TPRI_INI) == E_OK && traced("1"));
	expect(get_pri(TSK_MAIN, &priority) == E_OK && priority == MAIN_PRIORITY);
	expect(chg_pri(TSK_SELF, TMAX_TPRI + 1) == E_PAR && chg_pri(TSK_SELF, -1) == E_PAR);
	expect(chg_pri(TSK_ONE, 3) == E_OBJ);
	expect(rot_rdq(TMAX_TPRI + 1) == E_PAR && rot_rdq(3) == E_OK);
}

static ER slept;

static void sleep_once(void)
{
	slept = slp_tsk();
	trace('s');
}

static void sleep_long(void)
{
	slept = tslp_tsk(3);
	trace('t');
}

static void check_sleep(void)
{
	SYSTIM before, after;

	helper_start(TSK_HIGH, sleep_once);
	expect(traced("") && wup_tsk(TSK_HIGH) == E_OK && traced("s") && slept == E_OK);
	expect(wup_tsk(TSK_HIGH) == E_OBJ && can_wup(TSK_HIGH) == E_OBJ);
	helper_start(TSK_HIGH, sleep_once);
	expect(rel_wai(TSK_HIGH) == E_OK && traced("s") && slept == E_RLWAI);
	expect(rel_wai(TSK_HIGH) == E_OBJ && rel_wai(TSK_MAIN) == E_OBJ);
	expect(wup_tsk(TSK_SELF) == E_OK && wup_tsk(TSK_MAIN) == E_OK);
	expect(slp_tsk() == E_OK && tslp_tsk(TMO_POL) == E_OK && tslp_tsk(TMO_POL) == E_TMOUT);
	for (UINT i = 0; i < TMAX_WUPCNT; i++)
		wup_tsk(TSK_SELF);
	expect(wup_tsk(TSK_SELF) == E_QOVR && can_wup(TSK_SELF) == (ER_UINT)TMAX_WUPCNT);
	expect(tslp_tsk(-2) == E_PAR && dly_tsk(TMAX_RELTIM + 1) == E_PAR);
	get_tim(&before);
	expect(tslp_tsk(5) == E_TMOUT);
	get_tim(&after);
	expect(after - before == 6); /* at least what was asked for */
	expect(dly_tsk(0) == E_OK && get_tim(&before) == E_OK && before == after + 1);
	helper_start(TSK_HIGH, sleep_long);
	dly_tsk(2);
	expect(traced(""));
	dly_tsk(2);
	expect(traced("t") && slept == E_TMOUT);
}

static void delay_long(void)
{
	slept = dly_tsk(1000);
	trace('d');
}

static void check_suspension(void)
{
	expect(sus_tsk(TSK_HIGH) == E_OBJ && rsm_tsk(TSK_HIGH) == E_OBJ);
	helper_start(TSK_LOW, note_low);
	for (UINT i = 0; i < TMAX_SUSCNT; i++)
		expect(sus_tsk(TSK_LOW) == E_OK);
	expect(sus_tsk(TSK_LOW) == E_QOVR && rsm_tsk(TSK_LOW) == E_OK);
	dly_tsk(2);
	expect(traced("") && frsm_tsk(TSK_LOW) == E_OK && frsm_tsk(TSK_LOW) == E_OBJ);
	dly_tsk(2);
	expect(traced("l"));
	/* Waiting and suspended: each ends by itself. */
	helper_start(TSK_HIGH, sleep_once);
	expect(sus_tsk(TSK_HIGH) == E_OK && wup_tsk(TSK_HIGH) == E_OK && traced(""));
	expect(rsm_tsk(TSK_HIGH) == E_OK && traced("s"));
	helper_start(TSK_HIGH, sleep_once);
	expect(sus_tsk(TSK_HIGH) == E_OK && rsm_tsk(TSK_HIGH) == E_OK && traced(""));
	expect(wup_tsk(TSK_HIGH) == E_OK && traced("s"));
	helper_start(TSK_HIGH, delay_long);
	expect(wup_tsk(TSK_HIGH) == E_OK && traced("")); /* a delay is no sleep */
	expect(rel_wai(TSK_HIGH) == E_OK && traced("d") && slept == E_RLWAI);
	helper_start(TSK_HIGH, delay_long);
	expect(sus_tsk(TSK_HIGH) == E_OK && ter_tsk(TSK_HIGH) == E_OK && traced(""));
	expect(helper_start(TSK_HIGH, note_high) == E_OK && traced("h"));
}

static TEXPTN seen;

static void exception_note(TEXPTN pattern)
{
	seen = pattern;
	trace('e');
	expect(sns_tex() && !sns_ctx());
	if (pattern == 0x10) {
		expect(ras_tex(TSK_SELF, 0x20) == E_OK); /* after this one */
		trace('f');
	}
}

static void exception_end(TEXPTN pattern)
{
	(void)pattern;
	trace('E');
	ext_tsk();
}

static void exception_loop(void)
{
	expect(sns_tex());
	expect(ena_tex() == E_OK && !sns_tex());
	trace('a');
	slp_tsk();
	trace('b');
}

static void raise_from_handler(void)
{
	expect(iras_tex(TSK_MAIN, 0x40) == E_OK && iras_tex(TSK_HIGH, 1) == E_OBJ);
	expect(iras_tex(TSK_SELF, 1) == E_ID && iras_tex(TSK_MAIN, 0) == E_PAR);
}

static void check_exceptions(void)
{
	exception_work = exception_note;
	expect(sns_tex() && ras_tex(TSK_SELF, 1) == E_OK && ras_tex(TSK_MAIN, 4) == E_OK);
	expect(traced("") && ras_tex(TSK_SELF, 0) == E_PAR);
	expect(ena_tex() == E_OK && traced("e") && seen == 5 && !sns_tex());
	expect(ras_tex(TSK_SELF, 0x10) == E_OK && traced("efe") && seen == 0x20);
	in_handler(raise_from_handler);
	expect(traced("e") && seen == 0x40);
	expect(dis_tex() == E_OK && ras_tex(TSK_SELF, 2) == E_OK && traced(""));
	expect(ena_tex() == E_OK && traced("e") && seen == 2);
	expect(dis_tex() == E_OK && sns_tex());
	expect(ras_tex(TSK_ONE, 1) == E_OBJ && ras_tex(TSK_LOW, 1) == E_OBJ);
	/* A task that waits looks at it when it runs again; its wait does not end. */
	helper_start(TSK_LOW, exception_loop);
	dly_tsk(2);
	expect(traced("a") && ras_tex(TSK_LOW, 8) == E_OK);
	dly_tsk(2);
	expect(traced("") && wup_tsk(TSK_LOW) == E_OK && traced(""));
	dly_tsk(2);
	expect(traced("eb") && seen == 8);
	/* It may end the task. What was enabled is disabled when it starts again. */
	exception_work = exception_end;
	helper_start(TSK_LOW, exception_loop);
	dly_tsk(2);
	expect(traced("a") && ras_tex(TSK_LOW, 8) == E_OK && wup_tsk(TSK_LOW) == E_OK);
	dly_tsk(2);
	expect(traced("E") && ter_tsk(TSK_LOW) == E_OBJ);
}

void check_tasks(void)
{
	check_activation();
	check_priority();
	check_sleep();
	check_suspension();
	check_exceptions();
}
