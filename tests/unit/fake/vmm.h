/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-ins for the parts of the VMM around the one under test, which write down
 * what was asked of them, and a guest of one vCPU.
 */
#ifndef GANDALF_FAKE_VMM_H
#define GANDALF_FAKE_VMM_H

#include <string.h>

#include "core/report.h"
#include "core/trace.h"
#include "fake/asked.h"
#include "fake/one_vcpu.h"

struct stub entry_stubs[ENTRY_STUBS];

static struct gandalf_shared shared;
static u32 pool_rest; /* frames that are left */
static u32 empty_directory[1024]; /* the shadow: it has no page yet */

u32 pool_allocate(void)
{
	return pool_rest == 0 ? 0 : pool_rest-- * PAGE_SIZE;
}

u32 pool_distance;

static void vmm_reset(void)
{
	one_vcpu_reset();
	memset(&shared, 0, sizeof(shared));
	memset(&asked, 0, sizeof(asked));
	pool_rest = 0;
	vcpu.cr3 = (u32)(uintptr_t)empty_directory;
	vcpu.shared = &shared;
	vcpu.eflags = EFLAGS_FIXED | EFLAGS_IF;
}

#endif
