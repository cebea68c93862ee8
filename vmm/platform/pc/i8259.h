/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's pair of 8259A interrupt controllers (Intel 8259A data sheet). */
#pragma once

#include "lib/types.h"

/* Sets the controllers up for vectors VECTOR_PIC to VECTOR_PIC + 15. Inputs are masked unless
 * i8259_enable() has been called for them. */
void i8259_init(void);
/* Lets an input interrupt, and makes it edge triggered. Interrupts are ended before their owners
 * have served them, so a level that stays would interrupt for ever. */
void i8259_enable(unsigned irq);
/* Keeps an input from interrupting until i8259_enable(). An edge that comes meanwhile is kept, and
 * interrupts then if the input is still high. */
void i8259_disable(unsigned irq);
/* Ends the interrupt of an input. Returns false if it was spurious, as those of inputs 7 and 15 may
 * be. */
bool i8259_acknowledge(unsigned irq);
/* Returns the most urgent input whose interrupt was given to the processor and has not been ended,
 * or -1. */
int i8259_in_service(void);
/* Sets the controllers up as a PC's firmware does, with all inputs masked, for a guest that takes
 * them over. */
void i8259_release(void);
