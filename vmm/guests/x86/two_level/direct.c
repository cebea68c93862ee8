/* SPDX-License-Identifier: Apache-2.0 */
/* What the direct ways between a process and its kernel need to know (two_level/direct.h). */
#include "direct.h"

#include "arch/ia32/segment.h"
#include "core/core.h"
#include "lib/owner.h"

OF_CORE struct direct direct;

/* direct_ways.S has these numbers. */
_Static_assert(offsetof(struct direct, in_process) == DIRECT_IN_PROCESS, "direct_ways.S");
_Static_assert(offsetof(struct direct, ready) == DIRECT_READY, "direct_ways.S");
_Static_assert(offsetof(struct direct, kernel) == DIRECT_KERNEL, "direct_ways.S");
_Static_assert(offsetof(struct direct, process) == DIRECT_PROCESS, "direct_ways.S");
_Static_assert(offsetof(struct direct, tables) == DIRECT_TABLES, "direct_ways.S");
_Static_assert(offsetof(struct direct, esp0) == DIRECT_ESP0, "direct_ways.S");
_Static_assert(offsetof(struct direct, entry) == DIRECT_ENTRY, "direct_ways.S");
_Static_assert(offsetof(struct direct, calls) == DIRECT_CALLS, "direct_ways.S");
_Static_assert(offsetof(struct direct, returns) == DIRECT_RETURNS, "direct_ways.S");
_Static_assert(offsetof(struct direct, site) == DIRECT_SITE, "direct_ways.S");
_Static_assert(offsetof(struct direct, awaited) == DIRECT_AWAITED, "direct_ways.S");
_Static_assert(offsetof(struct vcpu, cr3) == DIRECT_VCPU_CR3, "direct_ways.S");
_Static_assert(offsetof(struct vcpu, tables) == DIRECT_VCPU_TABLES, "direct_ways.S");
_Static_assert(offsetof(struct vcpu, eflags) == DIRECT_VCPU_EFLAGS, "direct_ways.S");
_Static_assert(offsetof(struct core, cr3) == DIRECT_CORE_CR3, "direct_ways.S");
_Static_assert(offsetof(struct segment_tables, gdt) == 0, "direct_ways.S");
_Static_assert(offsetof(struct segment_tables, user_code) == DIRECT_USER_CODES, "direct_ways.S");
_Static_assert(offsetof(struct gandalf_shared, interrupt_flag) == 0, "direct_ways.S");
_Static_assert(EFLAGS_GUEST == DIRECT_EFLAGS_GUEST, "direct_ways.S");
_Static_assert(PRIVILEGE_CLEARED_FLAGS == DIRECT_EFLAGS_CLEARED, "direct_ways.S");
