/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the keyboard beside the screen that core/display.c draws. It interrupts, and what it types
 * goes where the bytes from the UART go.
 */
#include "core/log.h"
#include "core/module.h"
#include "core/schedule.h"
#include "device/keyboard.h"
#include "display.h"
#include "lib/owner.h"
#include "platform.h"

#define KEYBOARD_RATE 20u /* its interrupts in a millisecond, at most */
#define KEYBOARD_CODES 2u /* how many codes are taken at each */

OF_CORE static struct keyboard keyboard;
OF_CORE static struct deadline keyboard_waits;

static u64 keyboard_expire(UNUSED struct deadline *deadline)
{
	irq_enable(KEYBOARD_IRQ);
	return TIME_NEVER;
}

void keyboard_listen(void)
{
	if (!display_copies)
		return;
	deadline_init(&keyboard_waits, keyboard_expire, 0);
	if (keyboard_start())
		irq_enable(KEYBOARD_IRQ);
	else
		log_line("no keyboard controller");
}

/* Takes some codes. Returns whether they were any. */
static bool keyboard_receive(void)
{
	u8 bytes[KEYBOARD_BYTES];
	int code;
	u32 i;

	for (i = 0; i < KEYBOARD_CODES && (code = keyboard_read()) >= 0; i++) {
		u32 count = keyboard_take(&keyboard, system_table.keys, (u8)code, bytes);

		for (u32 j = 0; j < count; j++)
			console_input(&consoles, bytes[j]);
	}
	return i != 0;
}

/* As the UART, the keyboard is masked until a deadline: its line is kept out, so that a keyboard
 * without an end cannot keep out the timer. It keeps the codes itself meanwhile. */
bool keyboard_serve(unsigned irq, bool *received)
{
	if (irq != KEYBOARD_IRQ || !display_copies)
		return false;
	irq_disable(irq);
	deadline_set(&keyboard_waits, rdtsc() + time_tsc_khz / KEYBOARD_RATE);
	*received |= keyboard_receive();
	return true;
}
