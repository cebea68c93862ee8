/* SPDX-License-Identifier: Apache-2.0 */
/* Physical interrupts, which go to the VMM's own devices or to the guests that own the lines. */
#pragma once

#include "core/core.h"
#include "platform.h"

/* Takes over the controllers and starts the timer. console_irq is the IRQ of the consoles' UART, or
 * less than 0 if there is none. */
void interrupt_init(int console_irq);
/* Gives IRQs to a guest. Bit n of irqs stands for IRQ n. */
void interrupt_assign(u32 irqs, struct vcpu *vcpu);
/* Leaves the controllers to a guest. Interrupts that still enter the VMM go to a function. */
void interrupt_leave(void (*to)(unsigned vector));
/* Takes the controllers over again. */
void interrupt_take_back(void);
/* Ends an interrupt by a vector that is none of a line, such as that of the VMM's clock. */
static inline void interrupt_end(void)
{
	cpu_end_interrupt();
}
/* Serves an interrupt by any vector but that of the VMM's clock. Interrupts must be masked. */
void interrupt_serve(unsigned vector);
