/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several cores, in an image for one.
 */
#include "core/cores.h"

#include "abi/table.h"
#include "arch.h"
#include "core/epoch.h"
#include "core/log.h"
#include "core/message.h"
#include "core/module.h"
#include "core/notice.h"
#include "core/relay.h"
#include "core/remote.h"
#include "lib/owner.h"
#include "machine_watch.h"
#include "platform.h"

/* How many epochs each channel has begun. */
OF_CORE static u32 epochs[GANDALF_CHANNELS_MAXIMUM];

void cores_keep(void)
{
}

u32 cores_start(void)
{
	machine_watch();
	return 0;
}

u32 cores_seconds(void)
{
	return date_now();
}

/* Of a guest that had the CPU to itself and has stopped. */
void message_interrupt(void)
{
	cpu_end_interrupt();
}

void message_begin(void)
{
}

bool notice_attend(void)
{
	return true;
}

bool relay_is_idle(void)
{
	return true;
}

_Noreturn void remote_create(UNUSED struct vm *vm)
{
	panic("this VMM lacks %s", "several CPUs");
}

void epoch_begin(u32 channel)
{
	epoch_write(channel, ++epochs[channel]);
}
