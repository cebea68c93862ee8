/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks: locked CPU, disabled dispatch, handlers, CPU exceptions, time.
 */
#include "kernel_id.h"
#include "rules.h"

static void note_high(void)
{
	trace('h');
}

/* What every call for tasks says where there is none that may call. */
static void expect_no_call(void)
{
	FLGPTN pattern;
	VP_INT data;
	T_MSG *message;
	PRI priority;
	SYSTIM time;
	ID self;

	expect(act_tsk(TSK_HIGH) == E_CTX && can_act(TSK_HIGH) == E_CTX && ter_tsk(2) == E_CTX);
	expect(chg_pri(TSK_MAIN, 1) == E_CTX && get_pri(TSK_MAIN, &priority) == E_CTX);
	expect(slp_tsk() == E_CTX && tslp_tsk(TMO_POL) == E_CTX && wup_tsk(1) == E_CTX);
	expect(can_wup(TSK_MAIN) == E_CTX && rel_wai(1) == E_CTX && sus_tsk(1) == E_CTX);
	expect(rsm_tsk(1) == E_CTX && frsm_tsk(1) == E_CTX && dly_tsk(1) == E_CTX);
	expect(ras_tex(TSK_MAIN, 1) == E_CTX && dis_tex() == E_CTX && ena_tex() == E_CTX);
	expect(sig_sem(SEM_FIFO) == E_CTX && wai_sem(SEM_FIFO) == E_CTX);
	expect(pol_sem(SEM_FIFO) == E_CTX && set_flg(FLG_MANY, 1) == E_CTX);
	expect(clr_flg(FLG_MANY, 1) == E_CTX && pol_flg(FLG_MANY, 1, 0, &pattern) == E_CTX);
	expect(psnd_dtq(DTQ_TWO, NULL) == E_CTX && fsnd_dtq(DTQ_TWO, NULL) == E_CTX);
	expect(prcv_dtq(DTQ_TWO, &data) == E_CTX && snd_mbx(MBX_FIFO, NULL) == E_CTX);
	expect(prcv_mbx(MBX_FIFO, &message) == E_CTX && pget_mpf(MPF_TWO, &data) == E_CTX);
	expect(rel_mpf(MPF_TWO, NULL) == E_CTX && get_tim(&time) == E_CTX && set_tim(&time) == E_CTX);
	expect(sta_cyc(CYC_CALL) == E_CTX && stp_cyc(CYC_CALL) == E_CTX && rot_rdq(1) == E_CTX);
	expect(get_tid(&self) == E_CTX && dis_dsp() == E_CTX && ena_dsp() == E_CTX);
}

/* What every call for handlers says elsewhere. */
static void expect_no_handler_call(void)
{
	ID self;

	expect(iact_tsk(TSK_HIGH) == E_CTX && iwup_tsk(1) == E_CTX && irel_wai(1) == E_CTX);
	expect(iras_tex(TSK_MAIN, 1) == E_CTX && isig_sem(SEM_FIFO) == E_CTX);
	expect(iset_flg(FLG_MANY, 1) == E_CTX && ipsnd_dtq(DTQ_TWO, NULL) == E_CTX);
	expect(ifsnd_dtq(DTQ_TWO, NULL) == E_CTX && isig_tim() == E_CTX && irot_rdq(1) == E_CTX);
	expect(iget_tid(&self) == E_CTX);
}

static void check_lock(void)
{
	SYSTIM before, after;

	expect_no_handler_call();
	expect(iloc_cpu() == E_CTX && iunl_cpu() == E_CTX && !sns_loc() && !sns_ctx());
	get_tim(&before);
	expect(loc_cpu() == E_OK && loc_cpu() == E_OK && sns_loc() && sns_dpn() && !sns_dsp());
	expect_no_call();
	expect_no_handler_call();
	expect(unl_cpu() == E_OK && unl_cpu() == E_OK && !sns_loc() && !sns_dpn());
	get_tim(&after);
	expect(after - before <= 1);
}

static void check_dispatch(void)
{
	expect(dis_dsp() == E_OK && sns_dsp() && sns_dpn() && !sns_loc());
	helper_set(TSK_HIGH, note_high);
	expect(act_tsk(TSK_HIGH) == E_OK && traced(""));
	expect(slp_tsk() == E_CTX && dly_tsk(1) == E_CTX && wai_sem(SEM_FIFO) == E_CTX);
	expect(sus_tsk(TSK_SELF) == E_CTX && sus_tsk(TSK_HIGH) == E_OK && rsm_tsk(TSK_HIGH) == E_OK);
	expect(pol_sem(SEM_FIFO) == E_TMOUT && tslp_tsk(TMO_POL) == E_TMOUT);
	expect(loc_cpu() == E_OK && unl_cpu() == E_OK && sns_dsp() && traced(""));
	expect(ena_dsp() == E_OK && traced("h") && !sns_dsp() && !sns_dpn());
}

static void end_disabled(void)
{
	trace('a');
	dis_dsp();
	ext_tsk();
}

static void end_locked(void)
{
	trace('b');
	loc_cpu();
	ext_tsk();
}

static void check_end(void)
{
	helper_start(TSK_HIGH, end_disabled);
	expect(traced("a") && !sns_dsp());
	helper_start(TSK_HIGH, end_locked);
	expect(traced("b") && !sns_loc() && dly_tsk(1) == E_OK);
}

static void work_in_handler(void)
{
	ID self = -1;

	expect(sns_ctx() && sns_dpn() && !sns_loc() && !sns_dsp());
	expect(iget_tid(&self) == E_OK && self == TSK_MAIN);
	expect_no_call();
	expect(loc_cpu() == E_CTX && unl_cpu() == E_CTX);
	expect(iloc_cpu() == E_OK && sns_loc());
	expect_no_handler_call();
	expect(iunl_cpu() == E_OK && !sns_loc());
	expect(iact_tsk(TSK_SELF) == E_ID && irot_rdq(TPRI_SELF) == E_PAR);
	expect(iwup_tsk(TSK_SELF) == E_ID && irel_wai(TSK_MAIN) == E_OBJ);
	expect(iact_tsk(TSK_HIGH) == E_OK && iact_tsk(TSK_HIGH) == E_OK);
	trace('c'); /* and the dispatch comes later */
}

static void objects_in_handler(void)
{
	expect(isig_sem(SEM_FIFO) == E_OK && iset_flg(FLG_MANY, 0x100) == E_OK);
	expect(ipsnd_dtq(DTQ_TWO, (VP_INT)1) == E_OK && ipsnd_dtq(DTQ_TWO, (VP_INT)2) == E_OK);
	expect(ipsnd_dtq(DTQ_TWO, (VP_INT)3) == E_TMOUT && ifsnd_dtq(DTQ_TWO, (VP_INT)3) == E_OK);
	expect(iwup_tsk(TSK_MAIN) == E_OK && ifsnd_dtq(DTQ_NONE, NULL) == E_ILUSE);
}

/* The same while dispatching is disabled in the task. */
static void work_disabled(void)
{
	expect(sns_dsp() && iact_tsk(TSK_HIGH) == E_OK);
	trace('d');
}

static void check_handlers(void)
{
	FLGPTN pattern;
	VP_INT data;

	helper_set(TSK_HIGH, note_high);
	in_handler(work_in_handler);
	expect(traced("chh"));
	in_handler(objects_in_handler);
	expect(pol_sem(SEM_FIFO) == E_OK && pol_flg(FLG_MANY, 0x100, 0, &pattern) == E_OK);
	expect(prcv_dtq(DTQ_TWO, &data) == E_OK && data == (VP_INT)2);
	expect(prcv_dtq(DTQ_TWO, &data) == E_OK && data == (VP_INT)3);
	expect(can_wup(TSK_SELF) == 1);
	expect(dis_dsp() == E_OK);
	in_handler(work_disabled);
	expect(traced("d") && ena_dsp() == E_OK && traced("h"));
}

static void raise_exception(void)
{
	__asm__ volatile("ud2");
}

static void wake_in_exception(void)
{
	expect(iact_tsk(TSK_HIGH) == E_OK);
}

static void exception_in_handler(void)
{
	trace('i');
	raise_exception();
	trace('j');
	expect(sns_ctx());
}

static void check_cpu_exceptions(void)
{
	exception_handler_work = NULL;
	raise_exception();
	expect(traced("X") && !sns_ctx() && dly_tsk(1) == E_OK);
	exception_handler_work = wake_in_exception;
	raise_exception();
	expect(traced("Xh"));
	loc_cpu();
	raise_exception();
	expect(sns_loc() && traced("X")); /* which keeps the CPU locked */
	unl_cpu();
	expect(traced("h"));
	exception_handler_work = NULL;
	in_handler(exception_in_handler);
	expect(traced("iXj"));
}

static void check_time(void)
{
	SYSTIM time = 0xfffffff0, before;
	UINT count;

	get_tim(&before);
	expect(set_tim(&time) == E_OK && dly_tsk(30) == E_OK && get_tim(&time) == E_OK);
	expect(time == 15); /* it wraps, and relative times go on */
	before += 31;
	set_tim(&before);
	cyclic_counted = 0;
	expect(sta_cyc(CYC_THREE) == E_OK && dly_tsk(2) == E_OK && cyclic_counted == 0);
	dly_tsk(9); /* 13 ticks since: at the 4th, 7th, 10th and 13th */
	count = cyclic_counted;
	expect(count == 4 && stp_cyc(CYC_THREE) == E_OK);
	dly_tsk(9);
	expect(cyclic_counted == count && stp_cyc(9) == E_ID);
	expect(sta_cyc(CYC_THREE) == E_OK && dly_tsk(1) == E_OK);
	expect(sta_cyc(CYC_THREE) == E_OK && dly_tsk(1) == E_OK); /* begins anew */
	expect(cyclic_counted == count && stp_cyc(CYC_THREE) == E_OK);
	/* With TA_PHS the phase stays, however often it is started and stopped. */
	for (count = cyclic_phases; cyclic_phases == count;)
		dly_tsk(0);
	get_tim(&before);
	expect(stp_cyc(CYC_PHASE) == E_OK && dly_tsk(25) == E_OK && cyclic_phases == count + 1);
	expect(sta_cyc(CYC_PHASE) == E_OK);
	while (cyclic_phases == count + 1)
		dly_tsk(0);
	get_tim(&time);
	expect(time - before == 30);
}

void check_contexts(void)
{
	check_lock();
	check_dispatch();
	check_end();
	check_handlers();
	check_cpu_exceptions();
	check_time();
}
