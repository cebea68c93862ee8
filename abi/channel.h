/* SPDX-License-Identifier: MIT */
/*
 * A channel is memory that two guests share. It holds a ring of bytes for each direction. The VMM,
 * RTOSes and Linux's driver include this file unchanged. channel_end.h has the functions by which
 * guests send and receive.
 *
 * Each index of a ring has an epoch in its upper bits. The VMM begins a new epoch, and so empties
 * both rings, whenever one of the two guests starts or stops. A guest that was about to move an
 * index then fails, because the epoch differs. So no byte of an old life is read in a new one.
 * Each side checks everything that the other has written.
 */
#ifndef GANDALF_CHANNEL_H
#define GANDALF_CHANNEL_H

#define GANDALF_CHANNELS_MAXIMUM 8
/* Bytes of struct gandalf_channel. The rest of the shared memory is one half for each ring. */
#define GANDALF_CHANNEL_HEADER 64
#define GANDALF_CHANNEL_SIZE_MAXIMUM 0x100000 /* bytes, header included */
#define GANDALF_CHANNEL_POSITION 0xfffff /* the bits of an index that are a position */
#define GANDALF_CHANNEL_EPOCH 0x100000   /* added to an index, begins the next epoch */

/* Errors of channel_send() and channel_receive(), which otherwise return a number of bytes. The
 * values are Linux's ECONNRESET and EPROTO. */
#define GANDALF_CHANNEL_RESET (-104) /* a new epoch has begun; each end is told once */
#define GANDALF_CHANNEL_BROKEN (-71) /* an index lies outside the ring */

#ifndef __ASSEMBLER__

#include <stdint.h>

/* The indices of a ring: an epoch and a position in bytes each. The bytes from tail up to head wait
 * to be received. One byte always stays free, so that a full ring differs from an empty one. */
struct gandalf_ring {
	uint32_t head; /* written by the sender, and by the VMM at a new epoch */
	uint32_t tail; /* written by the receiver, and by the VMM at a new epoch */
};

/* The start of a channel's memory. The bytes of ring 0 follow, then those of ring 1. */
struct gandalf_channel {
	struct gandalf_ring rings[2]; /* side n sends by ring n */
	uint8_t reserved[48]; /* fills GANDALF_CHANNEL_HEADER; nobody writes it but in a network,
	                         which has a header of its own (network.h) */
};

/* What struct gandalf_shared says about one of a guest's channels. The VMM writes all fields when
 * the guest starts. */
struct gandalf_channel_place {
	char name[16];    /* ends with a 0 byte; "" means that no more channels follow */
	uint32_t address; /* guest-physical; for an RTOS, an offset in its data segment */
	uint32_t size;    /* bytes, header included */
	uint32_t side;    /* 0 or 1: the ring by which this guest sends */
	uint32_t peer;    /* place of the other guest, as GANDALF_HYPERCALL_DOORBELL takes it */
};

#endif /* __ASSEMBLER__ */
#endif
