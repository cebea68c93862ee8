/* SPDX-License-Identifier: Apache-2.0 */
/* The operations on a channel to an RTOS, for a machine whose RTOS echoes, takes or gives bytes. */
#include "channel.h"

#include "operation.h"
#include "system.h"

#define MESSAGE 16
#define KIB 1024

static long channel;
static char sent[KIB], received[KIB];

static void channel_open(const char *name)
{
	channel = system_call(CALL_OPEN, (long)name, O_RDWR, 0);
	check(channel >= 0, "there is no such channel, which only a machine of its own has");
	for (unsigned i = 0; i < KIB; i++)
		sent[i] = (char)(i * 7);
}

void channel_round_trip_prepare(void)
{
	channel_open("/dev/gandalf-echo");
}

void channel_throughput_prepare(void)
{
	channel_open("/dev/gandalf-stream");
}

static void channel_write(unsigned size)
{
	check(system_write((int)channel, sent, size) == (long)size, "a channel takes too little");
}

static void channel_read(unsigned size)
{
	for (unsigned done = 0; done < size;) {
		long got = system_read((int)channel, received + done, size - done);

		check(got > 0, "a channel gives nothing");
		done += (unsigned)got;
	}
}

void channel_round_trip_run(void)
{
	sent[0]++;
	channel_write(MESSAGE);
	channel_read(MESSAGE);
	for (unsigned i = 0; i < MESSAGE; i++)
		check(received[i] == sent[i], "a channel gives something else back");
}

void channel_throughput_run(void)
{
	channel_write(KIB);
}

/* The first operation takes the bytes as they come. */
void channel_throughput_back_run(void)
{
	char before = received[KIB - 1];
	int first = received[0] == before; /* both 0; later ones are 1023 apart */

	channel_read(KIB);
	check(first || received[0] == (char)(before + 1), "a channel has lost bytes");
	check(received[KIB - 1] == (char)(received[0] + KIB - 1), "a channel has lost bytes");
}

void channel_finish(void)
{
	check(system_call(CALL_CLOSE, channel, 0, 0) == 0, "the channel cannot be closed");
}
