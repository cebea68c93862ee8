/* SPDX-License-Identifier: 0BSD */
/*
 * An application for the uITRON kernel: a cyclic handler wakes a task each second, which prints.
 */
#include "tasks.h"

#include "kernel_id.h"
#include "print.h"

void beat_wake(VP_INT exinf)
{
	(void)exinf;
	iwup_tsk(TSK_BEAT);
}

void beat_run(VP_INT exinf)
{
	(void)exinf;
	for (unsigned int beat = 1;; beat++) {
		slp_tsk();
		print("beat %u\n", beat);
	}
}
