// SPDX-License-Identifier: GPL-2.0-only
/*
 * The VMM's watchdog of this guest as /dev/watchdog, for the programs that feed one: busybox's
 * `watchdog`, systemd, watchdogd. The description's watchdog_ms says after how much silence the
 * VMM stops the guest, mostly much less than the seconds that such a program counts in. Linux's
 * watchdog core gives signs of life in between (hypercall ALIVE), until the program has been silent
 * for the time that it has asked for.
 *
 * The VMM's watch begins with the first sign of life and has no end. So does not this one's: if the
 * program closes the device as it should, the core goes on without it.
 */
#include <linux/init.h>
#include <linux/moduleparam.h>
#include <linux/watchdog.h>

#include "gandalf.h"
#include "on_gandalf.h"

/* Seconds for which a program may be silent that asks for no other time. */
#define TIMEOUT 60

static long alive_tell(void)
{
	long silence;

	asm volatile("int %[vector]"
		     : "=a" (silence)
		     : [vector] "i" (GANDALF_HYPERCALL_VECTOR), "0" (GANDALF_HYPERCALL_ALIVE)
		     : "memory");
	return silence;
}

/* Begins the watch. The core then comes back twice within the silence that the VMM allows. */
static int vmm_watchdog_start(struct watchdog_device *device)
{
	long silence = alive_tell();

	if (silence <= 0)
		return -ENODEV; /* the description has no watchdog_ms */
	device->max_hw_heartbeat_ms = silence;
	return 0;
}

static int vmm_watchdog_ping(struct watchdog_device *device)
{
	alive_tell();
	return 0;
}

static const struct watchdog_info vmm_watchdog_info = {
	.options = WDIOF_SETTIMEOUT | WDIOF_KEEPALIVEPING | WDIOF_MAGICCLOSE,
	.identity = "Gandalf",
};

static const struct watchdog_ops vmm_watchdog_operations = {
	.owner = THIS_MODULE,
	.start = vmm_watchdog_start,
	.ping = vmm_watchdog_ping,
};

static struct watchdog_device vmm_watchdog = {
	.info = &vmm_watchdog_info,
	.ops = &vmm_watchdog_operations,
	.timeout = TIMEOUT,
	.min_timeout = 1,
	.max_hw_heartbeat_ms = 3600000, /* until the VMM has said how long it is */
};

static int __init vmm_watchdog_init(void)
{
	return on_gandalf() ? watchdog_register_device(&vmm_watchdog) : 0;
}
device_initcall(vmm_watchdog_init);
