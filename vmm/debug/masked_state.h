/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asserts what functions rely on: that interrupts are masked or enabled. A debug build checks them
 * at each call; release/masked_state.h has none.
 */
#pragma once

#include "arch/ia32/register.h"
#include "core/log.h"

static inline bool interrupts_are_enabled(void)
{
	u32 eflags;

	__asm__ volatile("pushf; pop %0" : "=r"(eflags));
	return (eflags & EFLAGS_IF) != 0;
}

#define EXPECTS_MASKED()                                                                      \
	do {                                                                                  \
		if (interrupts_are_enabled())                                                 \
			panic("interrupts are enabled in %s", __func__);                      \
	} while (0)
#define EXPECTS_UNMASKED(vcpu)                                                                    \
	do {                                                                                  \
		if ((vcpu)->interruptible && !interrupts_are_enabled())                       \
			panic("interrupts are masked in %s", __func__);                       \
	} while (0)
