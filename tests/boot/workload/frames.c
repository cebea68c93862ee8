/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of root's that sends frames of random bytes on the network `lan`, by a packet socket
 * (packet(7)). Most begin as a frame of ARP, IPv4 or TCP for 10.0.0.2 does, to get further.
 *	frames		"frames: sent" behind FRAMES frames; those without room are lost
 * It ends with status 1 if there is no such network.
 */
#include "process.h"

#define SYSCALL_IOCTL 54
#define SYSCALL_SOCKET 359
#define SYSCALL_BIND 361
#define AF_PACKET 17
#define SOCK_RAW 3
#define SIOCGIFINDEX 0x8933
#define FRAMES 20000
#define HEADER 14
#define FRAME_SIZE 1514
#define ADDRESSES (HEADER + 12) /* of IPv4: source, destination */
#define ICMP 1
#define TCP 6

/* As the kernel takes them. */
static struct {
	char name[16];
	int index;
	char more[20];
} request = { .name = "lan" };

static struct {
	unsigned short family, protocol;
	int interface;
	unsigned char more[12];
} address = { .family = AF_PACKET };

static unsigned char frame[FRAME_SIZE];
/* No group's, so that the RTOS takes it for one to answer. */
static const unsigned char source[] = { 2, 0, 0, 0, 0, 1 };
static unsigned random_state = 1;

static unsigned random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

static void put(unsigned at, const unsigned char *bytes, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		frame[at + i] = bytes[i];
}

/* Writes a checksum (RFC 1071) of some bytes in front of which others count as `sum`. */
static void put_checksum(unsigned at, unsigned from, unsigned size, unsigned sum)
{
	frame[at] = frame[at + 1] = 0;
	for (unsigned i = 0; i < size; i++)
		sum += i % 2 ? frame[from + i] : (unsigned)frame[from + i] << 8;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	frame[at] = (unsigned char)(sum >> 8);
	frame[at + 1] = (unsigned char)sum;
}

/* Makes what ICMP or TCP has behind the header of IPv4 look right, as far as a checksum tells. */
static void make_content(unsigned from, unsigned size, unsigned protocol)
{
	static const unsigned char web[] = { 0, 80 };
	unsigned sum = protocol + size;

	if (protocol == ICMP && size >= 8) {
		frame[from] = (unsigned char)(frame[from] & 8);
		put_checksum(from + 2, from, size, 0);
	}
	if (protocol != TCP || size < 20)
		return;
	put(from + 2, web, sizeof(web));
	if (random_next() % 2)
		frame[from + 13] = (unsigned char)(1u << random_next() % 6); /* one flag alone */
	for (unsigned i = 0; i < 8; i += 2)
		sum += (unsigned)(frame[ADDRESSES + i] << 8 | frame[ADDRESSES + i + 1]);
	put_checksum(from + 16, from, size, sum);
}

static void make_ipv4(unsigned size)
{
	static const unsigned char server[] = { 10, 0, 0, 2 };
	static const unsigned char protocols[] = { ICMP, TCP, TCP, 17 };
	unsigned words = random_next() % 4 ? 5 : 5 + random_next() % 11;
	unsigned content = HEADER + 4 * words;

	if (random_next() % 4)
		put(ADDRESSES, server, 3); /* from any of the same net */
	put(ADDRESSES + 4, server, sizeof(server));
	frame[HEADER] = (unsigned char)(0x40 | words);
	frame[HEADER + 2] = (unsigned char)((size - HEADER) >> 8);
	frame[HEADER + 3] = (unsigned char)(size - HEADER);
	frame[HEADER + 6] = frame[HEADER + 7] = 0; /* no fragment */
	frame[HEADER + 9] = protocols[random_next() % sizeof(protocols)];
	put_checksum(HEADER + 10, HEADER, 4 * words, 0);
	if (size > content)
		make_content(content, size - content, frame[HEADER + 9]);
}

/* Makes a frame and returns its size. */
static unsigned make(void)
{
	static const unsigned char all[] = { 255, 255, 255, 255, 255, 255 };
	static const unsigned char types[] = { 8, 6, 8, 0 };
	static const unsigned char server[] = { 10, 0, 0, 2 };
	unsigned room = random_next() % 2 ? 100 : FRAME_SIZE - HEADER;
	unsigned size = HEADER + random_next() % (room + 1);
	unsigned kind = random_next() % 4;

	for (unsigned i = 0; i < FRAME_SIZE; i++)
		frame[i] = (unsigned char)random_next();
	if (!kind)
		return size;
	put(0, all, sizeof(all));
	put(6, source, sizeof(source));
	put(12, kind == 1 ? types : types + 2, 2);
	if (kind == 1)
		put(HEADER + 24, server, sizeof(server));
	else
		make_ipv4(size);
	return size;
}

void run(int count, char **arguments)
{
	static const char done[] = "frames: sent\n";
	int packets = system_call(SYSCALL_SOCKET, AF_PACKET, SOCK_RAW, 0, 0, 0);

	(void)count;
	(void)arguments;
	if (packets < 0 || system_call(SYSCALL_IOCTL, (unsigned long)packets, SIOCGIFINDEX,
				       (unsigned long)&request, 0, 0))
		end(1);
	address.interface = request.index;
	if (system_call(SYSCALL_BIND, (unsigned long)packets, (unsigned long)&address, 20, 0, 0))
		end(1);
	for (unsigned i = 0; i < FRAMES; i++)
		system_call(SYSCALL_WRITE, (unsigned long)packets, (unsigned long)frame, make(), 0,
			    0);
	system_call(SYSCALL_WRITE, 1, (unsigned long)done, sizeof(done) - 1, 0, 0);
	end(0);
}
