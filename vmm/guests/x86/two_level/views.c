/* SPDX-License-Identifier: Apache-2.0 */
/* Loads one view of an address space or the other (two_level/views.h). */
#include "views.h"

#include "core/core.h"
#include "core/module.h"
#include "guests/x86/x86.h"
#include "lib/string.h"

void views_reset(void)
{
	memset(&direct, 0, sizeof(direct));
	views_forget_returns();
	direct.no_prefill = (system_table.flags & GANDALF_TABLE_NO_PREFILL) != 0;
	direct.no_direct_switch = (system_table.flags & GANDALF_TABLE_NO_DIRECT_SWITCH) != 0;
}

/* Returns whether the code segment of processes is the one that direct_ways.S knows, present, and
 * the gate of system calls one that it can pass. */
static bool view_is_usual(const struct segment_tables *tables)
{
	const u64 high = DIRECT_USER_HIGH | DIRECT_PRESENT;

	return direct.entry != 0 && tables->user_code == DIRECT_USER_BIT &&
	       tables->gdt[DIRECT_USER_CODE / 8] == (high << 32 | DIRECT_USER_LOW);
}

/* Loads the directory of a view, and marks the code segments that belong to it present. */
static void view_load(struct vcpu *vcpu, u32 directory, bool in_process)
{
	direct.in_process = in_process;
	segment_set_user_code(vcpu, in_process);
	direct.ready = in_process && view_is_usual(vcpu->tables) ? vcpu : NULL;
	if (directory == 0)
		return;
	vcpu->cr3 = core.cr3 = directory;
	cr3_write(directory);
}

void views_show_kernel(struct x86 *x86)
{
	const struct space *space = x86->shadow.current;

	view_load(x86->vcpu, space != NULL ? space->directory : 0, false);
}

/* With paging off there is no space, and nothing to keep the process from. */
void views_show_process(struct x86 *x86)
{
	struct space *space = x86->shadow.current;

	if (space != NULL && space->noted != 0) {
		space_drop(space, NULL);
		space->noted = 0;
		direct.process = space->process;
	}
	if (direct.awaited != 0)
		views_fill_awaited();
	view_load(x86->vcpu, space != NULL ? space->process : 0, true);
}
