/* SPDX-License-Identifier: Apache-2.0 */
/* Physical interrupts: to the VMM's own devices and to the guests that own the
 * lines. */
#pragma once

#include "core/core.h"
#include "platform/pc/apic.h"

/* Takes over the controllers; console_irq < 0: there is no UART. */
void interrupt_init(int console_irq);
/* Gives IRQs to a guest; bit n: IRQ n. */
void interrupt_assign(u32 irqs, struct vcpu *vcpu);
/* Leaves the controllers to a guest: what still enters the VMM goes to a function. */
void interrupt_leave(void (*to)(unsigned vector));
/* Takes them over again. */
void interrupt_take_back(void);
/* Serves a vector other than that of the VMM's clock; real IF is 0. */
void interrupt_serve(unsigned vector);
