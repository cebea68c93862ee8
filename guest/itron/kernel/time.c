/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time-outs and the service calls of the system time.
 */
#include "time.h"

#include "system.h"

static struct link timeouts;
static UW time_now;	  /* ticks since the start */
static SYSTIM time_offset; /* system time minus time_now */

void time_init(void)
{
	list_init(&timeouts);
}

void timeout_init(struct timeout *timeout, void (*expire)(struct timeout *timeout))
{
	list_init(&timeout->link);
	timeout->expire = expire;
}

static void timeout_insert(struct timeout *timeout, UW due)
{
	struct link *next;

	timeout->due = due;
	for (next = timeouts.next; next != &timeouts; next = next->next) {
		/* What is due first waits first, and then who came first. */
		if (container_of(next, struct timeout, link)->due - time_now > due - time_now)
			break;
	}
	list_add(next, &timeout->link);
}

void timeout_start(struct timeout *timeout, RELTIM delay)
{
	timeout_insert(timeout, time_now + delay + 1);
}

void timeout_restart(struct timeout *timeout, RELTIM delay)
{
	timeout_insert(timeout, timeout->due + delay);
}

void timeout_stop(struct timeout *timeout)
{
	list_remove(&timeout->link);
}

ER isig_tim(void)
{
	ER result = handler_call_begin();

	if (result)
		return result;
	time_now++;
	while (!list_empty(&timeouts)) {
		struct timeout *first = container_of(timeouts.next, struct timeout, link);

		if (first->due != time_now)
			break;
		timeout_stop(first);
		first->expire(first);
	}
	return E_OK;
}

void time_interrupt(void)
{
	for (UINT ticks = port_timer_ticks(); ticks; ticks--)
		isig_tim();
}

ER set_tim(SYSTIM *p_systim)
{
	ER result = call_begin();

	if (result)
		return result;
	time_offset = *p_systim - time_now;
	return call_end(E_OK);
}

ER get_tim(SYSTIM *p_systim)
{
	ER result = call_begin();

	if (result)
		return result;
	*p_systim = time_now + time_offset;
	return call_end(E_OK);
}
