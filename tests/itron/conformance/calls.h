/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 70 service calls of the Standard Profile: from where each may be called, how the suite does
 * that, and which results it has to give at least once, and no others, while the suite runs.
 * Every call that the suite makes goes through a macro of this file that notes its result and
 * where it was made. test_conformance.py reads the table and the notes, too.
 *
 *	CALL(name, place, objects, arguments, results)
 *
 * E_CTX is not among the results: `place` says where it has to come. Results that the specification
 * names and that are not in the table:
 *
 *	E_SYS, E_NOSPT, E_RSFN, E_MACV, E_OACV	every call is there, and memory and objects are not
 *			protected from tasks
 *	E_NOMEM, E_NOID, E_DLT	objects are made before the start and never deleted
 *	E_RSATR		the configurator finds it
 *	E_PAR		for pointers that lead nowhere and for the time of set_tim, where all are
 *			valid
 */
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel.h"
#include "tap.h"

/* From where a call is made. */
enum state { STATE_TASK, STATE_DISABLED, STATE_LOCKED, STATE_HANDLER, STATE_HANDLER_LOCKED };
#define STATES 5

/* What a call may be made from; calls.c says which states these are. */
enum place {
	PLACE_TASK,    /* tasks, also with dispatching disabled */
	PLACE_WAIT,    /* the same, but it could wait: not with dispatching disabled */
	PLACE_MIXED,   /* the same, but its arguments may say that it does not wait */
	PLACE_HANDLER, /* handlers */
	PLACE_ANY,
	PLACE_LOCK,  /* tasks, also with the CPU locked */
	PLACE_ILOCK, /* handlers, also with the CPU locked */
	PLACE_END,   /* as LOCK, and the suite makes it in no handler */
};

/* Results as bits. One that is 0 or a count is OK; of a BOOL, FALSE is NO and TRUE is YES. */
#define OK (1U << 0)
#define PAR (1U << 1)
#define BAD_ID (1U << 2)
#define CTX (1U << 3)
#define ILUSE (1U << 4)
#define OBJ (1U << 5)
#define NOEXS (1U << 6)
#define QOVR (1U << 7)
#define RLWAI (1U << 8)
#define TMOUT (1U << 9)
#define OTHER (1U << 10)
#define NO (1U << 11)
#define YES (1U << 12)

/* Objects: their first one has the ID 1, and the ID below their highest is in a gap. */
enum objects { NONE, TASKS, TASKS_OR_SELF, SEMAPHORES, FLAGS, QUEUES, MAILBOXES, POOLS, CYCLICS };
#define NAMED (OK | BAD_ID | NOEXS)

/* Calls with the ID of an object. */
#define OBJECT_CALLS(CALL) \
	CALL(act_tsk, TASK, TASKS_OR_SELF, (id), NAMED | QOVR) \
	CALL(iact_tsk, HANDLER, TASKS, (id), NAMED | QOVR) \
	CALL(can_act, TASK, TASKS_OR_SELF, (id), NAMED) \
	CALL(ter_tsk, TASK, TASKS, (id), NAMED | OBJ | ILUSE) \
	CALL(chg_pri, TASK, TASKS_OR_SELF, (id, MAIN_PRIORITY), NAMED | OBJ | PAR) \
	CALL(get_pri, TASK, TASKS_OR_SELF, (id, &priority), NAMED | OBJ) \
	CALL(wup_tsk, TASK, TASKS_OR_SELF, (id), NAMED | OBJ | QOVR) \
	CALL(iwup_tsk, HANDLER, TASKS, (id), NAMED | OBJ | QOVR) \
	CALL(can_wup, TASK, TASKS_OR_SELF, (id), NAMED | OBJ) \
	CALL(rel_wai, TASK, TASKS, (id), NAMED | OBJ) \
	CALL(irel_wai, HANDLER, TASKS, (id), NAMED | OBJ) \
	CALL(sus_tsk, MIXED, TASKS_OR_SELF, (id), NAMED | OBJ | QOVR) \
	CALL(rsm_tsk, TASK, TASKS, (id), NAMED | OBJ) \
	CALL(frsm_tsk, TASK, TASKS, (id), NAMED | OBJ) \
	CALL(ras_tex, TASK, TASKS_OR_SELF, (id, 1), NAMED | OBJ | PAR) \
	CALL(iras_tex, HANDLER, TASKS, (id, 1), NAMED | OBJ | PAR) \
	CALL(sig_sem, TASK, SEMAPHORES, (id), NAMED | QOVR) \
	CALL(isig_sem, HANDLER, SEMAPHORES, (id), NAMED | QOVR) \
	CALL(wai_sem, WAIT, SEMAPHORES, (id), NAMED | RLWAI) \
	CALL(pol_sem, TASK, SEMAPHORES, (id), NAMED | TMOUT) \
	CALL(twai_sem, MIXED, SEMAPHORES, (id, 1), NAMED | PAR | RLWAI | TMOUT) \
	CALL(set_flg, TASK, FLAGS, (id, 1), NAMED) \
	CALL(iset_flg, HANDLER, FLAGS, (id, 1), NAMED) \
	CALL(clr_flg, TASK, FLAGS, (id, 0), NAMED) \
	CALL(wai_flg, WAIT, FLAGS, (id, 1, TWF_ORW, &pattern), NAMED | PAR | ILUSE | RLWAI) \
	CALL(pol_flg, TASK, FLAGS, (id, 1, TWF_ORW, &pattern), NAMED | PAR | ILUSE | TMOUT) \
	CALL(twai_flg, MIXED, FLAGS, (id, 1, TWF_ORW, &pattern, 1), \
	     NAMED | PAR | ILUSE | RLWAI | TMOUT) \
	CALL(snd_dtq, WAIT, QUEUES, (id, NULL), NAMED | RLWAI) \
	CALL(psnd_dtq, TASK, QUEUES, (id, NULL), NAMED | TMOUT) \
	CALL(ipsnd_dtq, HANDLER, QUEUES, (id, NULL), NAMED | TMOUT) \
	CALL(tsnd_dtq, MIXED, QUEUES, (id, NULL, 1), NAMED | PAR | RLWAI | TMOUT) \
	CALL(fsnd_dtq, TASK, QUEUES, (id, NULL), NAMED | ILUSE) \
	CALL(ifsnd_dtq, HANDLER, QUEUES, (id, NULL), NAMED | ILUSE) \
	CALL(rcv_dtq, WAIT, QUEUES, (id, &data), NAMED | RLWAI) \
	CALL(prcv_dtq, TASK, QUEUES, (id, &data), NAMED | TMOUT) \
	CALL(trcv_dtq, MIXED, QUEUES, (id, &data, 1), NAMED | PAR | RLWAI | TMOUT) \
	CALL(snd_mbx, TASK, MAILBOXES, (id, NULL), NAMED | PAR) \
	CALL(rcv_mbx, WAIT, MAILBOXES, (id, &message), NAMED | RLWAI) \
	CALL(prcv_mbx, TASK, MAILBOXES, (id, &message), NAMED | TMOUT) \
	CALL(trcv_mbx, MIXED, MAILBOXES, (id, &message, 1), NAMED | PAR | RLWAI | TMOUT) \
	CALL(get_mpf, WAIT, POOLS, (id, &data), NAMED | RLWAI) \
	CALL(pget_mpf, TASK, POOLS, (id, &data), NAMED | TMOUT) \
	CALL(tget_mpf, MIXED, POOLS, (id, &data, 1), NAMED | PAR | RLWAI | TMOUT) \
	CALL(rel_mpf, TASK, POOLS, (id, NULL), NAMED | PAR) \
	CALL(sta_cyc, TASK, CYCLICS, (id), NAMED) \
	CALL(stp_cyc, TASK, CYCLICS, (id), NAMED)

/* The others, but for ext_tsk. */
#define PLAIN_CALLS(CALL) \
	CALL(slp_tsk, WAIT, NONE, (), OK | RLWAI) \
	CALL(tslp_tsk, MIXED, NONE, (1), OK | PAR | RLWAI | TMOUT) \
	CALL(dly_tsk, WAIT, NONE, (1), OK | PAR | RLWAI) \
	CALL(dis_tex, TASK, NONE, (), OK | OBJ) \
	CALL(ena_tex, TASK, NONE, (), OK | OBJ) \
	CALL(sns_tex, ANY, NONE, (), NO | YES) \
	CALL(set_tim, TASK, NONE, (&time), OK) \
	CALL(get_tim, TASK, NONE, (&time), OK) \
	CALL(isig_tim, HANDLER, NONE, (), OK) \
	CALL(rot_rdq, TASK, NONE, (TPRI_SELF), OK | PAR) \
	CALL(irot_rdq, HANDLER, NONE, (MAIN_PRIORITY), OK | PAR) \
	CALL(get_tid, TASK, NONE, (&task), OK) \
	CALL(iget_tid, HANDLER, NONE, (&task), OK) \
	CALL(loc_cpu, LOCK, NONE, (), OK) \
	CALL(iloc_cpu, ILOCK, NONE, (), OK) \
	CALL(unl_cpu, LOCK, NONE, (), OK) \
	CALL(iunl_cpu, ILOCK, NONE, (), OK) \
	CALL(dis_dsp, TASK, NONE, (), OK) \
	CALL(ena_dsp, TASK, NONE, (), OK) \
	CALL(sns_ctx, ANY, NONE, (), NO | YES) \
	CALL(sns_loc, ANY, NONE, (), NO | YES) \
	CALL(sns_dsp, ANY, NONE, (), NO | YES) \
	CALL(sns_dpn, ANY, NONE, (), NO | YES)

/* Never returns: that it is made counts as OK. */
#define ENDING_CALLS(CALL) CALL(ext_tsk, END, NONE, (), OK)

#define ALL_CALLS(CALL) OBJECT_CALLS(CALL) PLAIN_CALLS(CALL) ENDING_CALLS(CALL)

enum call {
#define CALL_NUMBER(name, place, objects, arguments, results) CALL_##name,
	ALL_CALLS(CALL_NUMBER)
#undef CALL_NUMBER
	CALLS
};

/* From where a call would be made now; what is true in the middle of a call is not asked. */
enum state state_now(void);

/* Note a result and return it. */
ER_UINT call_noted(enum call call, enum state state, ER_UINT result);
BOOL sense_noted(enum call call, enum state state, BOOL result);

/* That wrong IDs and wrong contexts are found, for each call; and, last of all, that each call
 * has given all of its results and no other. */
extern const struct tap_group identifier_tests, context_tests, result_tests;

/* A function's name in a macro of the same name is not replaced again. */
#define NOTED(name, call) \
	({ \
		enum state state_of_##name = state_now(); \
		call_noted(CALL_##name, state_of_##name, call); \
	})
#define SENSED(name, call) \
	({ \
		enum state state_of_##name = state_now(); \
		sense_noted(CALL_##name, state_of_##name, call); \
	})

#define act_tsk(...) NOTED(act_tsk, act_tsk(__VA_ARGS__))
#define iact_tsk(...) NOTED(iact_tsk, iact_tsk(__VA_ARGS__))
#define can_act(...) NOTED(can_act, can_act(__VA_ARGS__))
#define ter_tsk(...) NOTED(ter_tsk, ter_tsk(__VA_ARGS__))
#define chg_pri(...) NOTED(chg_pri, chg_pri(__VA_ARGS__))
#define get_pri(...) NOTED(get_pri, get_pri(__VA_ARGS__))
#define slp_tsk() NOTED(slp_tsk, slp_tsk())
#define tslp_tsk(...) NOTED(tslp_tsk, tslp_tsk(__VA_ARGS__))
#define wup_tsk(...) NOTED(wup_tsk, wup_tsk(__VA_ARGS__))
#define iwup_tsk(...) NOTED(iwup_tsk, iwup_tsk(__VA_ARGS__))
#define can_wup(...) NOTED(can_wup, can_wup(__VA_ARGS__))
#define rel_wai(...) NOTED(rel_wai, rel_wai(__VA_ARGS__))
#define irel_wai(...) NOTED(irel_wai, irel_wai(__VA_ARGS__))
#define sus_tsk(...) NOTED(sus_tsk, sus_tsk(__VA_ARGS__))
#define rsm_tsk(...) NOTED(rsm_tsk, rsm_tsk(__VA_ARGS__))
#define frsm_tsk(...) NOTED(frsm_tsk, frsm_tsk(__VA_ARGS__))
#define dly_tsk(...) NOTED(dly_tsk, dly_tsk(__VA_ARGS__))
#define ras_tex(...) NOTED(ras_tex, ras_tex(__VA_ARGS__))
#define iras_tex(...) NOTED(iras_tex, iras_tex(__VA_ARGS__))
#define dis_tex() NOTED(dis_tex, dis_tex())
#define ena_tex() NOTED(ena_tex, ena_tex())
#define sns_tex() SENSED(sns_tex, sns_tex())
#define sig_sem(...) NOTED(sig_sem, sig_sem(__VA_ARGS__))
#define isig_sem(...) NOTED(isig_sem, isig_sem(__VA_ARGS__))
#define wai_sem(...) NOTED(wai_sem, wai_sem(__VA_ARGS__))
#define pol_sem(...) NOTED(pol_sem, pol_sem(__VA_ARGS__))
#define twai_sem(...) NOTED(twai_sem, twai_sem(__VA_ARGS__))
#define set_flg(...) NOTED(set_flg, set_flg(__VA_ARGS__))
#define iset_flg(...) NOTED(iset_flg, iset_flg(__VA_ARGS__))
#define clr_flg(...) NOTED(clr_flg, clr_flg(__VA_ARGS__))
#define wai_flg(...) NOTED(wai_flg, wai_flg(__VA_ARGS__))
#define pol_flg(...) NOTED(pol_flg, pol_flg(__VA_ARGS__))
#define twai_flg(...) NOTED(twai_flg, twai_flg(__VA_ARGS__))
#define snd_dtq(...) NOTED(snd_dtq, snd_dtq(__VA_ARGS__))
#define psnd_dtq(...) NOTED(psnd_dtq, psnd_dtq(__VA_ARGS__))
#define ipsnd_dtq(...) NOTED(ipsnd_dtq, ipsnd_dtq(__VA_ARGS__))
#define tsnd_dtq(...) NOTED(tsnd_dtq, tsnd_dtq(__VA_ARGS__))
#define fsnd_dtq(...) NOTED(fsnd_dtq, fsnd_dtq(__VA_ARGS__))
#define ifsnd_dtq(...) NOTED(ifsnd_dtq, ifsnd_dtq(__VA_ARGS__))
#define rcv_dtq(...) NOTED(rcv_dtq, rcv_dtq(__VA_ARGS__))
#define prcv_dtq(...) NOTED(prcv_dtq, prcv_dtq(__VA_ARGS__))
#define trcv_dtq(...) NOTED(trcv_dtq, trcv_dtq(__VA_ARGS__))
#define snd_mbx(...) NOTED(snd_mbx, snd_mbx(__VA_ARGS__))
#define rcv_mbx(...) NOTED(rcv_mbx, rcv_mbx(__VA_ARGS__))
#define prcv_mbx(...) NOTED(prcv_mbx, prcv_mbx(__VA_ARGS__))
#define trcv_mbx(...) NOTED(trcv_mbx, trcv_mbx(__VA_ARGS__))
#define get_mpf(...) NOTED(get_mpf, get_mpf(__VA_ARGS__))
#define pget_mpf(...) NOTED(pget_mpf, pget_mpf(__VA_ARGS__))
#define tget_mpf(...) NOTED(tget_mpf, tget_mpf(__VA_ARGS__))
#define rel_mpf(...) NOTED(rel_mpf, rel_mpf(__VA_ARGS__))
#define set_tim(...) NOTED(set_tim, set_tim(__VA_ARGS__))
#define get_tim(...) NOTED(get_tim, get_tim(__VA_ARGS__))
#define isig_tim() NOTED(isig_tim, isig_tim())
#define sta_cyc(...) NOTED(sta_cyc, sta_cyc(__VA_ARGS__))
#define stp_cyc(...) NOTED(stp_cyc, stp_cyc(__VA_ARGS__))
#define rot_rdq(...) NOTED(rot_rdq, rot_rdq(__VA_ARGS__))
#define irot_rdq(...) NOTED(irot_rdq, irot_rdq(__VA_ARGS__))
#define get_tid(...) NOTED(get_tid, get_tid(__VA_ARGS__))
#define iget_tid(...) NOTED(iget_tid, iget_tid(__VA_ARGS__))
#define loc_cpu() NOTED(loc_cpu, loc_cpu())
#define iloc_cpu() NOTED(iloc_cpu, iloc_cpu())
#define unl_cpu() NOTED(unl_cpu, unl_cpu())
#define iunl_cpu() NOTED(iunl_cpu, iunl_cpu())
#define dis_dsp() NOTED(dis_dsp, dis_dsp())
#define ena_dsp() NOTED(ena_dsp, ena_dsp())
#define sns_ctx() SENSED(sns_ctx, sns_ctx())
#define sns_loc() SENSED(sns_loc, sns_loc())
#define sns_dsp() SENSED(sns_dsp, sns_dsp())
#define sns_dpn() SENSED(sns_dpn, sns_dpn())
#define ext_tsk() (call_noted(CALL_ext_tsk, state_now(), E_OK), ext_tsk())

#endif
