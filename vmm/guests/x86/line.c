/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads from the chips of a mainboard to their Linux: by the lines of its two 8259s, or by being
 * due, which the vCPU looks at before it goes on.
 */
#include "guests/x86/line.h"

#include "core/work.h"
#include "guests/x86/masked_sections.h"
#include "guests/x86/port.h"
#include "masked_state.h"
#include "siblings.h"

void chips_pause(void)
{
	work_admit(chips);
}

void line_look(struct board *board)
{
	struct x86 *x86 = board->x86;

	EXPECTS_MASKED();
	x86->interrupt_waits = interrupt_waits(board);
	vcpu_notify_if(x86->vcpu, x86->interrupt_waits);
}

void line_chip_is_due(struct board *board, u8 due)
{
	x86_becomes_due(board->x86, due);
}

unsigned line_acknowledge(struct board *board)
{
	unsigned vector = (unsigned)pic_acknowledge(&board->pic);

	EXPECTS_MASKED();
	board->x86->interrupt_waits = pic_pending(&board->pic) >= 0;
	return vector;
}

void line_pulse(struct board *board, unsigned irq)
{
	pic_set_line(&board->pic, irq, false);
	pic_set_line(&board->pic, irq, true);
	line_look(board);
}

static u8 pic_port_read(struct board *board, u16 port)
{
	u8 value = pic_read(&board->pic, port);

	line_look(board);
	return value;
}

static void pic_port_write(struct board *board, u16 port, u8 value)
{
	pic_write(&board->pic, port, value);
	line_look(board);
}

static const struct port_range pic_first = {0x20, 0x21, pic_port_read, pic_port_write};
static const struct port_range pic_second = {0xa0, 0xa1, pic_port_read, pic_port_write};
PORT_RANGE(pic_first);
PORT_RANGE(pic_second);
