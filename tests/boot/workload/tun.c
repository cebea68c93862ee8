/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the interface tun0, and stands for all hosts behind it: whoever is pinged there answers.
 * The first process ends as soon as there is the interface; the other one answers until it is
 * killed.
 */
#include "process.h"

#define SYSCALL_IOCTL 54
#define READ_WRITE 2
#define TUNSETIFF 0x400454cau
/* Packets of the internet protocol, and nothing in front of them. */
#define IFF_TUN 0x0001
#define IFF_NO_PI 0x1000
#define PROTOCOL 9
#define PROTOCOL_ICMP 1
#define SOURCE 12
#define DESTINATION 16
#define HEADER 20
#define ECHO_REQUEST 8
#define ECHO_REPLY 0

/* struct ifreq */
static struct {
	char name[16];
	short flags;
	char rest[14];
} request = { "tun0", IFF_TUN | IFF_NO_PI, { 0 } };

/* The same bytes go back, with the addresses exchanged and another type, by which the checksum of
 * ones' complement grows. */
static void answer(unsigned char *packet)
{
	unsigned address = *(unsigned *)&packet[SOURCE];
	unsigned char *sum = &packet[HEADER + 2];

	*(unsigned *)&packet[SOURCE] = *(unsigned *)&packet[DESTINATION];
	*(unsigned *)&packet[DESTINATION] = address;
	packet[HEADER] = ECHO_REPLY;
	if (sum[0] >= 0x100 - ECHO_REQUEST && ++sum[1] == 0)
		sum[0]++;
	sum[0] = (unsigned char)(sum[0] + ECHO_REQUEST);
}

void run(int count, char **arguments)
{
	static unsigned char packet[2048];
	int size, opened = system_call3(SYSCALL_OPEN, (unsigned long)"/dev/net/tun", READ_WRITE, 0);
	unsigned long file = (unsigned long)opened;

	(void)count;
	(void)arguments;
	CHECK(opened >= 0);
	CHECK(system_call3(SYSCALL_IOCTL, file, TUNSETIFF, (unsigned long)&request) == 0);
	if (system_call(SYSCALL_FORK, 0, 0, 0, 0, 0) != 0)
		end(0);
	for (;;) {
		size = system_call3(SYSCALL_READ, file, (unsigned long)packet, sizeof(packet));
		CHECK(size > 0);
		if (packet[0] != 0x45 || packet[PROTOCOL] != PROTOCOL_ICMP ||
		    packet[HEADER] != ECHO_REQUEST)
			continue;
		answer(packet);
		CHECK(system_call3(SYSCALL_WRITE, file, (unsigned long)packet,
				   (unsigned long)size) == size);
	}
}
