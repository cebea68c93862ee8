/* SPDX-License-Identifier: Apache-2.0 */
/* Loads one view of an address space or the other (two_level/views.h). */
#include "views.h"

#include "arch/ia32/switch.h"
#include "core/core.h"
#include "core/module.h"
#include "guests/x86/x86.h"
#include "lib/string.h"

void views_reset(struct x86 *x86)
{
	memset(&x86->vcpu->view, 0, sizeof(x86->vcpu->view));
	views_forget_returns();
	view_switch.no_prefill = (system_table.flags & GANDALF_TABLE_NO_PREFILL) != 0;
	view_switch.detect = (system_table.flags & GANDALF_TABLE_DETECT) != 0;
	if ((system_table.flags & GANDALF_TABLE_GLOBAL_PAGES) != 0 && (cr4_read() & CR4_PGE) != 0)
		switch_pge = CR4_PGE;
	view_switch.global = switch_pge != 0 ? PTE_G / PTE_U : 0;
	view_switch.no_direct_switch = (system_table.flags & GANDALF_TABLE_NO_DIRECT_SWITCH) != 0;
}

void views_pack(const struct vcpu *vcpu, struct view_luggage *luggage)
{
	luggage->in_process = vcpu->view.in_process;
	luggage->entry = vcpu->view.entry;
	luggage->return_gate = vcpu->tables->idt[EXCEPTION_BP];
}

/* What is awaited stays behind: the process may fault once more. The first return is by way of C,
 * which asks whether it is one. */
void views_unpack(struct x86 *x86, const struct view_luggage *luggage)
{
	struct vcpu *vcpu = x86->vcpu;

	memset(&vcpu->view, 0, sizeof(vcpu->view));
	vcpu->view.in_process = luggage->in_process;
	vcpu->view.entry = luggage->entry;
	vcpu->tables->idt[EXCEPTION_BP] = luggage->return_gate;
	views_follow_task(x86, x86->tss_base);
	views_follow_load(x86);
}

/* Returns whether the code segment of processes is the one that view_ways.S knows, present, and
 * the gate of system calls one that it can pass. */
static bool view_is_usual(const struct vcpu *vcpu)
{
	const struct segment_tables *tables = vcpu->tables;
	const u64 high = VIEW_SWITCH_USER_HIGH | VIEW_SWITCH_PRESENT;

	return vcpu->view.entry != 0 && tables->user_code == VIEW_SWITCH_USER_BIT &&
	       tables->gdt[VIEW_SWITCH_USER_CODE / 8] == (high << 32 | VIEW_SWITCH_USER_LOW);
}

/* Loads the directory of a view, and marks the code segments that belong to it present. */
static void view_load(struct vcpu *vcpu, u32 directory, bool in_process)
{
	vcpu->view.in_process = in_process;
	segment_set_user_code(vcpu, in_process);
	vcpu->view.ready = in_process && view_is_usual(vcpu);
	if (directory != 0)
		switch_directory(vcpu, directory);
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
	bool dropped = space != NULL && space->noted != 0;

	if (dropped) {
		space_drop(space, NULL);
		space->noted = 0;
		x86->vcpu->view.process = space->process;
	}
	if (x86->vcpu->view.awaited != 0)
		views_fill_awaited();
	view_load(x86->vcpu, space != NULL ? space->process : 0, true);
	if (dropped)
		views_flush_left();
}
