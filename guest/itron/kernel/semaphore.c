/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores: resources that are counted.
 */
#include "semaphore.h"

#include "system.h"

void semaphore_init(void)
{
	for (ID i = 0; i < semaphore_count; i++) {
		wait_queue_init(&semaphore_control[i].queue, semaphore_configuration[i].sematr);
		semaphore_control[i].count = semaphore_configuration[i].isemcnt;
	}
}

static ER semaphore_find(ID id, struct semaphore **semaphore)
{
	*semaphore = &semaphore_control[id - 1];
	return object_check(id, semaphore_count, semaphore_configuration,
			    sizeof(*semaphore_configuration));
}

static ER semaphore_signal(ID id)
{
	struct semaphore *semaphore;
	struct task *task;
	ER result = semaphore_find(id, &semaphore);

	if (result)
		return result;
	task = wait_queue_first(&semaphore->queue);
	if (task)
		wait_release(task, E_OK);
	else if (semaphore->count == semaphore_configuration[id - 1].maxsem)
		return E_QOVR;
	else
		semaphore->count++;
	return E_OK;
}

ER sig_sem(ID semid)
{
	ER result = call_begin();

	return result ? result : call_end(semaphore_signal(semid));
}

ER isig_sem(ID semid)
{
	ER result = handler_call_begin();

	return result ? result : semaphore_signal(semid);
}

ER wai_sem(ID semid)
{
	return twai_sem(semid, TMO_FEVR);
}

ER pol_sem(ID semid)
{
	return twai_sem(semid, TMO_POL);
}

ER twai_sem(ID semid, TMO tmout)
{
	struct semaphore *semaphore;
	ER result = wait_call_begin(tmout);

	if (result)
		return result;
	result = semaphore_find(semid, &semaphore);
	if (result)
		return call_end(result);
	if (!semaphore->count)
		return wait_in(&semaphore->queue, tmout);
	semaphore->count--;
	return call_end(E_OK);
}
