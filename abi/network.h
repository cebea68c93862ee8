/* SPDX-License-Identifier: MIT */
/*
 * A network between two guests: a channel (channel.h) whose rings hold whole Ethernet frames. To
 * the VMM it is a channel like any other. A guest knows it by its name, which begins with
 * GANDALF_NETWORK_PREFIX, as no other channel's does. network_end.h has the functions by which
 * guests send and receive.
 *
 * Indices and epochs are those of a channel, and all positions are multiples of 4. A frame in a
 * ring is a word, its size in bytes, then its bytes, then up to three of any value. It never goes
 * round the ring's end: where it would, the word is 0, which is a filler, and the frame begins at
 * position 0. Filler and frame are sent at once.
 */
#ifndef GANDALF_NETWORK_H
#define GANDALF_NETWORK_H

#include "channel.h"

/* What the name of a network's channel begins with; the network's own name follows. */
#define GANDALF_NETWORK_PREFIX 0x3a74656e /* "net:" */
#define GANDALF_NETWORK_PREFIX_SIZE 4 /* bytes */
#define GANDALF_NETWORK_HEADER 14     /* bytes: both addresses and the type, the least of a frame */
#define GANDALF_NETWORK_PAYLOAD 1500  /* bytes: the most that a frame carries behind its header */
#define GANDALF_NETWORK_TAG 4         /* bytes of a VLAN's tag, which a frame may have, too */
/* The most bytes of a frame, which has no checksum at its end: memory loses nothing. */
#define GANDALF_NETWORK_FRAME 1518
#define GANDALF_NETWORK_ALIVE 1       /* added to an epoch in gandalf_network_side.alive */

#ifndef __ASSEMBLER__

/* What one side tells the other. Only the two guests use it; at a new epoch it stays. */
struct gandalf_network_side {
	uint32_t alive;        /* written by this side: the epoch in which it can receive, and
	                          GANDALF_NETWORK_ALIVE; 0: it does not receive */
	uint32_t wants_frames; /* 1, by this side: ring when you have sent; 0, by the other, which
	                          rings then; so there is one doorbell for many frames */
	uint32_t wants_room;   /* the same for: ring when you have received */
};

/* The start of a network's memory, in the place of struct gandalf_channel. */
struct gandalf_network {
	struct gandalf_ring rings[2];         /* as those of a channel */
	struct gandalf_network_side sides[2]; /* of side n */
	uint8_t reserved[24]; /* fills GANDALF_CHANNEL_HEADER; nobody writes it */
};

#endif /* __ASSEMBLER__ */
#endif
