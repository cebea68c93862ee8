/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands system calls on to a Linux's kernel where their gate leads into the VMM: where there are
 * two levels of privilege (two_level/enter.c), and where a vCPU's kernel is watched
 * (smp/kernel_watch.c). Everywhere else the gate leads straight to the kernel.
 */
#pragma once

#include "arch/ia32/origin.h"
#include "core/work.h"
#include "guests/x86/inject.h"

/* A frame elsewhere is that of an INT 0x80 in virtual-8086 mode, which QEMU carries out if the
 * process has entered that mode with IOPL 3. */
static inline void system_call_enter(struct frame *frame)
{
	struct vcpu *vcpu = core.current;

	if (!origin_is_guest(vcpu, frame))
		origin_mend(frame);
	vcpu_count(vcpu, COUNTER_entries);
	work_unmask(vcpu);
	inject_last(vcpu->x86, PRIVILEGE_SYSTEM_CALL, INJECT_NO_ERROR);
}
