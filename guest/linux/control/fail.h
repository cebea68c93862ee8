/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong, said to the user. */
#ifndef GANDALFCTL_FAIL_H
#define GANDALFCTL_FAIL_H

/* Writes "gandalfctl: SENTENCE" to standard error. Returns 1, the exit status. */
int fail(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

#endif
