/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends a frame of its own kind through a raw packet socket on the interface of number 1, which is
 * the machine itself, and waits until it has come back. It prints "packet: ok".
 */
#include "process.h"

#define SYSCALL_SOCKET 359
#define SYSCALL_BIND 361
#define FAMILY_PACKET 17
#define SOCKET_RAW 3
/* For experiments (IEEE 802), in the order of the network's bytes. */
#define KIND 0xb588u
#define ITSELF 1
#define HEADER 14

/* struct sockaddr_ll */
static const struct {
	unsigned short family, kind;
	int interface;
	unsigned short hardware;
	unsigned char type, length, address[8];
} where = { FAMILY_PACKET, KIND, ITSELF, 0, 0, 0, { 0 } };

void run(int count, char **arguments)
{
	static const char ok[] = "packet: ok\n";
	static unsigned char sent[64], found[128];
	int opened = system_call(SYSCALL_SOCKET, FAMILY_PACKET, SOCKET_RAW, KIND, 0, 0);
	unsigned long socket = (unsigned long)opened;

	(void)count;
	(void)arguments;
	CHECK(opened >= 0);
	CHECK(system_call3(SYSCALL_BIND, socket, (unsigned long)&where, sizeof(where)) == 0);
	*(unsigned short *)&sent[HEADER - 2] = KIND;
	for (unsigned i = HEADER; i < sizeof(sent); i++)
		sent[i] = (unsigned char)(i * 7);
	CHECK(system_call3(SYSCALL_WRITE, socket, (unsigned long)sent, sizeof(sent)) ==
	      sizeof(sent));
	CHECK(system_call3(SYSCALL_READ, socket, (unsigned long)found, sizeof(found)) ==
	      sizeof(sent));
	for (unsigned i = 0; i < sizeof(sent); i++)
		CHECK(found[i] == sent[i]);
	system_call(SYSCALL_WRITE, 1, (unsigned long)ok, sizeof(ok) - 1, 0, 0);
	end(0);
}
