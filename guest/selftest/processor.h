/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor says of itself. */
#ifndef PROCESSOR_H
#define PROCESSOR_H

/* Prints maker, family, model, stepping, name and the features that concern Gandalf. */
void processor_print(void);

#endif
