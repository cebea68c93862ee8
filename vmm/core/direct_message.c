/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes messages of other cores to one whose interrupts are a guest's: many_cores/direct_message.h.
 */
#include "direct_message.h"

#include "core/direct.h"
#include "core/message_quick.h"
#include "lib/owner.h"

/* One has come amid the VMM's work for the guest, and is served behind that. */
OF_CORE static bool left;

void direct_message_begin(void)
{
	message_window_limit(false);
	message_window.ends = 0;
	message_begin(); /* some may wait for the end of a window */
}

void direct_message_end(void)
{
	left = false;
	message_window_limit(true);
	message_begin();
}

bool direct_message(u32 vector)
{
	struct vcpu *vcpu = core.current;

	if (!cpu_message_came(vector))
		return false;
	if (direct_is_owner(vcpu) && vcpu->working != 0) {
		cpu_end_interrupt();
		left = true;
		vcpu_notify(vcpu);
	} else {
		message_interrupt();
	}
	return true;
}

void direct_message_renew(void)
{
	message_begin();
}

void direct_message_attend(void)
{
	if (!left)
		return;
	left = false;
	message_begin();
}
