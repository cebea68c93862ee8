/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailboxes.
 */
#ifndef MAILBOX_H
#define MAILBOX_H

#include "wait.h"

struct mailbox {
	struct wait_queue queue;
	T_MSG *first; /* the message that is received next, or NULL */
	T_MSG *last;  /* only if there is a first */
};

extern struct mailbox mailbox_control[];
extern const ID mailbox_count;

void mailbox_init(void);

#endif
