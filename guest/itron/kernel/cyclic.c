/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cyclic handlers: called by the timer's handler at whole periods, however late the last call
 * was. One with TA_PHS keeps its time-out while it is stopped, so that it keeps its phase.
 */
#include "cyclic.h"

#include "system.h"

static void cyclic_expire(struct timeout *timeout)
{
	struct cyclic *cyclic = container_of(timeout, struct cyclic, timeout);
	const struct cyclic_configuration *configuration =
		&cyclic_configuration[cyclic - cyclic_control];

	timeout_restart(timeout, configuration->cyctim);
	if (cyclic->operates) {
		((void (*)(VP_INT))configuration->cychdr)(configuration->exinf);
		/* A handler must unlock the CPU; were it forgotten, all stood. */
		cpu_locked = false;
	}
}

void cyclic_init(void)
{
	for (ID i = 0; i < cyclic_count; i++) {
		const struct cyclic_configuration *configuration = &cyclic_configuration[i];

		timeout_init(&cyclic_control[i].timeout, cyclic_expire);
		cyclic_control[i].operates =
			(configuration->cycatr & (CONFIGURATION_GAP | TA_STA)) == TA_STA;
		if (!(configuration->cycatr & CONFIGURATION_GAP) &&
		    configuration->cycatr & (TA_STA | TA_PHS))
			timeout_start(&cyclic_control[i].timeout, configuration->cycphs);
	}
}

static ER cyclic_operate(ID id, bool start)
{
	const struct cyclic_configuration *configuration = &cyclic_configuration[id - 1];
	struct cyclic *cyclic = &cyclic_control[id - 1];
	ER result = call_begin();

	if (result)
		return result;
	result = object_check(id, cyclic_count, cyclic_configuration,
			      sizeof(*cyclic_configuration));
	if (result)
		return call_end(result);
	cyclic->operates = start;
	if (!(configuration->cycatr & TA_PHS)) {
		timeout_stop(&cyclic->timeout);
		if (start)
			timeout_start(&cyclic->timeout, configuration->cyctim);
	}
	return call_end(E_OK);
}

ER sta_cyc(ID cycid)
{
	return cyclic_operate(cycid, true);
}

ER stp_cyc(ID cycid)
{
	return cyclic_operate(cycid, false);
}
