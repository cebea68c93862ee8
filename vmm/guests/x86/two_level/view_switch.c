/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what the direct ways between a process and its kernel need to know
 * (two_level/view_switch.h).
 */
#include "view_switch.h"

#include "arch/ia32/segment.h"
#include "core/core.h"
#include "guests/x86/shadow/directory.h"
#include "lib/owner.h"

OF_CORE struct view_switch view_switch;

/* view_ways.S has these numbers. */
_Static_assert(offsetof(struct vcpu, view.in_process) == VIEW_SWITCH_IN_PROCESS, "view_ways.S");
_Static_assert(offsetof(struct vcpu, view.ready) == VIEW_SWITCH_READY, "view_ways.S");
_Static_assert(offsetof(struct vcpu, view.kernel) == VIEW_SWITCH_KERNEL, "view_ways.S");
_Static_assert(offsetof(struct vcpu, view.process) == VIEW_SWITCH_PROCESS, "view_ways.S");
_Static_assert(offsetof(struct vcpu, view.tables) == VIEW_SWITCH_TABLES, "view_ways.S");
_Static_assert(offsetof(struct vcpu, view.esp0) == VIEW_SWITCH_ESP0, "view_ways.S");
_Static_assert(offsetof(struct vcpu, view.entry) == VIEW_SWITCH_ENTRY, "view_ways.S");
_Static_assert(offsetof(struct view_switch, calls) == VIEW_SWITCH_CALLS, "view_ways.S");
_Static_assert(offsetof(struct view_switch, returns) == VIEW_SWITCH_RETURNS, "view_ways.S");
_Static_assert(offsetof(struct vcpu, view.site) == VIEW_SWITCH_SITE, "view_ways.S");
_Static_assert(DIRECTORY_TABLE_BITS == VIEW_SWITCH_TABLE_BITS, "view_ways.S");
_Static_assert(offsetof(struct vcpu, view.awaited) == VIEW_SWITCH_AWAITED, "view_ways.S");
_Static_assert(offsetof(struct vcpu, cr3) == VIEW_SWITCH_VCPU_CR3, "view_ways.S");
_Static_assert(offsetof(struct vcpu, tables) == VIEW_SWITCH_VCPU_TABLES, "view_ways.S");
_Static_assert(offsetof(struct vcpu, eflags) == VIEW_SWITCH_VCPU_EFLAGS, "view_ways.S");
_Static_assert(offsetof(struct core, cr3) == VIEW_SWITCH_CORE_CR3, "view_ways.S");
_Static_assert(offsetof(struct segment_tables, gdt) == 0, "view_ways.S");
_Static_assert(offsetof(struct segment_tables, user_code) == VIEW_SWITCH_USER_CODES, "view_ways.S");
_Static_assert(offsetof(struct gandalf_shared, interrupt_flag) == 0, "view_ways.S");
_Static_assert(PRIVILEGE_SYSTEM_CALL == VIEW_SWITCH_SYSTEM_CALL, "view_ways.S");
_Static_assert(EFLAGS_GUEST == VIEW_SWITCH_EFLAGS_GUEST, "view_ways.S");
_Static_assert(PRIVILEGE_CLEARED_FLAGS == VIEW_SWITCH_EFLAGS_CLEARED, "view_ways.S");
