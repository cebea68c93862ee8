/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all attacks of the hostile driver are made of: a request, its outcome, and instructions that
 * may fault. gandalf_attack.c runs attacks by their names.
 */
#pragma once

#include <linux/types.h>
#include <asm/asm.h>
#include <asm/desc_defs.h>
#include <asm/segment.h>

#include "gandalf.h"

#define ARGUMENTS_MAXIMUM 4
/* The selectors that are tried are below this. They are those of 512
 * entries in either table, with any RPL. */
#define SELECTORS 0x1000
/* The attacks overwrite this entry of the GDT, which is the last TLS descriptor. */
#define SPARE_ENTRY GDT_ENTRY_TLS_MAX
#define SPARE_SELECTOR (SPARE_ENTRY * 8 + 1)

enum outcome { OUTCOME_FAULT, OUTCOME_READ, OUTCOME_WROTE };

struct request {
	char segment[4];			/* is "" if none was given */
	u32 argument[ARGUMENTS_MAXIMUM];
	unsigned int arguments;
	u32 value;				/* what OUTCOME_READ gives back */
};

struct attack {
	const char *name;
	const char *usage;
	bool segment;				/* a SEGMENT comes first */
	unsigned int arguments;			/* numbers that must follow */
	enum outcome (*run)(struct request *request);
};

/* The lists of attacks. Each ends with an entry whose name is NULL. */
extern const struct attack segment_attacks[], transfer_attacks[], register_attacks[];
extern const struct attack page_attacks[], instruction_attacks[];

/*
 * Runs instructions of which the one labelled 1 may fault. Then FAULTED is not 0. In either case
 * CLEANUP is executed next.
 */
#define TRY_AND_CLEAN(faulted, instructions, cleanup, outputs, inputs...)	\
	asm volatile("movl $1, %[fault]\n\t"				\
		     instructions "\n\t"				\
		     "movl $0, %[fault]\n"				\
		     "2: " cleanup "\n"					\
		     _ASM_EXTABLE(1b, 2b)				\
		     : [fault] "=&r" (faulted), outputs			\
		     : inputs						\
		     : "memory", "cc")
#define TRY(faulted, instructions, outputs, inputs...)			\
	TRY_AND_CLEAN(faulted, instructions, "", outputs, inputs)
/* In the place of one output BOTH stands for two, and NO_OUTPUT for none. */
#define BOTH(first, second) first, second
#define NO_OUTPUT "+m" (attack_no_output)

extern u32 attack_no_output;

static inline enum outcome outcome_of(u32 faulted, enum outcome otherwise)
{
	return faulted ? OUTCOME_FAULT : otherwise;
}

/* Access memory by a segment register, such as "ds". Return whether that faulted. */
u32 attack_read_segment(const char *segment, u32 address, u32 *value);
u32 attack_write_segment(const char *segment, u32 address, u32 value);

/* Puts a descriptor into the GDT as plain memory, and has the VMM look at the table again. */
void attack_store_descriptor(unsigned int entry, struct desc_struct descriptor);
