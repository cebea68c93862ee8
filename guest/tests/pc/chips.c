/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chips of a PC's mainboard, as the tests use them: 8259 pair, 8254.
 */
#include "machine.h"

#define MASTER 0x20
#define SLAVE 0xa0
#define DATA 1 /* added to the port */
#define INITIALISE 0x11
#define CASCADE 2
#define MODE_8086 1
#define READ_REQUEST 0x0a
#define READ_IN_SERVICE 0x0b

#define PIT_CHANNEL_0 0x40
#define PIT_CHANNEL_2 0x42
#define PIT_CONTROL 0x43
#define PIT_0_RATE 0x34 /* both bytes, mode 2 */
#define PIT_0_STOP 0x30 /* both bytes, mode 0: waits for a count */
#define PIT_2_ONCE 0xb0 /* both bytes, mode 0 */
#define GATE_PORT 0x61
#define GATE_2 0x01
#define SPEAKER 0x02
#define OUTPUT_2 0x20

void pic_init(void)
{
	static const struct {
		uint16_t port;
		uint8_t vector, cascade;
	} chips[] = { { MASTER, VECTOR_IRQ, 1 << CASCADE }, { SLAVE, VECTOR_IRQ + 8, CASCADE } };

	for (uint32_t i = 0; i < 2; i++) {
		port_out(chips[i].port, INITIALISE);
		port_out(chips[i].port + DATA, chips[i].vector);
		port_out(chips[i].port + DATA, chips[i].cascade);
		port_out(chips[i].port + DATA, MODE_8086);
	}
	pic_unmask(0);
}

void pic_unmask(uint16_t irqs)
{
	uint16_t mask = (uint16_t)~(irqs | (irqs >> 8 ? 1 << CASCADE : 0));

	port_out(MASTER + DATA, (uint8_t)mask);
	port_out(SLAVE + DATA, (uint8_t)(mask >> 8));
}

static uint16_t pic_read(uint8_t what)
{
	uint16_t master;

	port_out(MASTER, what);
	master = port_in(MASTER);
	port_out(SLAVE, what);
	return (uint16_t)(port_in(SLAVE) << 8 | master);
}

uint16_t pic_request(void)
{
	return pic_read(READ_REQUEST);
}

uint16_t pic_in_service(void)
{
	return pic_read(READ_IN_SERVICE);
}

void pit_start(uint32_t hz)
{
	uint32_t count = PIT_HZ / hz;

	port_out(PIT_CONTROL, PIT_0_RATE);
	port_out(PIT_CHANNEL_0, (uint8_t)count);
	port_out(PIT_CHANNEL_0, (uint8_t)(count >> 8));
}

void pit_stop(void)
{
	port_out(PIT_CONTROL, PIT_0_STOP);
}

void pit_delay(uint32_t microseconds)
{
	uint32_t count = microseconds * 1193 / 1000;

	port_out(GATE_PORT, (uint8_t)((port_in(GATE_PORT) & ~SPEAKER) | GATE_2));
	port_out(PIT_CONTROL, PIT_2_ONCE);
	port_out(PIT_CHANNEL_2, (uint8_t)count);
	port_out(PIT_CHANNEL_2, (uint8_t)(count >> 8));
	while (!(port_in(GATE_PORT) & OUTPUT_2))
		;
}

uint32_t time_stamps_per_ms(void)
{
	static uint32_t ticks;
	uint64_t start;

	if (!ticks) {
		start = time_stamp();
		pit_delay(10000);
		ticks = (uint32_t)(time_stamp() - start) / 10;
	}
	return ticks;
}
