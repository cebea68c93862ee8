/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for core/migration.c and guests/x86/smp/migrate.c in an image whose vCPUs stay where
 * they are. No guest of such an image asks for more (core/feature.h).
 */
#include "core/migration.h"
#include "guests/x86/smp/smp.h"

const struct seat_operations smp_seat;

void seat_depart(struct vm *vm)
{
	vm->leaves_for = 0;
}

int seat_move(UNUSED const struct vm *vm, UNUSED u32 number, UNUSED u32 to)
{
	return GANDALF_ERROR_ARGUMENT;
}

void seats_settle(void)
{
}

void smp_settle_in(UNUSED struct x86 *x86)
{
}
