/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control task of guest/demo/motor.c on uITRON: an application of its own, with one
 * task, which shows how itron_channel.h is used.
 */
#include "tasks.h"

#include "control_task.h"
#include "demo.h"
#include "itron_channel.h"
#include "print.h"

static ID channel;

uint32_t os_tick(void)
{
	SYSTIM now;

	get_tim(&now);
	return now;
}

void os_tick_sleep(void)
{
	dly_tsk(0);
}

bool os_channel_send(const char *from, uint32_t size)
{
	ER_UINT sent = E_OK;

	for (UINT done = 0; done < size && sent >= E_OK; done += (UINT)sent)
		sent = vsnd_chn(channel, from + done, size - done);
	return sent >= E_OK;
}

bool os_channel_receive(char *to, uint32_t size)
{
	ER_UINT received = E_OK;

	for (UINT done = 0; done < size && received >= E_OK; done += (UINT)received)
		received = vrcv_chn(channel, to + done, size - done);
	return received >= E_OK;
}

void control_run(VP_INT exinf)
{
	(void)exinf;
	channel = vopn_chn(NULL);
	if (channel < E_OK) {
		print("control: this guest has no channel: see systems/motor-uitron.toml\n");
		return;
	}
	print("control: uITRON 4.0 waits for set points\n");
	control_loop();
}
