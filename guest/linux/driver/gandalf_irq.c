// SPDX-License-Identifier: GPL-2.0-only
/*
 * On a CPU that Linux shares, every port access enters the VMM. For each interrupt Linux makes four
 * or five of them at the 8259s: it masks the line, ends the interrupt, and unmasks the line. The
 * virtual 8259s need none of that. Their lines are edges, they end each interrupt themselves if
 * told to, and another one of the same line waits for the virtual interrupt flag. So this file
 * gives the lines Linux's handler for edges, and the chips their automatic EOI.
 *
 * A CPU that Linux has to itself keeps its real 8259s as they are.
 */
#include <linux/init.h>
#include <linux/irq.h>
#include <linux/irqflags.h>
#include <linux/spinlock.h>
#include <asm/hw_irq.h>
#include <asm/i8259.h>

#include "on_gandalf.h"

/* Does nothing, since the chip has ended the interrupt. */
static void line_end(struct irq_data *data)
{
}

static struct irq_chip chip;

/* Sets up the second chip. Linux knows automatic EOI for the first one only. No other CPU may write
 * to the chip's ports meanwhile, which would take that for a part of the setup. */
static void second_chip_init(void)
{
	raw_spin_lock(&i8259A_lock);
	outb(0x11, PIC_SLAVE_CMD);
	outb(ISA_IRQ_VECTOR(8), PIC_SLAVE_IMR);
	outb(PIC_CASCADE_IR, PIC_SLAVE_IMR);
	outb(SLAVE_ICW4_DEFAULT | PIC_ICW4_AEOI, PIC_SLAVE_IMR);
	outb(cached_slave_mask, PIC_SLAVE_IMR);
	raw_spin_unlock(&i8259A_lock);
}

/* Makes a line one of edges. Linux repeats what came while the line was disabled, since the chip
 * keeps no level. */
static void line_init(int line)
{
	irq_clear_status_flags(line, IRQ_LEVEL);
	irq_set_chip_and_handler(line, &chip, handle_edge_irq);
}

static int __init irq_init(void)
{
	unsigned long flags;

	if (!on_shared_cpu())
		return 0;
	local_irq_save(flags);
	legacy_pic->init(1);
	second_chip_init();
	chip = *legacy_pic->chip;
	chip.name = "Gandalf";
	chip.irq_ack = line_end;
	for (int line = 0; line < nr_legacy_irqs(); line++)
		if (line != PIC_CASCADE_IR)
			line_init(line);
	local_irq_restore(flags);
	return 0;
}
core_initcall(irq_init);
