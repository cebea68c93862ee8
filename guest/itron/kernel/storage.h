/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control blocks, as many as the configuration has objects. Included once, as the last
 * line of kernel_cfg.c.
 */
#include "cyclic.h"
#include "dataqueue.h"
#include "eventflag.h"
#include "interrupt.h"
#include "mailbox.h"
#include "mempool.h"
#include "semaphore.h"
#include "task.h"

const ID task_count = TNUM_TSKID;
const ID semaphore_count = TNUM_SEMID;
const ID eventflag_count = TNUM_FLGID;
const ID dataqueue_count = TNUM_DTQID;
const ID mailbox_count = TNUM_MBXID;
const ID mempool_count = TNUM_MPFID;
const ID cyclic_count = TNUM_CYCID;
const UINT interrupt_count = TNUM_INHNO;
const UINT exception_count = TNUM_EXCNO;
const UINT initialization_count = TNUM_INIRTN;

struct task task_control[TNUM_TSKID + 1]; /* and the idle task */
struct semaphore semaphore_control[TNUM_SEMID];
struct eventflag eventflag_control[TNUM_FLGID];
struct dataqueue dataqueue_control[TNUM_DTQID];
struct mailbox mailbox_control[TNUM_MBXID];
struct mempool mempool_control[TNUM_MPFID];
struct cyclic cyclic_control[TNUM_CYCID];
