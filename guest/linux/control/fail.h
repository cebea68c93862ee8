/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the user what went wrong. */
#ifndef GANDALFCTL_FAIL_H
#define GANDALFCTL_FAIL_H

/* Writes "gandalfctl: SENTENCE" to standard error. Returns 1, which is the exit status. */
int fail(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

#endif
