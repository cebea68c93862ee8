/* SPDX-License-Identifier: Apache-2.0 */
/* How a plug-in gives up: QEMU ends with a message. */
#ifndef GANDALF_MEASURE_FAIL_H
#define GANDALF_MEASURE_FAIL_H

/* What the message begins with. Each plug-in has its own. */
extern const char plugin_name[];

__attribute__((noreturn)) void fail(const char *why);
/* Fails if something is wrong; null: nothing is. */
void check(const char *wrong);

#endif
