/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-size memory pools: blocks that are given and taken back in the same time always.
 */
#include "mempool.h"

#include "schedule.h"
#include "system.h"

void mempool_init(void)
{
	for (ID i = 0; i < mempool_count; i++) {
		wait_queue_init(&mempool_control[i].queue, mempool_configuration[i].mpfatr);
		mempool_control[i].unused = mempool_configuration[i].blkcnt;
	}
}

static ER mempool_find(ID id, struct mempool **pool)
{
	*pool = &mempool_control[id - 1];
	return object_check(id, mempool_count, mempool_configuration,
			    sizeof(*mempool_configuration));
}

static bool mempool_take(struct mempool *pool, VP *block)
{
	const struct mempool_configuration *configuration =
		&mempool_configuration[pool - mempool_control];

	if (pool->free) {
		*block = pool->free;
		pool->free = *(VP *)pool->free;
	} else if (pool->unused) {
		*block = (UB *)configuration->mpf +
			 (configuration->blkcnt - pool->unused--) * configuration->blksz;
	} else {
		return false;
	}
	return true;
}

ER get_mpf(ID mpfid, VP *p_blk)
{
	return tget_mpf(mpfid, p_blk, TMO_FEVR);
}

ER pget_mpf(ID mpfid, VP *p_blk)
{
	return tget_mpf(mpfid, p_blk, TMO_POL);
}

ER tget_mpf(ID mpfid, VP *p_blk, TMO tmout)
{
	struct mempool *pool;
	struct task *self;
	ER result = wait_call_begin(tmout);

	if (result)
		return result;
	result = mempool_find(mpfid, &pool);
	if (result || mempool_take(pool, p_blk))
		return call_end(result);
	self = running;
	result = wait_in(&pool->queue, tmout);
	if (!result)
		*p_blk = self->outcome.data;
	return result;
}

/* Is it a block that somebody has had? */
static bool mempool_has(ID id, const struct mempool *pool, const void *block)
{
	const struct mempool_configuration *configuration = &mempool_configuration[id - 1];
	UW offset = (UW)block - (UW)configuration->mpf;

	return offset % configuration->blksz == 0 &&
	       offset / configuration->blksz < configuration->blkcnt - pool->unused;
}

ER rel_mpf(ID mpfid, VP blk)
{
	struct mempool *pool;
	struct task *task;
	ER result = call_begin();

	if (result)
		return result;
	result = mempool_find(mpfid, &pool);
	if (!result && !mempool_has(mpfid, pool, blk))
		result = E_PAR;
	if (result)
		return call_end(result);
	task = wait_queue_first(&pool->queue);
	if (task) {
		task->outcome.data = blk;
		wait_release(task, E_OK);
	} else {
		*(VP *)blk = pool->free;
		pool->free = blk;
	}
	return call_end(E_OK);
}
