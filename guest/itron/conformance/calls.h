/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 70 service calls of the Standard Profile with the results that each has
 * to give at least once while the suite runs: that none is forgotten. Every call
 * of the suite's goes through a macro that notes its result.
 */
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "itron.h"
#include "kernel.h"

/* Results, as bits. A result that is 0 or a count is OK; of the calls that return a
 * BOOL, FALSE is NO and TRUE is YES. */
#define SEEN_OK (1 << 0)
#define SEEN_PAR (1 << 1)
#define SEEN_ID (1 << 2)
#define SEEN_CTX (1 << 3)
#define SEEN_ILUSE (1 << 4)
#define SEEN_OBJ (1 << 5)
#define SEEN_QOVR (1 << 6)
#define SEEN_RLWAI (1 << 7)
#define SEEN_TMOUT (1 << 8)
#define SEEN_OTHER (1 << 9)
#define SEEN_NO (1 << 10)
#define SEEN_YES (1 << 11)

/* What a call gives where it must not be made, and for an object that is not there. */
#define SEEN_ALWAYS (SEEN_OK | SEEN_CTX)
#define SEEN_OBJECT (SEEN_ALWAYS | SEEN_ID)
#define SEEN_BOOL (SEEN_NO | SEEN_YES)

#define CALLS(CALL) \
	CALL(act_tsk, SEEN_OBJECT | SEEN_QOVR) \
	CALL(iact_tsk, SEEN_OBJECT | SEEN_QOVR) \
	CALL(can_act, SEEN_OBJECT) \
	CALL(ter_tsk, SEEN_OBJECT | SEEN_OBJ | SEEN_ILUSE) \
	CALL(chg_pri, SEEN_OBJECT | SEEN_OBJ | SEEN_PAR) \
	CALL(get_pri, SEEN_OBJECT | SEEN_OBJ) \
	CALL(slp_tsk, SEEN_ALWAYS | SEEN_RLWAI) \
	CALL(tslp_tsk, SEEN_ALWAYS | SEEN_RLWAI | SEEN_TMOUT | SEEN_PAR) \
	CALL(wup_tsk, SEEN_OBJECT | SEEN_OBJ | SEEN_QOVR) \
	CALL(iwup_tsk, SEEN_OBJECT | SEEN_OBJ | SEEN_QOVR) \
	CALL(can_wup, SEEN_OBJECT | SEEN_OBJ) \
	CALL(rel_wai, SEEN_OBJECT | SEEN_OBJ) \
	CALL(irel_wai, SEEN_OBJECT | SEEN_OBJ) \
	CALL(sus_tsk, SEEN_OBJECT | SEEN_OBJ | SEEN_QOVR) \
	CALL(rsm_tsk, SEEN_OBJECT | SEEN_OBJ) \
	CALL(frsm_tsk, SEEN_OBJECT | SEEN_OBJ) \
	CALL(dly_tsk, SEEN_ALWAYS | SEEN_RLWAI | SEEN_PAR) \
	CALL(ras_tex, SEEN_OBJECT | SEEN_OBJ | SEEN_PAR) \
	CALL(iras_tex, SEEN_OBJECT | SEEN_OBJ | SEEN_PAR) \
	CALL(dis_tex, SEEN_ALWAYS | SEEN_OBJ) \
	CALL(ena_tex, SEEN_ALWAYS | SEEN_OBJ) \
	CALL(sns_tex, SEEN_BOOL) \
	CALL(sig_sem, SEEN_OBJECT | SEEN_QOVR) \
	CALL(isig_sem, SEEN_OBJECT | SEEN_QOVR) \
	CALL(wai_sem, SEEN_OBJECT | SEEN_RLWAI) \
	CALL(pol_sem, SEEN_OBJECT | SEEN_TMOUT) \
	CALL(twai_sem, SEEN_OBJECT | SEEN_RLWAI | SEEN_TMOUT | SEEN_PAR) \
	CALL(set_flg, SEEN_OBJECT) \
	CALL(iset_flg, SEEN_OBJECT) \
	CALL(clr_flg, SEEN_OBJECT) \
	CALL(wai_flg, SEEN_OBJECT | SEEN_PAR | SEEN_ILUSE | SEEN_RLWAI) \
	CALL(pol_flg, SEEN_OBJECT | SEEN_PAR | SEEN_ILUSE | SEEN_TMOUT) \
	CALL(twai_flg, SEEN_OBJECT | SEEN_PAR | SEEN_ILUSE | SEEN_RLWAI | SEEN_TMOUT) \
	CALL(snd_dtq, SEEN_OBJECT | SEEN_RLWAI) \
	CALL(psnd_dtq, SEEN_OBJECT | SEEN_TMOUT) \
	CALL(ipsnd_dtq, SEEN_OBJECT | SEEN_TMOUT) \
	CALL(tsnd_dtq, SEEN_OBJECT | SEEN_PAR | SEEN_RLWAI | SEEN_TMOUT) \
	CALL(fsnd_dtq, SEEN_OBJECT | SEEN_ILUSE) \
	CALL(ifsnd_dtq, SEEN_OBJECT | SEEN_ILUSE) \
	CALL(rcv_dtq, SEEN_OBJECT | SEEN_RLWAI) \
	CALL(prcv_dtq, SEEN_OBJECT | SEEN_TMOUT) \
	CALL(trcv_dtq, SEEN_OBJECT | SEEN_PAR | SEEN_RLWAI | SEEN_TMOUT) \
	CALL(snd_mbx, SEEN_OBJECT | SEEN_PAR) \
	CALL(rcv_mbx, SEEN_OBJECT | SEEN_RLWAI) \
	CALL(prcv_mbx, SEEN_OBJECT | SEEN_TMOUT) \
	CALL(trcv_mbx, SEEN_OBJECT | SEEN_PAR | SEEN_RLWAI | SEEN_TMOUT) \
	CALL(get_mpf, SEEN_OBJECT | SEEN_RLWAI) \
	CALL(pget_mpf, SEEN_OBJECT | SEEN_TMOUT) \
	CALL(tget_mpf, SEEN_OBJECT | SEEN_PAR | SEEN_RLWAI | SEEN_TMOUT) \
	CALL(rel_mpf, SEEN_OBJECT | SEEN_PAR) \
	CALL(set_tim, SEEN_ALWAYS) \
	CALL(get_tim, SEEN_ALWAYS) \
	CALL(isig_tim, SEEN_ALWAYS) \
	CALL(sta_cyc, SEEN_OBJECT) \
	CALL(stp_cyc, SEEN_OBJECT) \
	CALL(rot_rdq, SEEN_ALWAYS | SEEN_PAR) \
	CALL(irot_rdq, SEEN_ALWAYS | SEEN_PAR) \
	CALL(get_tid, SEEN_ALWAYS) \
	CALL(iget_tid, SEEN_ALWAYS) \
	CALL(loc_cpu, SEEN_ALWAYS) \
	CALL(iloc_cpu, SEEN_ALWAYS) \
	CALL(unl_cpu, SEEN_ALWAYS) \
	CALL(iunl_cpu, SEEN_ALWAYS) \
	CALL(dis_dsp, SEEN_ALWAYS) \
	CALL(ena_dsp, SEEN_ALWAYS) \
	CALL(sns_ctx, SEEN_BOOL) \
	CALL(sns_loc, SEEN_BOOL) \
	CALL(sns_dsp, SEEN_BOOL) \
	CALL(sns_dpn, SEEN_BOOL)

enum call {
#define CALL_NUMBER(name, results) CALL_##name,
	CALLS(CALL_NUMBER)
#undef CALL_NUMBER
	CALL_COUNT
};

/* Note a result; both return it. */
ER_UINT call_noted(enum call call, ER_UINT result);
BOOL sense_noted(enum call call, BOOL result);

#define act_tsk(...) call_noted(CALL_act_tsk, act_tsk(__VA_ARGS__))
#define iact_tsk(...) call_noted(CALL_iact_tsk, iact_tsk(__VA_ARGS__))
#define can_act(...) call_noted(CALL_can_act, can_act(__VA_ARGS__))
#define ter_tsk(...) call_noted(CALL_ter_tsk, ter_tsk(__VA_ARGS__))
#define chg_pri(...) call_noted(CALL_chg_pri, chg_pri(__VA_ARGS__))
#define get_pri(...) call_noted(CALL_get_pri, get_pri(__VA_ARGS__))
#define slp_tsk(...) call_noted(CALL_slp_tsk, slp_tsk(__VA_ARGS__))
#define tslp_tsk(...) call_noted(CALL_tslp_tsk, tslp_tsk(__VA_ARGS__))
#define wup_tsk(...) call_noted(CALL_wup_tsk, wup_tsk(__VA_ARGS__))
#define iwup_tsk(...) call_noted(CALL_iwup_tsk, iwup_tsk(__VA_ARGS__))
#define can_wup(...) call_noted(CALL_can_wup, can_wup(__VA_ARGS__))
#define rel_wai(...) call_noted(CALL_rel_wai, rel_wai(__VA_ARGS__))
#define irel_wai(...) call_noted(CALL_irel_wai, irel_wai(__VA_ARGS__))
#define sus_tsk(...) call_noted(CALL_sus_tsk, sus_tsk(__VA_ARGS__))
#define rsm_tsk(...) call_noted(CALL_rsm_tsk, rsm_tsk(__VA_ARGS__))
#define frsm_tsk(...) call_noted(CALL_frsm_tsk, frsm_tsk(__VA_ARGS__))
#define dly_tsk(...) call_noted(CALL_dly_tsk, dly_tsk(__VA_ARGS__))
#define ras_tex(...) call_noted(CALL_ras_tex, ras_tex(__VA_ARGS__))
#define iras_tex(...) call_noted(CALL_iras_tex, iras_tex(__VA_ARGS__))
#define dis_tex(...) call_noted(CALL_dis_tex, dis_tex(__VA_ARGS__))
#define ena_tex(...) call_noted(CALL_ena_tex, ena_tex(__VA_ARGS__))
#define sns_tex(...) sense_noted(CALL_sns_tex, sns_tex(__VA_ARGS__))
#define sig_sem(...) call_noted(CALL_sig_sem, sig_sem(__VA_ARGS__))
#define isig_sem(...) call_noted(CALL_isig_sem, isig_sem(__VA_ARGS__))
#define wai_sem(...) call_noted(CALL_wai_sem, wai_sem(__VA_ARGS__))
#define pol_sem(...) call_noted(CALL_pol_sem, pol_sem(__VA_ARGS__))
#define twai_sem(...) call_noted(CALL_twai_sem, twai_sem(__VA_ARGS__))
#define set_flg(...) call_noted(CALL_set_flg, set_flg(__VA_ARGS__))
#define iset_flg(...) call_noted(CALL_iset_flg, iset_flg(__VA_ARGS__))
#define clr_flg(...) call_noted(CALL_clr_flg, clr_flg(__VA_ARGS__))
#define wai_flg(...) call_noted(CALL_wai_flg, wai_flg(__VA_ARGS__))
#define pol_flg(...) call_noted(CALL_pol_flg, pol_flg(__VA_ARGS__))
#define twai_flg(...) call_noted(CALL_twai_flg, twai_flg(__VA_ARGS__))
#define snd_dtq(...) call_noted(CALL_snd_dtq, snd_dtq(__VA_ARGS__))
#define psnd_dtq(...) call_noted(CALL_psnd_dtq, psnd_dtq(__VA_ARGS__))
#define ipsnd_dtq(...) call_noted(CALL_ipsnd_dtq, ipsnd_dtq(__VA_ARGS__))
#define tsnd_dtq(...) call_noted(CALL_tsnd_dtq, tsnd_dtq(__VA_ARGS__))
#define fsnd_dtq(...) call_noted(CALL_fsnd_dtq, fsnd_dtq(__VA_ARGS__))
#define ifsnd_dtq(...) call_noted(CALL_ifsnd_dtq, ifsnd_dtq(__VA_ARGS__))
#define rcv_dtq(...) call_noted(CALL_rcv_dtq, rcv_dtq(__VA_ARGS__))
#define prcv_dtq(...) call_noted(CALL_prcv_dtq, prcv_dtq(__VA_ARGS__))
#define trcv_dtq(...) call_noted(CALL_trcv_dtq, trcv_dtq(__VA_ARGS__))
#define snd_mbx(...) call_noted(CALL_snd_mbx, snd_mbx(__VA_ARGS__))
#define rcv_mbx(...) call_noted(CALL_rcv_mbx, rcv_mbx(__VA_ARGS__))
#define prcv_mbx(...) call_noted(CALL_prcv_mbx, prcv_mbx(__VA_ARGS__))
#define trcv_mbx(...) call_noted(CALL_trcv_mbx, trcv_mbx(__VA_ARGS__))
#define get_mpf(...) call_noted(CALL_get_mpf, get_mpf(__VA_ARGS__))
#define pget_mpf(...) call_noted(CALL_pget_mpf, pget_mpf(__VA_ARGS__))
#define tget_mpf(...) call_noted(CALL_tget_mpf, tget_mpf(__VA_ARGS__))
#define rel_mpf(...) call_noted(CALL_rel_mpf, rel_mpf(__VA_ARGS__))
#define set_tim(...) call_noted(CALL_set_tim, set_tim(__VA_ARGS__))
#define get_tim(...) call_noted(CALL_get_tim, get_tim(__VA_ARGS__))
#define isig_tim(...) call_noted(CALL_isig_tim, isig_tim(__VA_ARGS__))
#define sta_cyc(...) call_noted(CALL_sta_cyc, sta_cyc(__VA_ARGS__))
#define stp_cyc(...) call_noted(CALL_stp_cyc, stp_cyc(__VA_ARGS__))
#define rot_rdq(...) call_noted(CALL_rot_rdq, rot_rdq(__VA_ARGS__))
#define irot_rdq(...) call_noted(CALL_irot_rdq, irot_rdq(__VA_ARGS__))
#define get_tid(...) call_noted(CALL_get_tid, get_tid(__VA_ARGS__))
#define iget_tid(...) call_noted(CALL_iget_tid, iget_tid(__VA_ARGS__))
#define loc_cpu(...) call_noted(CALL_loc_cpu, loc_cpu(__VA_ARGS__))
#define iloc_cpu(...) call_noted(CALL_iloc_cpu, iloc_cpu(__VA_ARGS__))
#define unl_cpu(...) call_noted(CALL_unl_cpu, unl_cpu(__VA_ARGS__))
#define iunl_cpu(...) call_noted(CALL_iunl_cpu, iunl_cpu(__VA_ARGS__))
#define dis_dsp(...) call_noted(CALL_dis_dsp, dis_dsp(__VA_ARGS__))
#define ena_dsp(...) call_noted(CALL_ena_dsp, ena_dsp(__VA_ARGS__))
#define sns_ctx(...) sense_noted(CALL_sns_ctx, sns_ctx(__VA_ARGS__))
#define sns_loc(...) sense_noted(CALL_sns_loc, sns_loc(__VA_ARGS__))
#define sns_dsp(...) sense_noted(CALL_sns_dsp, sns_dsp(__VA_ARGS__))
#define sns_dpn(...) sense_noted(CALL_sns_dpn, sns_dpn(__VA_ARGS__))

#endif
