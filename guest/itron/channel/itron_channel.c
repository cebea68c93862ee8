/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels for tasks of the uITRON kernel; see itron_channel.h. Bit n of the event flag is
 * for the end with ID n + 1: the handler sets it when the end's task would find something.
 * So a task is not woken in vain, and its time-out is that of one wait.
 */
#include "itron_channel.h"

#include <string.h>

#include "channel_end.h"
#include "kernel_id.h"
#include "rtos.h"

struct end {
	struct channel_end channel;
	UW peer;
	BOOL sends; /* what its task waits for: room, or bytes */
};

static struct end ends[VTMAX_CHNID];
static volatile ID ends_open;

ER_ID vopn_chn(const VB *name)
{
	const struct gandalf_channel_place *place =
		(const struct gandalf_channel_place *)&shared_page->channels[0];
	const struct gandalf_channel_place *last = place + GANDALF_CHANNELS_MAXIMUM;
	struct end *end = &ends[ends_open];

	while (place < last && place->name[0] && name && strcmp(place->name, name) != 0)
		place++;
	if (place == last || !place->name[0])
		return E_OBJ;
	if (ends_open == VTMAX_CHNID)
		return E_NOID;
	channel_open(&end->channel, (VP)place->address, place);
	end->peer = place->peer;
	return ++ends_open; /* from now on the handler looks at it */
}

void channel_interrupt(void)
{
	FLGPTN found = 0;

	for (ID i = 0; i < ends_open; i++)
		if (channel_ready(&ends[i].channel, ends[i].sends))
			found |= 1U << i;
	iset_flg(FLG_CHANNEL, found);
}

static int32_t end_move(struct end *end, VP data, UINT len)
{
	int32_t moved = end->sends ? channel_send(&end->channel, data, len) :
				     channel_receive(&end->channel, data, len);

	if (moved > 0)
		hypercall(GANDALF_HYPERCALL_DOORBELL, end->peer, 0);
	return moved;
}

/* A ring between the look and the wait has set the bit. If there is nothing after all when
 * the bit is set, the other guest has taken back what it had done. */
static ER_UINT end_wait(ID chnid, BOOL sends, VP data, UINT len, TMO tmout)
{
	FLGPTN bit = 1U << (chnid - 1), pattern;
	struct end *end = &ends[chnid - 1];
	int32_t moved;
	ER ercd;

	end->sends = sends;
	clr_flg(FLG_CHANNEL, ~bit);
	moved = end_move(end, data, len);
	if (moved == 0) {
		ercd = twai_flg(FLG_CHANNEL, bit, TWF_ORW, &pattern, tmout);
		if (ercd != E_OK)
			return ercd;
		moved = end_move(end, data, len);
	}
	if (moved > 0)
		return moved;
	return moved == GANDALF_CHANNEL_RESET ? E_CLS : E_OBJ;
}

static ER_UINT end_call(ID chnid, BOOL sends, VP data, UINT len, TMO tmout)
{
	if (len == 0 || tmout < TMO_FEVR)
		return E_PAR;
	if (sns_ctx() || sns_loc() || (tmout != TMO_POL && sns_dsp()))
		return E_CTX;
	if (chnid < 1 || chnid > VTMAX_CHNID)
		return E_ID;
	if (chnid > ends_open)
		return E_NOEXS;
	return end_wait(chnid, sends, data, len, tmout);
}

ER_UINT vtsnd_chn(ID chnid, const void *data, UINT len, TMO tmout)
{
	return end_call(chnid, TRUE, (VP)data, len, tmout);
}

ER_UINT vsnd_chn(ID chnid, const void *data, UINT len)
{
	return vtsnd_chn(chnid, data, len, TMO_FEVR);
}

ER_UINT vpsnd_chn(ID chnid, const void *data, UINT len)
{
	return vtsnd_chn(chnid, data, len, TMO_POL);
}

ER_UINT vtrcv_chn(ID chnid, VP data, UINT len, TMO tmout)
{
	return end_call(chnid, FALSE, data, len, tmout);
}

ER_UINT vrcv_chn(ID chnid, VP data, UINT len)
{
	return vtrcv_chn(chnid, data, len, TMO_FEVR);
}

ER_UINT vprcv_chn(ID chnid, VP data, UINT len)
{
	return vtrcv_chn(chnid, data, len, TMO_POL);
}
