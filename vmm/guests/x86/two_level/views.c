/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the two views of an address space, and loads one or the other (two_level/views.h). */
#include "views.h"

#include "core/core.h"
#include "core/pool.h"
#include "guests/x86/x86.h"
#include "lib/string.h"

bool views_create(struct x86 *x86, struct space *space, const u32 *directory)
{
	const u32 rest = (ENTRIES - KERNEL_END) * sizeof(u32);
	u32 *process;

	space->process = space_frame_allocate(x86);
	if (space->process == 0)
		return false;
	process = pool_pointer(space->process);
	memcpy(&process[KERNEL_END], &directory[KERNEL_END], rest);
	/* The VMM stack is there in both views, but the shared page is the kernel's alone. */
	process[KERNEL_END] &= ~PTE_U;
	*pool_marks(space->process) = ~0u;
	space->noted = 0;
	return true;
}

void views_follow_load(const struct x86 *x86)
{
	const struct space *space = x86->shadow.current;

	direct.kernel = space != NULL ? space->directory : x86->shadow.identity;
	direct.process = space != NULL && space->noted == 0 ? space->process : 0;
	direct.tables = (u32)pool_pointer(direct.kernel);
}

void views_reset(void)
{
	memset(&direct, 0, sizeof(direct));
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
	view_load(x86->vcpu, space != NULL ? space->process : 0, true);
}
