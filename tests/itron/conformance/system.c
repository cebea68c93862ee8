/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests: the ready queue, the running task, locked CPU and disabled dispatch, and what the sns_
 * calls say. That all others give E_CTX there is in calls.c.
 */
#include "suite.h"

static void test_rotation(void)
{
	start(TSK_ONE, trace_self);
	start(TSK_TWO, trace_self);
	expect_equal(rot_rdq(TPRI_SELF), E_OK);
	expect(traced("12"));
	start(TSK_ONE, trace_self);
	start(TSK_TWO, trace_self);
	expect_equal(rot_rdq(MAIN_PRIORITY), E_OK);
	expect(traced("12"));
	expect_equal(rot_rdq(TMIN_TPRI), E_OK); /* nobody is there */
	expect_equal(rot_rdq(TMAX_TPRI), E_OK);
	expect_equal(rot_rdq(TMAX_TPRI + 1), E_PAR);
	expect_equal(rot_rdq(-1), E_PAR);
}

/* Among tasks of a priority at which none runs now. */
static void test_rotation_of_others(void)
{
	start(TSK_LOW, trace_self);
	start(TSK_ONE, trace_self);
	start(TSK_TWO, trace_self);
	chg_pri(TSK_ONE, LOW_PRIORITY);
	chg_pri(TSK_TWO, LOW_PRIORITY);
	expect_equal(rot_rdq(LOW_PRIORITY), E_OK);
	expect(traced(""));
	settle();
	expect(traced("12l"));
}

static void rotate_in_handler(void)
{
	expect_equal(irot_rdq(TPRI_SELF), E_PAR);
	expect_equal(irot_rdq(TMAX_TPRI + 1), E_PAR);
	expect_equal(irot_rdq(TMAX_TPRI), E_OK);
	expect_equal(irot_rdq(MAIN_PRIORITY), E_OK);
	trace('x');
}

static void test_rotation_in_handlers(void)
{
	start(TSK_ONE, trace_self);
	in_handler(rotate_in_handler);
	expect(traced("x1"));
	start(TSK_TWO, trace_self);
	in_interrupt(rotate_in_handler);
	expect(traced("x2"));
}

static void test_rotation_disabled(void)
{
	start(TSK_ONE, trace_self);
	dis_dsp();
	expect_equal(rot_rdq(TPRI_SELF), E_OK);
	expect_equal(self(), TSK_MAIN);
	expect(traced(""));
	ena_dsp();
	expect(traced("1"));
}

static ID id_in_handler;

static void id_get(void)
{
	expect_equal(iget_tid(&id_in_handler), E_OK);
}

static void id_get_and_trace(void)
{
	id_get();
	expect(sns_tex()); /* no task runs */
	trace('x');
}

static void trace_id(void)
{
	in_exception(id_get);
	expect_equal(id_in_handler, self());
	trace_self();
}

static void test_identity(void)
{
	ID id;

	expect_equal(get_tid(&id), E_OK);
	expect_equal(id, TSK_MAIN);
	in_handler(id_get);
	expect_equal(id_in_handler, TSK_MAIN);
	in_interrupt(id_get);
	expect_equal(id_in_handler, TSK_MAIN);
	start(TSK_HIGH, trace_id);
	expect(traced("h"));
	handler_begin(id_get_and_trace);
	dly_tsk(3);
	handler_end();
	expect(traced("x"));
	expect_equal(id_in_handler, TSK_NONE);
}

static volatile bool came;

static void come(void)
{
	came = true;
	expect_equal(iact_tsk(TSK_HIGH), E_OK);
}

/* For several milliseconds. */
static void spin(void)
{
	for (volatile UINT i = 0; i < 2000000; i++)
		;
}

static void test_lock(void)
{
	work_set(TSK_HIGH, trace_self);
	came = false;
	expect_equal(loc_cpu(), E_OK);
	expect_equal(loc_cpu(), E_OK); /* does not nest */
	expect_equal(unl_cpu(), E_OK);
	expect_equal(unl_cpu(), E_OK);
	handler_begin(come);
	loc_cpu();
	came = false;
	spin();
	expect(!came && sns_loc());
	expect_equal(unl_cpu(), E_OK);
	while (!came)
		__asm__ volatile("pause");
	handler_end();
	expect(traced("h"));
}

static void test_lock_and_dispatch(void)
{
	dis_dsp();
	expect_equal(unl_cpu(), E_OK); /* is not locked, and stays so */
	loc_cpu();
	expect(sns_loc() && sns_dsp());
	unl_cpu();
	expect(!sns_loc() && sns_dsp());
	start(TSK_HIGH, trace_self);
	expect(traced(""));
	loc_cpu();
	unl_cpu(); /* is no dispatch */
	expect(traced(""));
	expect_equal(ena_dsp(), E_OK);
	expect(traced("h"));
}

static void test_dispatch(void)
{
	expect_equal(dis_dsp(), E_OK);
	expect_equal(dis_dsp(), E_OK); /* does not nest */
	expect_equal(start(TSK_LOW, trace_self), E_OK);
	expect_equal(start(TSK_ONE, trace_self), E_OK);
	expect_equal(start(TSK_HIGH, trace_self), E_OK);
	expect_equal(chg_pri(TSK_SELF, TMAX_TPRI), E_OK);
	in_handler(come);
	in_interrupt(come);
	expect(traced(""));
	expect_equal(ter_tsk(TSK_ONE), E_OK);
	expect_equal(ena_dsp(), E_OK);
	expect(traced("hhhl"));
	expect_equal(ena_dsp(), E_OK);
	expect_equal(chg_pri(TSK_SELF, TPRI_INI), E_OK);
}

/* No time-out is a wait, so that what these calls give is the same. */
static void test_polling_disabled(void)
{
	static T_MSG message;
	FLGPTN pattern;
	VP_INT data;
	T_MSG *received;

	dis_dsp();
	expect_equal(wup_tsk(TSK_SELF), E_OK);
	expect_equal(tslp_tsk(TMO_POL), E_OK);
	expect_equal(twai_sem(SEM_TWO, TMO_POL), E_OK);
	expect_equal(sig_sem(SEM_TWO), E_OK);
	expect_equal(set_flg(FLG_CLEAR, 1), E_OK);
	expect_equal(twai_flg(FLG_CLEAR, 1, TWF_ORW, &pattern, TMO_POL), E_OK);
	expect_equal(tsnd_dtq(DTQ_TWO, NULL, TMO_POL), E_OK);
	expect_equal(trcv_dtq(DTQ_TWO, &data, TMO_POL), E_OK);
	expect_equal(snd_mbx(MBX_FIFO, &message), E_OK);
	expect_equal(trcv_mbx(MBX_FIFO, &received, TMO_POL), E_OK);
	expect_equal(tget_mpf(MPF_TWO, &data, TMO_POL), E_OK);
	expect_equal(rel_mpf(MPF_TWO, data), E_OK);
	ena_dsp();
}

static void sleep_twice(void)
{
	slp_tsk();
	slp_tsk();
	trace_self();
}

static void test_tasks_disabled(void)
{
	start(TSK_HIGH, sleep_twice);
	start(TSK_LOW, trace_self);
	dis_dsp();
	expect_equal(rel_wai(TSK_HIGH), E_OK);
	expect_equal(wup_tsk(TSK_HIGH), E_OK);
	expect_equal(can_wup(TSK_HIGH), 1);
	expect_equal(act_tsk(TSK_HIGH), E_OK);
	expect_equal(can_act(TSK_HIGH), 1);
	expect_equal(sus_tsk(TSK_LOW), E_OK);
	expect_equal(sus_tsk(TSK_LOW), E_OK);
	expect_equal(rsm_tsk(TSK_LOW), E_OK);
	expect_equal(frsm_tsk(TSK_LOW), E_OK);
	expect_equal(ras_tex(TSK_LOW, 1), E_OK);
	ena_dsp();
	expect_equal(wup_tsk(TSK_HIGH), E_OK);
	settle();
	expect(traced("hl"));
}

/* Which of the senses is true in a state. */
static void senses_expect(bool context, bool lock, bool disabled)
{
	expect_equal(sns_ctx(), context);
	expect_equal(sns_loc(), lock);
	expect_equal(sns_dsp(), disabled);
	expect_equal(sns_dpn(), context || lock || disabled);
	expect(sns_tex());
}

static bool dispatch_is_disabled;

static void senses_in_handler(void)
{
	senses_expect(true, false, dispatch_is_disabled);
	expect_equal(iloc_cpu(), E_OK);
	expect_equal(iloc_cpu(), E_OK);
	senses_expect(true, true, dispatch_is_disabled);
	expect_equal(iunl_cpu(), E_OK);
	expect_equal(iunl_cpu(), E_OK);
	senses_expect(true, false, dispatch_is_disabled);
}

static void senses_check(bool disabled)
{
	dispatch_is_disabled = disabled;
	senses_expect(false, false, disabled);
	in_handler(senses_in_handler);
	in_interrupt(senses_in_handler);
	in_exception(senses_in_handler);
	loc_cpu();
	senses_expect(false, true, disabled);
	in_exception(senses_in_handler);
	senses_expect(false, true, disabled);
	unl_cpu();
	senses_expect(false, false, disabled);
}

static void test_senses(void)
{
	senses_check(false);
	dis_dsp();
	senses_check(true);
	ena_dsp();
	senses_check(false);
}

/* A handler may leave the CPU locked; the kernel unlocks it. */
static void lock_in_handler(void)
{
	expect_equal(iloc_cpu(), E_OK);
}

static void test_lock_in_handlers(void)
{
	in_handler(lock_in_handler);
	expect(!sns_loc());
	in_interrupt(lock_in_handler);
	expect(!sns_loc());
	in_exception(lock_in_handler);
	expect(!sns_loc());
	expect_equal(dly_tsk(1), E_OK);
}

static void senses_enabled(void)
{
	expect(!sns_tex());
	iloc_cpu();
	expect(!sns_tex());
	iunl_cpu();
}

static void test_exceptions_sense(void)
{
	ena_tex();
	expect(!sns_tex());
	loc_cpu();
	expect(!sns_tex());
	unl_cpu();
	dis_dsp();
	expect(!sns_tex());
	in_handler(senses_enabled);
	in_interrupt(senses_enabled);
	ena_dsp();
	expect_equal(dis_tex(), E_OK);
}

static void test_exceptions_disabled(void)
{
	dis_dsp();
	expect_equal(ena_tex(), E_OK);
	expect(!sns_tex());
	expect_equal(dis_tex(), E_OK);
	expect(sns_tex());
	ena_dsp();
}

static const struct tap_test tests[] = {
	{ "rot_rdq: among equals", test_rotation },
	{ "rot_rdq: of less urgent tasks", test_rotation_of_others },
	{ "irot_rdq: from both kinds of handlers", test_rotation_in_handlers },
	{ "rot_rdq: with dispatching disabled", test_rotation_disabled },
	{ "get_tid, iget_tid: the running task, or none", test_identity },
	{ "loc_cpu, unl_cpu: no handler comes", test_lock },
	{ "loc_cpu, unl_cpu: with dispatching disabled", test_lock_and_dispatch },
	{ "dis_dsp, ena_dsp: nobody else runs", test_dispatch },
	{ "time-outs with TMO_POL: with dispatching disabled", test_polling_disabled },
	{ "tasks of other priorities: with dispatching disabled", test_tasks_disabled },
	{ "sns_ctx, sns_loc, sns_dsp, sns_dpn: in every state", test_senses },
	{ "iloc_cpu: ends with the handler", test_lock_in_handlers },
	{ "sns_tex: in every state", test_exceptions_sense },
	{ "ena_tex, dis_tex: with dispatching disabled", test_exceptions_disabled },
};

const struct tap_group system_tests = TAP_GROUP(tests);
