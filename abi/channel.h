/* SPDX-License-Identifier: MIT */
/*
 * A channel: memory that two guests share, with a ring of bytes in each
 * direction. Included unchanged by the VMM, by RTOSes and by Linux's driver.
 *
 * An index holds an epoch in its upper bits. The VMM begins a new epoch, and so
 * empties both rings, whenever one of the two guests starts or stops: whoever was
 * about to move an index then fails to, so that no byte of an old life is ever
 * read in a new one. Each side believes nothing that the other has written.
 * channel_end.h has what a guest sends and receives with.
 */
#ifndef GANDALF_CHANNEL_H
#define GANDALF_CHANNEL_H

#define GANDALF_CHANNELS_MAXIMUM 8
/* Bytes of the shared memory in front of the two rings, which halve the rest. */
#define GANDALF_CHANNEL_HEADER 64
#define GANDALF_CHANNEL_SIZE_MAXIMUM 0x100000
#define GANDALF_CHANNEL_POSITION 0xfffff /* of an index: the epoch is above */
#define GANDALF_CHANNEL_EPOCH 0x100000   /* one epoch more */

/* Results of channel_send() and channel_receive(), beside a number of bytes. */
#define GANDALF_CHANNEL_RESET (-104) /* a new epoch has begun; told once */
#define GANDALF_CHANNEL_BROKEN (-71) /* the other side has written nonsense */

#ifndef __ASSEMBLER__

#include <stdint.h>

/* Bytes from tail up to head are full; one is always free. */
struct gandalf_ring {
	uint32_t head; /* the sender writes it, the VMM at a new epoch */
	uint32_t tail; /* the receiver writes it, the VMM at a new epoch */
};

/* The rings' bytes follow: those of ring 0, then those of ring 1. */
struct gandalf_channel {
	struct gandalf_ring rings[2]; /* ring n: what side n sends */
	uint8_t reserved[48]; /* up to GANDALF_CHANNEL_HEADER */
};

/* What a guest finds of each of its channels in struct gandalf_shared. The VMM
 * writes it when the guest starts. */
struct gandalf_channel_place {
	char name[16];    /* ends with a 0 byte; "": no more channels */
	uint32_t address; /* guest-physical; RTOS: segment offset */
	uint32_t size;    /* bytes, header included */
	uint32_t side;    /* 0 or 1: which ring this guest sends on */
	uint32_t peer;    /* place of the other guest, for its doorbell */
};

#endif /* __ASSEMBLER__ */
#endif
