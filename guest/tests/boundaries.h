/* SPDX-License-Identifier: Apache-2.0 */
/* What injector.elf and pc-boundaries.elf agree about. */
#ifndef BOUNDARIES_H
#define BOUNDARIES_H

/* From the doorbell to the interrupt is a microsecond for each page of the injector's memory: so
 * the system's description says how long an operation may be. */
#define BOUNDARIES_PAGE 4096
/* The injector's place in the system. */
#define BOUNDARIES_INJECTOR 1

#endif
