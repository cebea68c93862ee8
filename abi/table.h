/* SPDX-License-Identifier: MIT */
/*
 * The compiled system description: what the host tool writes and the VMM reads
 * at boot. One multiboot module holds the table and, behind it, every guest
 * image it names. The VMM parses nothing: the host tool has turned ELF files,
 * bzImages and Linux's boot parameters into plain segments. All fields are
 * little-endian; all addresses and sizes are bytes; unused fields are 0.
 */
#ifndef GANDALF_TABLE_H
#define GANDALF_TABLE_H

#define GANDALF_TABLE_MAGIC 0x54464447 /* "GDFT" */
#define GANDALF_TABLE_VERSION 4

#define GANDALF_GUESTS_MAXIMUM 9
#define GANDALF_PRIORITY_MAXIMUM 255
#define GANDALF_IMAGES_MAXIMUM 48
#define GANDALF_PORT_RANGES_MAXIMUM 8
#define GANDALF_NAME_SIZE 16

/* Guest memory and the pool begin and end on this boundary (a large page). */
#define GANDALF_MEMORY_ALIGNMENT 0x400000
/* RTOS memory is a multiple of this. */
#define GANDALF_PAGE_SIZE 0x1000
/* The VMM image, the module and all RTOS memory: what the VMM's share of the
 * address space can map. */
#define GANDALF_RTOS_MEMORY_MAXIMUM 0x1F00000
#define GANDALF_POOL_MAXIMUM 0xC00000
#define GANDALF_POOL_MINIMUM 0x200000
/* The first I/O port that no guest can be given. */
#define GANDALF_PORT_LIMIT 0x1000
/* What the VMM appends to a Linux's command line: up to ten digits and a 0. */
#define GANDALF_COMMAND_LINE_ROOM 11

/* gandalf_guest.kind */
#define GANDALF_KIND_RTOS 1
#define GANDALF_KIND_LINUX_SHARED 2
#define GANDALF_KIND_LINUX_DEDICATED 3

/* gandalf_guest.on_reboot and on_fault */
#define GANDALF_POLICY_STOP 0
#define GANDALF_POLICY_RESTART 1

/* gandalf_guest.flags */
#define GANDALF_GUEST_STRICT_TLS 1
#define GANDALF_GUEST_CONTROL 2

/* Of gandalf_guest.watchdog_ms: an hour. */
#define GANDALF_WATCHDOG_MAXIMUM 3600000

/* gandalf_table.flags */
#define GANDALF_TABLE_INTERRUPTIBLE 1

#ifndef __ASSEMBLER__

#include <stdint.h>

#include "channel.h"

/* One piece of a guest's memory at its start. */
struct gandalf_image {
	uint32_t guest;           /* index of the guest that it belongs to */
	uint32_t offset;          /* of its bytes from the start of the module */
	uint32_t file_size;       /* bytes in the module; 0 for zeroes only */
	uint32_t room;            /* at least file_size: where another image may be
	                             written in its place while the system runs */
	uint32_t load_address;    /* guest-physical (RTOS: segment offset) */
	uint32_t memory_size;     /* at least file_size; the rest is zeroed */
	uint32_t checksum;        /* CRC-32 (IEEE 802.3, as zlib) of its bytes */
	char name[GANDALF_NAME_SIZE]; /* for messages; ends with a 0 byte */
};

/* I/O ports first..last, both included, that a guest may use directly. */
struct gandalf_port_range {
	uint16_t first;
	uint16_t last;
};

struct gandalf_guest {
	char name[GANDALF_NAME_SIZE]; /* unique; ends with a 0 byte */
	uint32_t kind;            /* GANDALF_KIND_... */
	uint32_t priority;        /* larger preempts smaller; Linux has 0 */
	uint32_t memory_base;     /* machine address; Linux: large-page aligned */
	uint32_t memory_size;
	uint32_t entry;           /* first instruction; Linux: guest-physical */
	uint32_t boot_parameters; /* Linux: guest-physical, goes to ESI */
	uint32_t command_line;    /* Linux: guest-physical, behind "tsc_early_khz=": the VMM
	                             writes the number over spaces or zeroes */
	uint32_t command_line_size; /* from there to the end of its room */
	uint32_t on_reboot;       /* GANDALF_POLICY_...; reset by the guest */
	uint32_t on_fault;        /* GANDALF_POLICY_...; stopped by the VMM */
	uint32_t restart_limit;   /* restarts for faults before it stays down */
	uint32_t interrupts;      /* bit n: IRQ n of the 8259 pair is its own */
	uint32_t flags;           /* GANDALF_GUEST_... */
	uint32_t watchdog_ms;     /* silence that counts as a fault; 0: none */
	uint32_t port_range_count;
	struct gandalf_port_range port_ranges[GANDALF_PORT_RANGES_MAXIMUM];
};

/* Memory that two guests share: abi/channel.h. A Linux has it within its own memory,
 * where it is reserved; an RTOS sees it behind its own. */
struct gandalf_table_channel {
	char name[GANDALF_NAME_SIZE]; /* for both guests; ends with a 0 byte */
	uint32_t guests[2];       /* indices: sides 0 and 1 */
	uint32_t base;            /* machine address of a page */
	uint32_t size;            /* whole pages */
};

struct gandalf_table {
	uint32_t magic;           /* GANDALF_TABLE_MAGIC */
	uint32_t version;         /* GANDALF_TABLE_VERSION */
	uint32_t table_size;      /* sizeof(struct gandalf_table) */
	uint32_t module_size;     /* table and images together */
	uint32_t checksum;        /* CRC-32 of the table with this field 0 */
	uint32_t guest_count;     /* 1..GANDALF_GUESTS_MAXIMUM */
	uint32_t image_count;
	uint32_t pool_base;       /* machine address of the shadow pool */
	uint32_t pool_size;
	uint32_t console_port;    /* UART of the VMM and its consoles; 0: none */
	uint32_t console_interrupt; /* its IRQ */
	uint32_t console_baud;
	uint32_t focus;           /* guest whose console has the keyboard first */
	uint32_t flags;           /* GANDALF_TABLE_... */
	uint32_t channel_count;
	struct gandalf_guest guests[GANDALF_GUESTS_MAXIMUM];
	struct gandalf_image images[GANDALF_IMAGES_MAXIMUM];
	struct gandalf_table_channel channels[GANDALF_CHANNELS_MAXIMUM];
};

#endif /* __ASSEMBLER__ */
#endif
