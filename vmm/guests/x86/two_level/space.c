/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the views of an address space, and follows which is loaded (two_level/views.h). */
#include "views.h"

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
	space->used = 0;
	return true;
}

void views_follow_load(const struct x86 *x86)
{
	const struct space *space = x86->shadow.current;
	struct vcpu_view *view = &x86->vcpu->view;

	view->kernel = space != NULL ? space->directory : x86->shadow.identity;
	view->process = space != NULL && space->noted == 0 ? space->process : 0;
	view->tables = (u32)pool_pointer(view->kernel);
}
