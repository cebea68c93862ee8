/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System state; see system.h. And the start, the kernel's table of contents.
 */
#include "system.h"

#include "cyclic.h"
#include "dataqueue.h"
#include "eventflag.h"
#include "exception.h"
#include "interrupt.h"
#include "mailbox.h"
#include "mempool.h"
#include "schedule.h"
#include "semaphore.h"

bool handler_runs = true;
bool cpu_locked;
bool dispatch_disabled;

void kernel_start(void)
{
	ready_init();
	time_init();
	task_init();
	semaphore_init();
	eventflag_init();
	dataqueue_init();
	mailbox_init();
	mempool_init();
	cyclic_init();
	interrupt_init();
	for (UINT i = 0; i < initialization_count; i++)
		((void (*)(VP_INT))initialization_configuration[i].inirtn)(
			initialization_configuration[i].exinf);
	running = ready_first();
	handler_runs = false;
	cpu_locked = false;
	port_start();
}

ER call_begin(void)
{
	if (handler_runs || cpu_locked)
		return E_CTX;
	interrupts_disable();
	return E_OK;
}

ER wait_call_begin(TMO timeout)
{
	if (timeout < TMO_FEVR)
		return E_PAR;
	if (timeout != TMO_POL && dispatch_disabled)
		return E_CTX;
	return call_begin();
}

ER handler_call_begin(void)
{
	return handler_runs && !cpu_locked ? E_OK : E_CTX;
}

ER call_end(ER result)
{
	if (ready_first() != running && !dispatch_disabled)
		port_dispatch();
	else
		interrupts_enable();
	return result;
}

ER object_check(ID id, ID count, const void *table, SIZE size)
{
	if (id < 1 || id > count)
		return E_ID;
	if (*(const ATR *)((const char *)table + (SIZE)(id - 1) * size) & CONFIGURATION_GAP)
		return E_NOEXS;
	return E_OK;
}

ER loc_cpu(void)
{
	if (handler_runs)
		return E_CTX;
	interrupts_disable();
	cpu_locked = true;
	return E_OK;
}

ER iloc_cpu(void)
{
	if (!handler_runs)
		return E_CTX;
	cpu_locked = true;
	return E_OK;
}

ER unl_cpu(void)
{
	if (handler_runs)
		return E_CTX;
	if (!cpu_locked)
		return E_OK;
	/* A CPU exception may have come meanwhile, and its handler may have woken somebody, who
	 * comes first, and raised a task exception. */
	cpu_locked = false;
	call_end(E_OK);
	interrupts_disable();
	exception_deliver();
	return call_end(E_OK);
}

ER iunl_cpu(void)
{
	if (!handler_runs)
		return E_CTX;
	cpu_locked = false;
	return E_OK;
}

ER dis_dsp(void)
{
	ER result = call_begin();

	if (result)
		return result;
	dispatch_disabled = true;
	return call_end(E_OK);
}

ER ena_dsp(void)
{
	ER result = call_begin();

	if (result)
		return result;
	dispatch_disabled = false;
	return call_end(E_OK);
}

BOOL sns_ctx(void)
{
	return handler_runs;
}

BOOL sns_loc(void)
{
	return cpu_locked;
}

BOOL sns_dsp(void)
{
	return dispatch_disabled;
}

BOOL sns_dpn(void)
{
	return handler_runs || cpu_locked || dispatch_disabled;
}
