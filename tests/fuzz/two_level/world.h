/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fuzz_shadow.c has to know of the world in which its guest runs: here the VMM alone is
 * privileged, and a view of each address space keeps the guest's processes from its kernel.
 * rings/world.h is the other one, which says what each function is for.
 */
#ifndef GANDALF_FUZZ_WORLD_H
#define GANDALF_FUZZ_WORLD_H

#include "core/module.h"
#include "shadow_machine.h"
#include "views.h"

#define WORLD_KERNEL_RING 3u
#define WORLD_HAS_DEDICATED false
#define WORLD_FRAMES 4u

struct gandalf_table system_table;
struct view_switch view_switch;
const char ways_first[1], ways_last[1];

/* The direct ways are not C: here the way through C is the only one. */
void view_switch_call(void)
{
	abort();
}

void view_switch_return(void)
{
	abort();
}

static void world_choose(u32 what)
{
	static const u32 flags[] = {
		0, GANDALF_TABLE_DETECT, GANDALF_TABLE_GLOBAL_PAGES, GANDALF_TABLE_NO_PREFILL,
		GANDALF_TABLE_NO_HINTS, GANDALF_TABLE_DETECT | GANDALF_TABLE_GLOBAL_PAGES,
		GANDALF_TABLE_NO_DIRECT_SWITCH,
		GANDALF_TABLE_CACHE_BIMODAL * GANDALF_TABLE_POLICY_UNIT,
	};

	/* One of two has a page-table cache of two entries. */
	system_table.flags = flags[what & 7] | (what & 8 ? 2 * GANDALF_TABLE_CACHE_UNIT : 0);
}

static void world_goes_on(u32 ring)
{
	bool process = x86->vcpu->view.in_process != 0;

	if (ring == 3 && !process)
		views_show_process(x86);
	else if (ring != 3 && process)
		views_show_kernel(x86);
}

static u32 world_error(u32 error)
{
	return error | PF_U;
}

static u32 world_call(u32 vector)
{
	(void)vector;
	return PRIVILEGE_SYSTEM_CALL;
}

/* #NP of the kernel is its return to a process, behind which the VMM writes where it stands. */
static bool world_raises(u32 vector)
{
	return vector != EXCEPTION_NP;
}

/* All pages are ring 3's there. */
static struct rights world_of_kernel(struct rights rights)
{
	rights.user = false;
	return rights;
}

static struct rights world_of_loaded(struct rights rights)
{
	return x86->vcpu->view.in_process != 0 ? rights : world_of_kernel(rights);
}

static u32 world_process(void)
{
	return x86->vcpu->view.in_process != 0 && x86->shadow.current != NULL
		       ? views_process(x86->shadow.current)
		       : 0;
}

static bool world_detects(void)
{
	return views_detect();
}

#endif
