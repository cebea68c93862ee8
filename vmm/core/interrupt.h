/* SPDX-License-Identifier: Apache-2.0 */
/* Physical interrupts, which go to the VMM's own devices or to the guests that own the lines. */
#pragma once

#include "core/core.h"
#include "platform/pc/apic.h"

/* Takes over the controllers and starts the timer. console_irq is the IRQ of the consoles' UART, or
 * less than 0 if there is none. */
void interrupt_init(int console_irq);
/* Gives IRQs to a guest. Bit n of irqs stands for IRQ n of the 8259 pair. */
void interrupt_assign(u32 irqs, struct vcpu *vcpu);
/* Leaves the controllers to a guest. Interrupts that still enter the VMM go to a function. */
void interrupt_leave(void (*to)(unsigned vector));
/* Takes the controllers over again. */
void interrupt_take_back(void);
/* Serves an interrupt by any vector but that of the VMM's clock. Interrupts must be masked. */
void interrupt_serve(unsigned vector);
