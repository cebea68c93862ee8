/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program bench-internet: bench.c with the operations of ICMP and TCP, for a machine whose RTOS
 * answers (bench/lwip/services.c). The RTOS's address is the argument. A peer that refuses, goes
 * away or is silent for PATIENCE seconds is a mistake. In bench itself this would be pages of code
 * more, for which its forks would pay (turns.c).
 */
#include "operation.h"
#include "system.h"
#include "text.h"

enum { AF_INET = 2, SOCK_STREAM = 1, SOCK_RAW = 3, IPPROTO_ICMP = 1, IPPROTO_TCP = 6 };
enum { SOL_SOCKET = 1, SO_RCVBUF = 8, SO_RCVTIMEO = 20, SO_SNDTIMEO = 21 };
enum { TCP_NODELAY = 1, SHUT_WR = 1 };
enum { EAGAIN = 11, ENETUNREACH = 101, ETIMEDOUT = 110, ECONNREFUSED = 111 };
enum { EHOSTUNREACH = 113, EINPROGRESS = 115 };
/* ICMP (RFC 792); each packet has as much data as ping(8) sends. */
enum { ICMP_ANSWER = 0, ICMP_ECHO = 8, ICMP_DATA = 56, IP_HEADER_MAXIMUM = 60 };
/* The services of bench/lwip/services.c. */
enum { ECHO_PORT = 5007, SINK_PORT = 5009, SOURCE_PORT = 5019 };

/* Seconds. */
#define PATIENCE 2
#define CLOCK_MONOTONIC_COARSE 6
/* Packets of others that a raw socket may see before the answer. */
#define STRANGERS 8
#define IDENTIFIER 0x6762
#define MESSAGE 16u
/* What a segment of TCP has in a frame of 1,500 bytes, and how many are written or read at once: a
 * piece of another size would take now one more and now one less. */
#define SEGMENT 1460u
#define SEGMENTS 16u
#define PIECE (SEGMENTS * SEGMENT)
/* What the RTOS may send before it is read, in bytes, which the kernel doubles for what is around
 * them. Its own buffer holds many pieces: most would be there already, and the others dear. */
#define BUFFER 8192
/* Bytes of a stream are the low bytes of their positions in it. */
#define NUMBERS 256u

/* As the kernel takes it. */
struct internet_address {
	uint16_t family, port;
	uint8_t host[4], more[8];
};

struct duration {
	long seconds, microseconds;
};

struct packet {
	uint8_t type, code;
	uint16_t checksum, identifier, sequence;
	uint8_t data[ICMP_DATA];
};

/* As services.c says it. */
struct report {
	uint32_t bytes, wrong;
};

char *operation_argument;
static int peer;
static struct packet packet;
static uint8_t sent[NUMBERS + PIECE], received[PIECE];
static uint32_t position;

/* --- Sockets --- */

static void host_read(uint8_t host[4])
{
	const char *text = operation_argument;

	check(text != NULL, "it needs the RTOS's address");
	for (unsigned i = 0; i < 4; i++) {
		const char *begin = text;
		uint64_t part = text_number(text, &text);

		host[i] = (uint8_t)part;
		check(text != begin && part <= UINT8_MAX && *text == (i < 3 ? '.' : '\0'),
		      "the RTOS's address is no address");
		text++;
	}
}

/* Without it a peer that is gone would end the program without a word. */
static void pipe_ignore(int unused)
{
	(void)unused;
}

static void option_set(int level, int option, const void *value, long size)
{
	check(system_call6(CALL_SETSOCKOPT, peer, level, option, (long)value, size, 0) == 0,
	      "an option of the socket cannot be set");
}

static void socket_open(int kind, int protocol)
{
	const struct duration patience = { PATIENCE, 0 };
	long result = system_call(CALL_SOCKET, AF_INET, kind, protocol);

	check(result >= 0, "there are no such sockets, which need a kernel with INET, and root");
	peer = (int)result;
	check(system_handle(SIGPIPE, pipe_ignore) == 0, "the signal cannot be handled");
	for (int way = SO_RCVTIMEO; way <= SO_SNDTIMEO; way++)
		option_set(SOL_SOCKET, way, &patience, sizeof(patience));
	for (unsigned i = 0; i < sizeof(sent); i++)
		sent[i] = (uint8_t)i;
}

static void peer_connect(uint16_t port)
{
	struct internet_address address = { .family = AF_INET };
	long result;

	address.port = (uint16_t)(port << 8 | port >> 8);
	host_read(address.host);
	result = system_call(CALL_CONNECT, peer, (long)&address, sizeof(address));
	check(result != -ECONNREFUSED, "the RTOS refuses the connection");
	check(result != -EINPROGRESS && result != -ETIMEDOUT, "the RTOS does not answer");
	check(result != -ENETUNREACH && result != -EHOSTUNREACH, "no way leads to the RTOS");
	check(result == 0, "there is no connection");
}

static void all_write(const uint8_t *from, unsigned size)
{
	for (unsigned done = 0; done < size;) {
		long result = system_write(peer, from + done, size - done);

		check(result != -EAGAIN, "the RTOS takes nothing any more");
		check(result > 0, "the connection is lost");
		done += (unsigned)result;
	}
}

/* Returns how many bytes have come, of `size` at most. */
static unsigned some_read(void *to, unsigned size)
{
	long result = system_read(peer, to, size);

	check(result != -EAGAIN, "nothing comes from the RTOS any more");
	check(result != 0, "the RTOS has ended the connection");
	check(result > 0, "the connection is lost");
	return (unsigned)result;
}

static void all_read(void *to, unsigned size)
{
	for (unsigned done = 0; done < size;)
		done += some_read((uint8_t *)to + done, size - done);
}

static void peer_close(void)
{
	check(system_call(CALL_CLOSE, peer, 0, 0) == 0, "the socket cannot be closed");
}

/* --- Linux's timer --- */

/* It sets this clock. */
static long coarse_time(void)
{
	struct timespec now = { 0, 0 };

	check(system_call(CALL_CLOCK_GETTIME, CLOCK_MONOTONIC_COARSE, (long)&now, 0) == 0,
	      "there is no clock");
	return now.nanoseconds;
}

/* To be called in each run. What is counted from outside begins behind the warm-up and the next
 * interrupt, which mostly is the RTOS's: its timer comes more often than Linux's. This has Linux's
 * come just before, so that a short run has neither. */
static void timer_let_pass(void)
{
	static unsigned runs;
	long before;

	if (++runs != WARM_UP)
		return;
	before = coarse_time();
	while (coarse_time() == before)
		;
}

/* --- Ping --- */

static void ping_prepare(void)
{
	socket_open(SOCK_RAW, IPPROTO_ICMP);
	peer_connect(0);
	packet = (struct packet){ .type = ICMP_ECHO, .identifier = IDENTIFIER };
	for (unsigned i = 0; i < ICMP_DATA; i++)
		packet.data[i] = (uint8_t)(i * 7);
}

/* The Internet's checksum (RFC 1071), of any order of bytes. */
static uint16_t checksum_of(const struct packet *of)
{
	const uint16_t __attribute__((may_alias)) *words = (const void *)of;
	uint32_t sum = 0;

	for (unsigned i = 0; i < sizeof(*of) / 2; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t) ~(sum + (sum >> 16));
}

/* A raw socket gives the header of IP, too, and packets that are no answer to this program. */
static const struct packet *answer_read(void)
{
	for (unsigned i = 0; i < STRANGERS; i++) {
		unsigned size = some_read(received, IP_HEADER_MAXIMUM + sizeof(packet));
		unsigned header = (received[0] & 0xfu) * 4;
		const struct packet *answer = (const void *)(received + header);

		if (size == header + sizeof(packet) && answer->type == ICMP_ANSWER &&
		    answer->identifier == IDENTIFIER)
			return answer;
	}
	operation_fail("no answer is among what comes");
}

static void ping_run(void)
{
	const struct packet *answer;

	packet.sequence++;
	packet.checksum = 0;
	packet.checksum = checksum_of(&packet);
	check(system_write(peer, &packet, sizeof(packet)) == sizeof(packet), "a ping is not sent");
	answer = answer_read();
	check(answer->sequence == packet.sequence, "the answer is another ping's");
	for (unsigned i = 0; i < ICMP_DATA; i++)
		check(answer->data[i] == packet.data[i], "the answer has other data");
	timer_let_pass();
}

/* --- A stream to the RTOS --- */

static void send_prepare(void)
{
	socket_open(SOCK_STREAM, IPPROTO_TCP);
	peer_connect(SINK_PORT);
}

static void send_run(void)
{
	all_write(&sent[position % NUMBERS], PIECE);
	position += PIECE;
	timer_let_pass();
}

/* By now the figures are a line that is not written yet. They are no result if this is wrong. */
static void check_behind(int right, const char *what)
{
	if (!right)
		line_write(2);
	check(right, what);
}

static void send_finish(void)
{
	struct report report = { 0, 0 };
	unsigned done = 0;
	long result = system_call(CALL_SHUTDOWN, peer, SHUT_WR, 0);

	check_behind(result == 0, "the stream cannot be ended");
	for (; done < sizeof(report); done += (unsigned)result) {
		result = system_read(peer, (uint8_t *)&report + done, sizeof(report) - done);
		check_behind(result > 0, "the RTOS does not say what has come");
	}
	check_behind(report.bytes == position, "not all bytes have come");
	check_behind(report.wrong == 0, "other bytes have come");
	peer_close();
}

/* --- A stream from it --- */

/* Sets the buffer before the connection, which begins to fill it. */
static void receive_prepare(void)
{
	const int size = BUFFER;

	socket_open(SOCK_STREAM, IPPROTO_TCP);
	option_set(SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	peer_connect(SOURCE_PORT);
}

/* The ends of what comes are looked at: what lies between them has TCP's checksum. */
static void receive_run(void)
{
	for (unsigned done = 0; done < PIECE;) {
		unsigned size = some_read(received + done, PIECE - done), last = done + size - 1;

		check(received[done] == (uint8_t)(position + done) &&
			      received[last] == (uint8_t)(position + last),
		      "other bytes come");
		done += size;
	}
	position += PIECE;
	timer_let_pass();
}

/* --- A message and its answer --- */

static void round_trip_prepare(void)
{
	const int yes = 1;

	socket_open(SOCK_STREAM, IPPROTO_TCP);
	option_set(IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	peer_connect(ECHO_PORT);
}

static void round_trip_run(void)
{
	sent[0]++;
	all_write(sent, MESSAGE);
	all_read(received, MESSAGE);
	for (unsigned i = 0; i < MESSAGE; i++)
		check(received[i] == sent[i], "something else comes back");
	timer_let_pass();
}

const struct operation operations[] = {
	{ .name = "network_ping", .prepare = ping_prepare, .run = ping_run, .finish = peer_close,
	  .parts = 1 },
	{ .name = "network_tcp_send", .prepare = send_prepare, .run = send_run,
	  .finish = send_finish, .parts = SEGMENTS },
	{ .name = "network_tcp_receive", .prepare = receive_prepare, .run = receive_run,
	  .finish = peer_close, .parts = SEGMENTS },
	{ .name = "network_tcp_round_trip", .prepare = round_trip_prepare, .run = round_trip_run,
	  .finish = peer_close, .parts = 1 },
	{ .name = NULL },
};
