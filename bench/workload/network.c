/* SPDX-License-Identifier: Apache-2.0 */
/* The operations on a network with an RTOS, for a machine whose RTOS takes frames or sends them
 * back. Frames go by a packet socket (packet(7)), so no protocol is measured. */
#include "network.h"

#include "operation.h"
#include "system.h"

#define AF_PACKET 17
#define SOCK_RAW 3
#define SIOCGIFINDEX 0x8933
/* The Ethernet type for experiments (IEEE 802, table 2), as the wire has it. */
#define FRAME_TYPE 0xb588
#define FRAME_HEADER 14
#define FRAME_SIZE (FRAME_HEADER + 1500)

/* As the kernel takes them. */
struct interface_request {
	char name[16];
	int32_t index;
	uint8_t more[20];
};

struct packet_address {
	uint16_t family, protocol;
	int32_t interface;
	uint16_t hardware_type;
	uint8_t packet_type, size, address[8];
};

static struct interface_request request = { .name = "bench" };
static long packets;
static uint8_t sent[FRAME_SIZE], received[FRAME_SIZE];

void network_prepare(void)
{
	struct packet_address address = { .family = AF_PACKET, .protocol = FRAME_TYPE };

	packets = system_call(CALL_SOCKET, AF_PACKET, SOCK_RAW, FRAME_TYPE);
	check(packets >= 0, "there are no packet sockets, which only a kernel of its own has");
	check(system_call(CALL_IOCTL, packets, SIOCGIFINDEX, (long)&request) == 0,
	      "there is no such network, which only a machine of its own has");
	address.interface = request.index;
	check(system_call(CALL_BIND, packets, (long)&address, sizeof(address)) == 0,
	      "the network cannot be used");
	for (unsigned i = 0; i < FRAME_SIZE; i++)
		sent[i] = i < FRAME_HEADER ? 0xff : (uint8_t)(i * 7);
	sent[12] = FRAME_TYPE & 0xff;
	sent[13] = FRAME_TYPE >> 8;
}

static void frame_send(uint8_t answer)
{
	sent[FRAME_HEADER] = answer;
	sent[FRAME_SIZE - 1]++;
	check(system_write((int)packets, sent, FRAME_SIZE) == FRAME_SIZE, "a frame is not sent");
}

void network_send_run(void)
{
	frame_send(0);
}

void network_round_trip_run(void)
{
	frame_send(1);
	check(system_read((int)packets, received, FRAME_SIZE) == FRAME_SIZE, "no frame comes back");
	check(received[FRAME_SIZE - 1] == sent[FRAME_SIZE - 1], "another frame comes back");
}

void network_finish(void)
{
	check(system_call(CALL_CLOSE, packets, 0, 0) == 0, "the socket cannot be closed");
}
