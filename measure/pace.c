/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plug-in that keeps virtual time from running ahead of the host's clock, for machines whose
 * clock counts instructions (-icount sleep=off). QEMU's own way (sleep=on) sets virtual time to
 * where the host's clock is whenever the CPU sleeps, so the guest sees how late the host woke up.
 * Here virtual time stays what instructions and the machine's timers make of it, and the host waits
 * instead: a timer of the virtual clock expires every PERIOD, which a sleeping CPU cannot jump
 * over, and its expiry is held back until the host's clock has got there. The guest cannot notice.
 *
 * Where the host is too slow virtual time falls behind. It catches up by DEBT at most, so that what
 * a stopped or busy host has missed is not made good in a rush.
 *
 * With the option check=1 QEMU ends at once, with status 0: so the host tool learns whether this
 * QEMU can be paced.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fail.h"
#include "qemu.h"

/* Nanoseconds. Keys and output wait for up to a period. */
#define PERIOD 2000000
#define DEBT 100000000
#define SECOND 1000000000

QEMU_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;
QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
				    char **arguments);

const char plugin_name[] = "pace";

static struct qemu_timer timer;
/* What the host's clock would have shown when virtual time was 0. */
static int64_t start;

static int64_t host_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

static void wait_until(int64_t time)
{
	struct timespec until = { .tv_sec = time / SECOND, .tv_nsec = time % SECOND };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
		;
}

/* The machine's lock is held: nothing else of it can go on meanwhile, which is for a period at
 * most. */
static void on_expiry(void *unused)
{
	int64_t now = qemu_clock_get_ns(QEMU_VIRTUAL_CLOCK), host = host_now();

	(void)unused;
	if (start + now < host - DEBT)
		start = host - DEBT - now;
	timer_mod_ns(&timer, now + PERIOD);
	if (start + now > host)
		wait_until(start + now);
}

/* The machine starts, goes on or stops. */
static void on_state(void *unused, bool running, int state)
{
	int64_t now = qemu_clock_get_ns(QEMU_VIRTUAL_CLOCK);

	(void)unused;
	(void)state;
	if (!running)
		return;
	start = host_now() - now;
	timer_mod_ns(&timer, now + PERIOD);
}

int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
			char **arguments)
{
	(void)id;
	if (!info->is_system)
		fail("this is for whole machines");
	if (count > 0 && strcmp(arguments[0], "check=1") == 0)
		exit(0);
	timer_init_full(&timer, NULL, QEMU_VIRTUAL_CLOCK, 1, 0, on_expiry, NULL);
	qemu_add_vm_change_state_handler(on_state, NULL);
	return 0;
}
