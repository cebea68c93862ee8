/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels between guests (docs/channels.md) for tasks of the uITRON kernel on Gandalf.
 * Neither the kernel's nor its port's: an application that wants it has itron_channel.c
 * among its sources, is built for the port `gandalf` only, and has in its configuration
 *
 *	INCLUDE("\"itron_channel.h\"");
 *	CRE_FLG(FLG_CHANNEL, { TA_TFIFO | TA_WMUL, 0 });
 *	DEF_INH(INHNO_DOORBELL, { TA_HLNG, channel_interrupt });
 *
 * What is not in the specification has a name that begins with v, as it wants.
 */
#ifndef ITRON_CHANNEL_H
#define ITRON_CHANNEL_H

#include "kernel.h"

/* Ends of channels that can be open: two for each, one to send and one to receive. */
#define VTMAX_CHNID 16

/*
 * Opens an end of the channel with a name, NULL: of the guest's first. Returns its ID, the
 * lowest that is free; E_OBJ: there is no such channel, E_NOID: no ID is free. Called by an
 * initialization routine, or by a task while no other does.
 *
 * An end is one task's. A task that sends and receives has one; if one task sends and
 * another receives, each has its own.
 */
ER_ID vopn_chn(const VB *name);

/*
 * Send or receive at least one byte, and at most len: as many as there is room for, or as
 * there are. Wait until that is one, vp...() not at all, vt...() at most tmout. They return
 * the number of bytes, or
 *
 *	E_PAR	len is 0, or tmout neither a time nor TMO_POL nor TMO_FEVR
 *	E_CTX	not in a task, or the CPU is locked; or, without TMO_POL, dispatching is disabled
 *	E_ID	chnid is not from 1 to VTMAX_CHNID
 *	E_NOEXS	no end with this ID is open
 *	E_TMOUT	there was no byte, or no room, in this time
 *	E_RLWAI	rel_wai() ended the wait
 *	E_CLS	the other guest has started or stopped; once for each end. What was sent before is
 *		lost, what is received from then on is of the other's new life
 *	E_OBJ	the other guest has written nonsense into the shared memory
 */
ER_UINT vsnd_chn(ID chnid, const void *data, UINT len);
ER_UINT vpsnd_chn(ID chnid, const void *data, UINT len);
ER_UINT vtsnd_chn(ID chnid, const void *data, UINT len, TMO tmout);
ER_UINT vrcv_chn(ID chnid, VP data, UINT len);
ER_UINT vprcv_chn(ID chnid, VP data, UINT len);
ER_UINT vtrcv_chn(ID chnid, VP data, UINT len, TMO tmout);

/* The handler of the doorbell's interrupt. */
void channel_interrupt(void);

#endif
