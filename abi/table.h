/* SPDX-License-Identifier: MIT */
/*
 * The compiled system description, which the host tool writes and the VMM reads at boot. One
 * multiboot module holds the table, and behind it every guest image that it names. The VMM
 * parses nothing: the host tool has turned ELF files, bzImages and Linux's boot parameters into
 * plain segments. All fields are little-endian, all sizes are in bytes, and unused fields are 0.
 * The VMM checks the table (vmm/core/table.c) and stops with a sentence if something is wrong.
 */
#ifndef GANDALF_TABLE_H
#define GANDALF_TABLE_H

#define GANDALF_TABLE_MAGIC 0x54464447 /* "GDFT" */
#define GANDALF_TABLE_VERSION 10

#define GANDALF_GUESTS_MAXIMUM 9
#define GANDALF_CPUS_MAXIMUM 8
#define GANDALF_PRIORITY_MAXIMUM 255
#define GANDALF_IMAGES_MAXIMUM 48
#define GANDALF_PORT_RANGES_MAXIMUM 8
#define GANDALF_NAME_SIZE 16

/* Linux's memory and the pool begin and end at multiples of this, the size of a large page. */
#define GANDALF_MEMORY_ALIGNMENT 0x400000
/* RTOS memory and channels begin and end at multiples of this. */
#define GANDALF_PAGE_SIZE 0x1000
/* The most bytes of the memory of all RTOSes of a CPU together, with a page in front of each and
 * their channels, since the VMM maps these in its part of each address space. */
#define GANDALF_RTOS_MEMORY_MAXIMUM 0x2000000
#define GANDALF_POOL_MAXIMUM 0xC00000
#define GANDALF_POOL_MINIMUM 0x200000
/* The first I/O port that no guest can be given. */
#define GANDALF_PORT_LIMIT 0x1000
/* The most bytes that the VMM writes at the end of a Linux's command line: ten digits and a 0. */
#define GANDALF_COMMAND_LINE_ROOM 11

/* Values of gandalf_table.levels: how many levels of privilege VMM and guests use. */
#define GANDALF_LEVELS_RINGS 4 /* guests' kernels are in ring 1 */
#define GANDALF_LEVELS_TWO 2   /* the VMM alone is privileged */

/* Values of gandalf_guest.kind. */
#define GANDALF_KIND_RTOS 1
#define GANDALF_KIND_LINUX_SHARED 2
#define GANDALF_KIND_LINUX_DEDICATED 3
#define GANDALF_KIND_LINUX_SMP 4 /* several vCPUs, on CPUs that they share */

/* The least and the largest gandalf_guest.slice_us. */
#define GANDALF_SLICE_MINIMUM 500
#define GANDALF_SLICE_MAXIMUM 100000
/* The same of gandalf_guest.delay_limit_us. */
#define GANDALF_DELAY_MINIMUM 5
#define GANDALF_DELAY_MAXIMUM 10000

/* Values of gandalf_guest.on_reboot and on_fault. */
#define GANDALF_POLICY_STOP 0
#define GANDALF_POLICY_RESTART 1

/* Bits of gandalf_guest.flags. */
#define GANDALF_GUEST_STRICT_TLS 1
#define GANDALF_GUEST_CONTROL 2
#define GANDALF_GUEST_MIGRATES 4 /* its vCPUs move between its CPUs, but for the first */
/* Its policy is PULL or DELAYED (control.h) at first, which not every image has. */
#define GANDALF_GUEST_REMEDIES 8
/* Only of several vCPUs: GANDALF_HYPERCALL_YIELD (apic.h) ends no turn, to compare. */
#define GANDALF_GUEST_SPINS 16
/* Its policy is TRAP (control.h) at first, which not every image has. */
#define GANDALF_GUEST_TRAP 32

/* The largest gandalf_guest.watchdog_ms: an hour. */
#define GANDALF_WATCHDOG_MAXIMUM 3600000

/* The bit of gandalf_table.flags by which the VMM lets interrupts in while it works for Linux. */
#define GANDALF_TABLE_INTERRUPTIBLE 1
#define GANDALF_TABLE_CPUS_OPTIONAL 2 /* a CPU that does not come up is done without */
#define GANDALF_TABLE_SCREEN 4 /* the consoles are on screen and keyboard, too */
/* Bits of it that only GANDALF_LEVELS_TWO has: to compare, a measure is taken away. */
#define GANDALF_TABLE_NO_PREFILL 8        /* pages are not filled when the kernel returns */
#define GANDALF_TABLE_NO_DIRECT_SWITCH 16 /* system calls and returns run the VMM's C */
#define GANDALF_TABLE_NO_HINTS 32         /* shadows of ended processes go like all others */
/* Shadows of address spaces are compared with the guest's tables when they are loaded, and kept
 * without the guest's help (GANDALF_LEVELS_TWO only). */
#define GANDALF_TABLE_DETECT 64
/* Pages of processes are global in the TLB (GANDALF_LEVELS_TWO only). */
#define GANDALF_TABLE_GLOBAL_PAGES 128
/* Fields of it that only GANDALF_LEVELS_TWO has: how many address spaces of a Linux have shadow
 * page tables at once (0: as many as there are frames for, 1..256), and which goes for another. */
#define GANDALF_TABLE_CACHE 0x1ff0000
#define GANDALF_TABLE_CACHE_UNIT 0x10000
#define GANDALF_TABLE_CACHE_MAXIMUM 256
#define GANDALF_TABLE_CACHE_ENTRIES(flags) \
	((flags) / GANDALF_TABLE_CACHE_UNIT % (2 * GANDALF_TABLE_CACHE_MAXIMUM))
#define GANDALF_TABLE_POLICY 0xc000000
#define GANDALF_TABLE_POLICY_UNIT 0x4000000
#define GANDALF_TABLE_CACHE_POLICY(flags) ((flags) / GANDALF_TABLE_POLICY_UNIT % 4)
#define GANDALF_TABLE_CACHE_LRU 0     /* the one that was loaded longest ago */
#define GANDALF_TABLE_CACHE_FIFO 1    /* the one that was made first */
#define GANDALF_TABLE_CACHE_BIMODAL 2 /* one that was loaded once only, then as with LRU */

/* Keys of the keyboard, by their codes of set 1. */
#define GANDALF_KEYS 0x60
/* Values of a key. What is less is a character of Unicode, and 0 is nothing. */
/* The key sends ESC [, and a letter; or a number below 40, in BCD, and a tilde. */
#define GANDALF_KEY_SEQUENCE 0xf700
#define GANDALF_KEY_HELD 0xf800 /* other keys are pressed while it is held: GANDALF_HELD_... */
#define GANDALF_KEY_LOCK 0xf900 /* it switches GANDALF_LOCK_... */
/* Keys that are there twice have two bits. */
#define GANDALF_HELD_SHIFT 0x03
#define GANDALF_HELD_CONTROL 0x0c
#define GANDALF_HELD_ALT 0x10
#define GANDALF_HELD_ALT_GRAPH 0x20
#define GANDALF_LOCK_CAPITALS 1
#define GANDALF_LOCK_NUMBERS 2

#ifndef __ASSEMBLER__

#include <stdint.h>

#include "channel.h"

/* An image: one piece of a guest's memory as it is when the guest starts. */
struct gandalf_image {
	uint32_t guest;           /* index of the guest that it belongs to */
	uint32_t offset;          /* where its bytes begin, from the start of the module */
	uint32_t file_size;       /* bytes in the module; 0: all of it is zeros */
	uint32_t room;            /* bytes in the module for it, at least file_size; control may
	                             write another image there while the system runs */
	uint32_t load_address;    /* guest-physical; for an RTOS, a segment offset */
	uint32_t memory_size;     /* bytes in the guest, at least file_size; the rest is zeroed */
	uint32_t checksum;        /* CRC-32 (IEEE 802.3, as zlib computes it) of its bytes */
	char name[GANDALF_NAME_SIZE]; /* for messages; ends with a 0 byte */
};

/* I/O ports that a guest may use directly. */
struct gandalf_port_range {
	uint16_t first;
	uint16_t last; /* the last one of them, not the one behind */
};

struct gandalf_guest {
	char name[GANDALF_NAME_SIZE]; /* unique; ends with a 0 byte */
	uint32_t kind;            /* GANDALF_KIND_... */
	uint32_t priority;        /* larger preempts smaller; Linux has 0, an RTOS more */
	uint32_t memory_base;     /* machine address, aligned as is said above */
	uint32_t memory_size;
	uint32_t entry;           /* first instruction: guest-physical; for an RTOS, an offset */
	uint32_t boot_parameters; /* for Linux: guest-physical address, which ESI gets */
	uint32_t command_line;    /* for Linux: guest-physical address behind "tsc_early_khz=" in
	                             its command line; the VMM writes the number there, over
	                             spaces or zeroes */
	uint32_t command_line_size; /* room from there on, at least GANDALF_COMMAND_LINE_ROOM */
	uint32_t on_reboot;       /* GANDALF_POLICY_...: what follows a reset by the guest */
	uint32_t on_fault;        /* GANDALF_POLICY_...: what follows a stop by the VMM */
	uint32_t restart_limit;   /* restarts for faults, behind which it stays stopped */
	uint32_t interrupts;      /* bit n: IRQ n of the 8259 pair belongs to the guest */
	uint32_t flags;           /* GANDALF_GUEST_... */
	uint32_t watchdog_ms;     /* silence that counts as a fault; 0: there is no watchdog */
	uint32_t cpu;             /* CPU that it runs on, or its first; 0 is the one that boots */
	uint32_t vcpu_count;      /* 1; for GANDALF_KIND_LINUX_SMP 2..GANDALF_CPUS_MAXIMUM */
	uint8_t vcpu_cpus[GANDALF_CPUS_MAXIMUM]; /* CPU of each vCPU; the first is `cpu` */
	uint32_t slice_us;        /* for GANDALF_KIND_LINUX_SMP: how long vCPUs that are on the same
	                             CPU take turns for, GANDALF_SLICE_MINIMUM..MAXIMUM; else 0 */
	uint32_t preemption;      /* its policy at first, GANDALF_PREEMPTION_... (control.h); other
	                             than 0 only with GANDALF_GUEST_MIGRATES */
	uint32_t delay_limit_us;  /* for GANDALF_KIND_LINUX_SMP: how long an RTOS waits for its spin
	                             locks at most, GANDALF_DELAY_MINIMUM..MAXIMUM; else 0 */
	uint32_t port_range_count; /* elements of port_ranges that are used */
	struct gandalf_port_range port_ranges[GANDALF_PORT_RANGES_MAXIMUM];
};

/* The memory of a channel (abi/channel.h). If one side is a Linux, it lies within that guest's
 * memory, which Linux keeps reserved. An RTOS sees it behind its own memory. */
struct gandalf_table_channel {
	char name[GANDALF_NAME_SIZE]; /* the same for both guests; ends with a 0 byte */
	uint32_t guests[2];       /* indices of the guests at sides 0 and 1 */
	uint32_t base;            /* machine address; a multiple of the page size */
	uint32_t size;            /* a multiple of the page size */
};

/* What a key of the keyboard is for. */
struct gandalf_key {
	uint16_t values[3];       /* alone, with Shift, and with AltGr */
	uint16_t locks;           /* GANDALF_LOCK_... that exchange the first two */
};

/* The head of the module. */

struct gandalf_table {
	uint32_t magic;           /* GANDALF_TABLE_MAGIC */
	uint16_t version;         /* GANDALF_TABLE_VERSION */
	uint16_t levels;          /* GANDALF_LEVELS_...: which kind of VMM it is for */
	uint32_t table_size;      /* sizeof(struct gandalf_table) */
	uint32_t module_size;     /* table and images together */
	uint32_t checksum;        /* CRC-32 of the table with this field 0 */
	uint32_t guest_count;     /* 1..GANDALF_GUESTS_MAXIMUM */
	uint32_t image_count;     /* 1..GANDALF_IMAGES_MAXIMUM */
	uint32_t cpus;            /* 1..GANDALF_CPUS_MAXIMUM */
	uint32_t pool_base;       /* machine address of CPU 0's pool of frames, which those of the
	                             other CPUs follow in turn (vmm/core/pool.h) */
	uint32_t pool_size;       /* of each: GANDALF_POOL_MINIMUM..GANDALF_POOL_MAXIMUM */
	uint32_t console_port;    /* first port of the UART for all consoles; 0: there is none */
	uint32_t console_interrupt; /* IRQ of that UART, 1..15 */
	uint32_t console_baud;    /* bits per second, 1..115200 */
	uint32_t focus;           /* index of the guest whose console has the keyboard first */
	uint32_t flags;           /* GANDALF_TABLE_... */
	uint32_t channel_count;   /* 0..GANDALF_CHANNELS_MAXIMUM */
	struct gandalf_guest guests[GANDALF_GUESTS_MAXIMUM];
	struct gandalf_image images[GANDALF_IMAGES_MAXIMUM];
	struct gandalf_table_channel channels[GANDALF_CHANNELS_MAXIMUM];
	struct gandalf_key keys[2][GANDALF_KEYS]; /* those without the prefix 0xe0, and with it;
	                             for GANDALF_TABLE_SCREEN */
};

#endif /* __ASSEMBLER__ */
#endif
