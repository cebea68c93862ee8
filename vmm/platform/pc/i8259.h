/* SPDX-License-Identifier: Apache-2.0 */
/* The real pair of 8259A interrupt controllers (Intel 8259A data sheet). */
#pragma once

#include "lib/types.h"

/* Vectors VECTOR_PIC to VECTOR_PIC + 15, all inputs masked. */
void i8259_init(void);
/* Edge triggered: a level that stays would interrupt for ever, since interrupts
 * are ended before their owners have served them. */
void i8259_enable(unsigned irq);
/* Tells whether input irq really asks (7 and 15 may be spurious) and, if so,
 * ends the interrupt. */
bool i8259_acknowledge(unsigned irq);
/* The input that the processor was interrupted by last and whose interrupt has not been ended,
 * or -1. */
int i8259_in_service(void);
/* The state that the PC's firmware leaves, for a guest that takes them over. */
void i8259_release(void);
