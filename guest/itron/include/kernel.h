/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's interface to applications: the service calls of the uITRON 4.0
 * Standard Profile, with the specification's names. What each does is in
 * the specification; what it leaves to the implementation is in docs/itron.md.
 * The objects' IDs are in kernel_id.h, which the configurator writes.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include "itron.h"

typedef UINT TEXPTN; /* task exception factors, a bit each */
typedef UINT FLGPTN; /* event flag, a bit each */
typedef UINT INHNO;  /* interrupt handler number, TMIN_INHNO..TMAX_INHNO */
typedef UINT EXCNO;  /* CPU exception number, 0..TMAX_EXCNO */

/* The head of every message; the application writes nothing in it. */
typedef struct t_msg {
	struct t_msg *next; /* the kernel's, while the message is in a mailbox */
} T_MSG;

/* The head of a message for a mailbox with TA_MPRI. */
typedef struct t_msg_pri {
	T_MSG msgque; /* the kernel's */
	PRI msgpri;   /* TMIN_MPRI..the mailbox's maxmpri; the sender's */
} T_MSG_PRI;

/* Object attributes. */
#define TA_HLNG 0x00U  /* started as a function of C; TA_ASM makes no difference */
#define TA_ASM 0x01U
#define TA_TFIFO 0x00U /* tasks wait in order of arrival */
#define TA_TPRI 0x01U  /* tasks wait in order of priority */
#define TA_MFIFO 0x00U /* messages in order of arrival */
#define TA_MPRI 0x02U  /* messages in order of priority */
#define TA_ACT 0x02U   /* task: activated at the start */
#define TA_WSGL 0x00U  /* event flag: one task may wait */
#define TA_WMUL 0x02U  /* event flag: several tasks may wait */
#define TA_CLR 0x04U   /* event flag: cleared when a task is released */
#define TA_STA 0x02U   /* cyclic handler: operating from the start */
#define TA_PHS 0x04U   /* cyclic handler: keeps its phase when started again */
/* Task, of this implementation: it uses x87 or SSE registers, which the kernel
 * keeps for it in TSZ_FPU bytes of its stack. */
#define TA_FPU 0x100U
#define TSZ_FPU 528U

/* Modes of waiting for an event flag. */
#define TWF_ANDW 0x00U
#define TWF_ORW 0x01U

#define TSK_SELF 0 /* the invoking task */
#define TSK_NONE 0 /* no task */
#define TPRI_SELF 0 /* the invoking task's base priority */
#define TPRI_INI 0 /* the task's initial priority */

#define TMIN_TPRI 1
#define TMAX_TPRI 16
#define TMIN_MPRI 1
#define TMAX_MPRI 16
#define TMAX_ACTCNT 255U
#define TMAX_WUPCNT 255U
#define TMAX_SUSCNT 255U
#define TMAX_MAXSEM 0x7fffffffU
#define TBIT_TEXPTN 32
#define TBIT_FLGPTN 32
#define TIC_NUME 1U /* a tick of the system time is TIC_NUME / TIC_DENO ms */
#define TIC_DENO 1U
#define TMAX_RELTIM 0x7fffffffU

#define TKERNEL_MAKER 0x0000U /* experimental */
#define TKERNEL_PRID 0x0001U
#define TKERNEL_SPVER 0x5403U /* uITRON 4.0, version 4.03 */
#define TKERNEL_PRVER 0x0100U

/*
 * Interrupt handler numbers, the same in both ports: the 8259 pair's interrupts
 * 0 to 15, then the timer, the console and the doorbell (which no Linux rings
 * on a bare PC). The kernel has a handler of its own for the timer, unless the
 * application defines one, which then has to call isig_tim() every millisecond.
 */
#define TMIN_INHNO 32U
#define INHNO_IRQ(line) (TMIN_INHNO + (line))
#define INHNO_TIMER 48U
#define INHNO_CONSOLE 49U
#define INHNO_DOORBELL 50U
#define TMAX_INHNO 50U
#define TMAX_EXCNO 31U /* the CPU's exception vectors */

/* The smallest stack of a task, without TSZ_FPU, and what the size and the
 * address of every stack are a multiple of. Beside the task's own frames it has
 * room for those of 6 interrupts that waited at once, as when the guest was
 * paused: each that is taken when the flag is set again leaves 52 bytes there
 * until the last one is done. The timer, the console and the doorbell are 3. A
 * guest with more than 3 lines needs 52 more for each, in every task's stack. */
#define TMIN_STKSZ 512U
#define TALIGN_STK 16U

/* Bytes that an object with these parameters needs, and their alignment is 4. */
#define TSZ_DTQ(dtqcnt) ((SIZE)(dtqcnt) * sizeof(VP_INT))
#define TSZ_BLK(blksz) (((SIZE)(blksz) + sizeof(VP) - 1) & ~(sizeof(VP) - 1))
#define TSZ_MPF(blkcnt, blksz) ((SIZE)(blkcnt) * TSZ_BLK(blksz))
#define TSZ_MPRIHD(maxmpri) ((SIZE)0) /* messages are linked in one list */

/*
 * What programs are called with:
 *
 *	task			void task(VP_INT exinf)		may return: ext_tsk()
 *	task exception routine	void texrtn(TEXPTN texptn, VP_INT exinf)
 *	cyclic handler		void cychdr(VP_INT exinf)
 *	interrupt handler	void inthdr(void)
 *	CPU exception handler	void exchdr(T_EXCINF *p_excinf)
 *	initialization routine	void inirtn(VP_INT exinf)
 */
typedef struct t_excinf {
	EXCNO excno;
	UW error_code; /* 0 if the exception has none */
	UW eip;	       /* of the exception; the handler may change it to go on elsewhere */
	UW eflags;
	BOOL context; /* what sns_ctx() would have given there */
	BOOL locked;  /* and sns_loc(); sns_dsp() and sns_tex() still give it */
} T_EXCINF;

/* Task management. */
ER act_tsk(ID tskid);
ER iact_tsk(ID tskid);
ER_UINT can_act(ID tskid);
void ext_tsk(void) __attribute__((noreturn));
ER ter_tsk(ID tskid);
ER chg_pri(ID tskid, PRI tskpri);
ER get_pri(ID tskid, PRI *p_tskpri);

/* Synchronisation between tasks. */
ER slp_tsk(void);
ER tslp_tsk(TMO tmout);
ER wup_tsk(ID tskid);
ER iwup_tsk(ID tskid);
ER_UINT can_wup(ID tskid);
ER rel_wai(ID tskid);
ER irel_wai(ID tskid);
ER sus_tsk(ID tskid);
ER rsm_tsk(ID tskid);
ER frsm_tsk(ID tskid);
ER dly_tsk(RELTIM dlytim);

/* Task exceptions. */
ER ras_tex(ID tskid, TEXPTN rasptn);
ER iras_tex(ID tskid, TEXPTN rasptn);
ER dis_tex(void);
ER ena_tex(void);
BOOL sns_tex(void);

/* Semaphores. */
ER sig_sem(ID semid);
ER isig_sem(ID semid);
ER wai_sem(ID semid);
ER pol_sem(ID semid);
ER twai_sem(ID semid, TMO tmout);

/* Event flags. */
ER set_flg(ID flgid, FLGPTN setptn);
ER iset_flg(ID flgid, FLGPTN setptn);
ER clr_flg(ID flgid, FLGPTN clrptn);
ER wai_flg(ID flgid, FLGPTN waiptn, MODE wfmode, FLGPTN *p_flgptn);
ER pol_flg(ID flgid, FLGPTN waiptn, MODE wfmode, FLGPTN *p_flgptn);
ER twai_flg(ID flgid, FLGPTN waiptn, MODE wfmode, FLGPTN *p_flgptn, TMO tmout);

/* Data queues. */
ER snd_dtq(ID dtqid, VP_INT data);
ER psnd_dtq(ID dtqid, VP_INT data);
ER ipsnd_dtq(ID dtqid, VP_INT data);
ER tsnd_dtq(ID dtqid, VP_INT data, TMO tmout);
ER fsnd_dtq(ID dtqid, VP_INT data);
ER ifsnd_dtq(ID dtqid, VP_INT data);
ER rcv_dtq(ID dtqid, VP_INT *p_data);
ER prcv_dtq(ID dtqid, VP_INT *p_data);
ER trcv_dtq(ID dtqid, VP_INT *p_data, TMO tmout);

/* Mailboxes. */
ER snd_mbx(ID mbxid, T_MSG *pk_msg);
ER rcv_mbx(ID mbxid, T_MSG **ppk_msg);
ER prcv_mbx(ID mbxid, T_MSG **ppk_msg);
ER trcv_mbx(ID mbxid, T_MSG **ppk_msg, TMO tmout);

/* Fixed-size memory pools. */
ER get_mpf(ID mpfid, VP *p_blk);
ER pget_mpf(ID mpfid, VP *p_blk);
ER tget_mpf(ID mpfid, VP *p_blk, TMO tmout);
ER rel_mpf(ID mpfid, VP blk);

/* Time. */
ER set_tim(SYSTIM *p_systim);
ER get_tim(SYSTIM *p_systim);
ER isig_tim(void);
ER sta_cyc(ID cycid);
ER stp_cyc(ID cycid);

/* System state. */
ER rot_rdq(PRI tskpri);
ER irot_rdq(PRI tskpri);
ER get_tid(ID *p_tskid);
ER iget_tid(ID *p_tskid);
ER loc_cpu(void);
ER iloc_cpu(void);
ER unl_cpu(void);
ER iunl_cpu(void);
ER dis_dsp(void);
ER ena_dsp(void);
BOOL sns_ctx(void);
BOOL sns_loc(void);
BOOL sns_dsp(void);
BOOL sns_dpn(void);

#endif
