/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the configurator and the kernel. The configurator turns
 * a system configuration file (static API) into two files:
 *
 * kernel_id.h, for applications: for every object with a name a line
 *
 *	#define SEM_LOG 1
 *
 * and the highest ID of each kind, 0 if there is none: TNUM_TSKID, TNUM_SEMID,
 * TNUM_FLGID, TNUM_DTQID, TNUM_MBXID, TNUM_MPFID, TNUM_CYCID, and how many
 * handlers and routines there are: TNUM_INHNO, TNUM_EXCNO, TNUM_INIRTN.
 *
 * kernel_cfg.c, which includes this header and kernel_id.h, defines every table
 * below with exactly as many elements as its TNUM_ says (none is allowed; the element
 * of ID n is n - 1), the memory that the tables point to as static arrays, and as its
 * last line includes storage.h, which defines the control blocks.
 *
 * The fields have the names of the static API's parameters; expressions in C are cast, as in
 * (VP_INT)(TASK_ONE) and (FP)(task_main), so that whatever the application gives fits. The
 * kernel relies on the ranges and does not check them again; kernel_cfg.c does, with
 * _Static_assert for what the configurator cannot compute.
 */
#ifndef CONFIGURATION_H
#define CONFIGURATION_H

#include "kernel.h"

/* In place of the attributes: there is no object with this ID (E_NOEXS). The rest of the
 * element is 0 then. Must be the first field of every object's element. */
#define CONFIGURATION_GAP 0x80000000U

/* CRE_TSK, and DEF_TEX for the same task. */
struct task_configuration {
	ATR tskatr; /* (TA_HLNG or TA_ASM) | TA_ACT | TA_FPU, or CONFIGURATION_GAP */
	VP_INT exinf;
	FP task;
	PRI itskpri; /* TMIN_TPRI..TMAX_TPRI */
	SIZE stksz;  /* a multiple of TALIGN_STK, at least TMIN_STKSZ (+ TSZ_FPU) */
	VP stk;	     /* its lowest address, a multiple of TALIGN_STK, never NULL */
	FP texrtn;   /* NULL: DEF_TEX does not name the task */
};

/* CRE_SEM */
struct semaphore_configuration {
	ATR sematr;   /* TA_TFIFO or TA_TPRI */
	UINT isemcnt; /* 0..maxsem */
	UINT maxsem;  /* 1..TMAX_MAXSEM */
};

/* CRE_FLG */
struct eventflag_configuration {
	ATR flgatr; /* (TA_TFIFO or TA_TPRI) | (TA_WSGL or TA_WMUL) | TA_CLR */
	FLGPTN iflgptn;
};

/* CRE_DTQ */
struct dataqueue_configuration {
	ATR dtqatr;  /* TA_TFIFO or TA_TPRI */
	UINT dtqcnt; /* may be 0 */
	VP_INT *dtq; /* dtqcnt elements; NULL if that is 0 */
};

/* CRE_MBX; the static API's mprihd is not needed. */
struct mailbox_configuration {
	ATR mbxatr;  /* (TA_TFIFO or TA_TPRI) | (TA_MFIFO or TA_MPRI) */
	PRI maxmpri; /* TMIN_MPRI..TMAX_MPRI; looked at with TA_MPRI only */
};

/* CRE_MPF */
struct mempool_configuration {
	ATR mpfatr;  /* TA_TFIFO or TA_TPRI */
	UINT blkcnt; /* at least 1 */
	SIZE blksz;  /* TSZ_BLK(the block size given), so a multiple of 4, at least 4 */
	VP mpf;	     /* blkcnt * blksz bytes at a multiple of 4 */
};

/* CRE_CYC */
struct cyclic_configuration {
	ATR cycatr; /* (TA_HLNG or TA_ASM) | TA_STA | TA_PHS */
	VP_INT exinf;
	FP cychdr;
	RELTIM cyctim; /* 1..TMAX_RELTIM */
	RELTIM cycphs; /* 0..TMAX_RELTIM */
};

/* DEF_INH */
struct interrupt_configuration {
	INHNO inhno; /* TMIN_INHNO..TMAX_INHNO, each at most once */
	FP inthdr;
};

/* DEF_EXC */
struct exception_configuration {
	EXCNO excno; /* 0..TMAX_EXCNO, each at most once */
	FP exchdr;
};

/* ATT_INI, in the order of the configuration file. */
struct initialization_configuration {
	VP_INT exinf;
	FP inirtn;
};

extern const struct task_configuration task_configuration[];
extern const struct semaphore_configuration semaphore_configuration[];
extern const struct eventflag_configuration eventflag_configuration[];
extern const struct dataqueue_configuration dataqueue_configuration[];
extern const struct mailbox_configuration mailbox_configuration[];
extern const struct mempool_configuration mempool_configuration[];
extern const struct cyclic_configuration cyclic_configuration[];
extern const struct interrupt_configuration interrupt_configuration[];
extern const struct exception_configuration exception_configuration[];
extern const struct initialization_configuration initialization_configuration[];

#endif
