/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attacks that every guest can make, and the loop that is told which. A line
 * is "NAME [SEGMENT] [number...]", numbers hexadecimal with 0x; the answer is
 *	NAME: fault
 *	NAME: read VALUE
 *	NAME: wrote
 *	NAME: unknown
 * after its number (no two answers in a row are the same), or nothing, if the VMM
 * stops the guest for it.
 */
#include "attack.h"

#include <string.h>

#include "gandalf.h"
#include "print.h"

#define LINE_MAXIMUM 96

enum outcome outcome_of(enum outcome otherwise)
{
	return FAULTS ? OUTCOME_FAULT : otherwise;
}

/* --- Memory --- */

#define BY(name) \
	static void read_##name(uint32_t address, uint32_t *value) \
	{ \
		uint32_t data = 0; \
		ATTEMPT("movl %%" #name ":(%1), %0", "", : "+r"(data) : "r"(address)); \
		*value = data; \
	} \
	static void write_##name(uint32_t address, uint32_t *value) \
	{ \
		ATTEMPT("movl %0, %%" #name ":(%1)", "", \
			: : "r"(*value), "r"(address) : "memory"); \
	}

BY(ds)
BY(es)
BY(fs)
BY(gs)
BY(ss)
BY(cs)

enum outcome access_by(enum segment segment, uint32_t address, uint32_t *value, bool store)
{
	static void (*const accesses[SEGMENTS][2])(uint32_t address, uint32_t *value) = {
		{ read_ds, write_ds }, { read_es, write_es }, { read_fs, write_fs },
		{ read_gs, write_gs }, { read_ss, write_ss }, { read_cs, write_cs },
	};

	accesses[segment][store](address, value);
	return outcome_of(store ? OUTCOME_WROTE : OUTCOME_READ);
}

static enum outcome attack_read(struct request *request)
{
	return access_by(request->segment, request->argument[0], &request->value, false);
}

static enum outcome attack_write(struct request *request)
{
	return access_by(request->segment, request->argument[0], &request->argument[1], true);
}

/* Loads a selector, uses it, and puts the old one back before anything else. */
#define THROUGH(name) \
	static void through_##name(uint32_t selector, uint32_t address, uint32_t *value, \
				   uint32_t store) \
	{ \
		uint32_t old; \
		uint32_t data = *value; \
		ATTEMPT("movl %%" #name ", %0\n\t" \
			"movl %2, %%" #name "\n\t" \
			"testl %4, %4\n\t" \
			"jnz 3f\n\t" \
			"movl %%" #name ":(%3), %1\n\t" \
			"jmp 4f\n" \
			"3:\tmovl %1, %%" #name ":(%3)\n" \
			"4:", \
			"movl %0, %%" #name, \
			: "=&r"(old), "+&r"(data) \
			: "r"(selector), "r"(address), "r"(store) \
			: "memory", "cc"); \
		*value = data; \
	}

THROUGH(ds)
THROUGH(es)
THROUGH(fs)
THROUGH(gs)
THROUGH(ss)

static enum outcome attack_through(struct request *request)
{
	static void (*const throughs[])(uint32_t, uint32_t, uint32_t *, uint32_t) = {
		through_ds, through_es, through_fs, through_gs, through_ss,
	};
	bool store = request->arguments > 2;

	if (request->segment == SEGMENT_CS)
		return OUTCOME_FAULT;
	request->value = request->argument[2];
	throughs[request->segment](request->argument[0], request->argument[1], &request->value,
				   store);
	return outcome_of(store ? OUTCOME_WROTE : OUTCOME_READ);
}

/* --- Transfers --- */

struct far_pointer {
	uint32_t offset;
	uint16_t selector;
} __attribute__((packed));

/* Where transfers arrive if no offset is given: notes the code selector. */
__asm__(".pushsection .text\n"
	"attack_landing:\n\t"
	"movl %cs, %eax\n\t"
	"lret\n\t"
	".popsection\n");
extern const char attack_landing[];

/* The pushes of a call that faulted at its target are still on the stack. */
#define CALL(text, operand) \
	ATTEMPT("movl %%esp, %1\n\t" text, "movl %1, %%esp", \
		: "+a"(code), "=&S"(stack) : operand : "ecx", "edx", "memory", "cc")

static enum outcome attack_far_call(struct request *request)
{
	const struct far_pointer target = {
		request->arguments > 1 ? request->argument[1] : (uint32_t)attack_landing,
		(uint16_t)request->argument[0],
	};
	uint32_t code = 0;
	uint32_t stack;

	CALL("lcall *%2", "m"(target));
	request->value = code;
	return outcome_of(OUTCOME_READ);
}

static enum outcome attack_far_jump(struct request *request)
{
	const struct far_pointer target = { request->argument[1], (uint16_t)request->argument[0] };
	uint32_t code = 0;
	uint32_t stack;

	CALL("pushl %%cs\n\tpushl $2f\n\tljmp *%2\n2:", "m"(target));
	request->value = code;
	return outcome_of(OUTCOME_READ);
}

/* A near call: comes back if there is a RET at the address. */
static enum outcome attack_jump(struct request *request)
{
	uint32_t code = 0;
	uint32_t stack;

	CALL("call *%2", "D"(request->argument[0]));
	return outcome_of(OUTCOME_WROTE);
}

/* One instruction, given as bytes: LENGTH WORD [WORD]. */
static enum outcome attack_opcode(struct request *request)
{
	static uint8_t slot[16];
	uint32_t length = request->argument[0];
	uint32_t code = 0;
	uint32_t stack;

	if (length > 2 * sizeof(uint32_t))
		return OUTCOME_FAULT;
	memcpy(slot, &request->argument[1], length);
	slot[length] = 0xc3; /* RET */
	CALL("pushl %%ebx\n\tpushl %%ebp\n\tcall *%2\n\tpopl %%ebp\n\tpopl %%ebx", "D"(slot));
	return outcome_of(OUTCOME_WROTE);
}

/* --- Ports and hypercalls --- */

static enum outcome attack_in(struct request *request)
{
	uint32_t value = 0;

	ATTEMPT("inb %%dx, %%al", "", : "+a"(value) : "d"(request->argument[0]));
	request->value = value & 0xff;
	return outcome_of(OUTCOME_READ);
}

static enum outcome attack_out(struct request *request)
{
	ATTEMPT("outb %%al, %%dx", "",
		: : "a"(request->argument[1]), "d"(request->argument[0]));
	return outcome_of(OUTCOME_WROTE);
}

static enum outcome attack_hypercall(struct request *request)
{
	uint32_t result = request->argument[0];

	ATTEMPT("int %1", "",
		: "+a"(result)
		: "i"(GANDALF_HYPERCALL_VECTOR), "b"(request->argument[1]),
		  "c"(request->argument[2]), "d"(request->argument[3])
		: "memory");
	request->value = result;
	return outcome_of(OUTCOME_READ);
}

/* Time stamps without a look at the console, so that input piles up. */
static enum outcome attack_spin(struct request *request)
{
	uint64_t start = time_stamp();

	while (time_stamp() - start < request->argument[0])
		;
	return OUTCOME_WROTE;
}

/* --- The loop --- */

static const struct attack attacks[] = {
	{ "read", true, 1, attack_read },
	{ "write", true, 2, attack_write },
	{ "through", true, 2, attack_through },
	{ "far-call", false, 1, attack_far_call },
	{ "far-jump", false, 2, attack_far_jump },
	{ "jump", false, 1, attack_jump },
	{ "opcode", false, 2, attack_opcode },
	{ "in", false, 1, attack_in },
	{ "out", false, 2, attack_out },
	{ "hypercall", false, 4, attack_hypercall },
	{ "spin", false, 1, attack_spin },
	{ 0 },
};

static bool words_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static const struct attack *attack_find(const struct attack *list, const char *name)
{
	for (; list->name; list++)
		if (words_equal(list->name, name))
			return list;
	return NULL;
}

/* Cuts the next word off the line; "" at its end. */
static char *word_next(char **line)
{
	char *word = *line;
	char *at = word;

	while (*at && *at != ' ')
		at++;
	*line = at;
	if (*at) {
		*at = '\0';
		*line = at + 1;
	}
	return word;
}

static uint32_t number_parse(const char *text)
{
	uint32_t value = 0;

	for (text += 2; *text; text++)
		value = value << 4 | (uint32_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
	return value;
}

static enum segment segment_parse(const char *text)
{
	static const char names[SEGMENTS][3] = { "ds", "es", "fs", "gs", "ss", "cs" };
	unsigned int i = SEGMENTS;

	while (i > 0 && !words_equal(names[i - 1], text))
		i--;
	return i ? (enum segment)(i - 1) : SEGMENTS;
}

/* Returns whether the line has all that the attack needs. */
static bool request_parse(struct request *request, const struct attack *attack, char *line)
{
	memset(request, 0, sizeof(*request));
	if (attack->segment)
		request->segment = segment_parse(word_next(&line));
	while (*line && request->arguments < ARGUMENTS_MAXIMUM)
		request->argument[request->arguments++] = number_parse(word_next(&line));
	return request->segment != SEGMENTS && request->arguments >= attack->arguments;
}

static void line_run(char *line)
{
	static uint32_t number;
	const char *name = word_next(&line);
	const struct attack *attack = attack_find(attacks, name);
	struct request request;

	if (!attack)
		attack = attack_find(platform_attacks, name);
	number++;
	if (!attack || !request_parse(&request, attack, line)) {
		print("%u %s: unknown\n", number, name);
		return;
	}
	switch (attack->run(&request)) {
	case OUTCOME_FAULT:
		print("%u %s: fault\n", number, name);
		break;
	case OUTCOME_READ:
		print("%u %s: read 0x%08x\n", number, name, request.value);
		break;
	case OUTCOME_WROTE:
		print("%u %s: wrote\n", number, name);
		break;
	}
}

void attack_run(void)
{
	static char line[LINE_MAXIMUM];
	size_t length = 0;

	print("ready\n");
	for (;;) {
		char c = platform_read();

		if (c != '\n' && c != '\r') {
			if (length < sizeof(line) - 1)
				line[length++] = c;
			continue;
		}
		line[length] = '\0';
		if (length)
			line_run(line);
		length = 0;
	}
}
