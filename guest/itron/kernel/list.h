/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doubly linked rings: ready queue, wait queues, time-outs. Every operation but a search
 * takes the same time however long the ring is.
 */
#ifndef LIST_H
#define LIST_H

#include <stdbool.h>
#include <stddef.h>

struct link {
	struct link *next, *previous;
};

#define container_of(member_pointer, type, member) \
	((type *)(void *)((char *)(member_pointer) - offsetof(type, member)))

static inline void list_init(struct link *list)
{
	list->next = list->previous = list;
}

static inline bool list_empty(const struct link *list)
{
	return list->next == list;
}

/* Before a link, or at the end of a list if that is its head. */
static inline void list_add(struct link *before, struct link *link)
{
	link->next = before;
	link->previous = before->previous;
	before->previous->next = link;
	before->previous = link;
}

/* A link in no list is a list of itself, so that it may be removed again. */
static inline void list_remove(struct link *link)
{
	link->previous->next = link->next;
	link->next->previous = link->previous;
	list_init(link);
}

#endif
