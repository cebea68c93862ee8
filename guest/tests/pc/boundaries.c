/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test kernel pc-boundaries.elf: has an RTOS's timer interrupt hit everything that the VMM does
 * for a kernel, in front of each of its instructions in turn. One instruction must take one tick of
 * the time stamp counter, as in QEMU with its deterministic options: then the operation of the next
 * round begins one instruction later before the interrupt. The plug-in measure/boundaries.c looks
 * where it hits, and compares what the operations have done; these are in boundary_operations.c.
 * Prints for each operation
 *
 *	NUMBER NAME rounds=N
 */
#include "boundaries.h"

#include <string.h>

#include "boundary_operations.h"
#include "machine.h"
#include "print.h"
#include "suite.h"

/* Rounds without an interrupt: before the references, and those that may be one. */
#define WARM_UP 3
#define REFERENCES 3
/* Instructions by which a sweep begins before an operation and ends behind it. */
#define BEFORE 40
#define BEHIND 120
/* The wait of the rounds that look when the interrupt comes. */
#define WAIT 10
#define LOOKS 16
#define LOOK_TIME 2000000
/* A gap in the time stamps as long as that is a turn of the injector. A shorter one is the VMM's
 * clock, which is set for the expiry that would have come if the injector had not stopped its
 * timer: in the wait of a round it stands for so many instructions. */
#define GAP 700
#define SHORT_GAP 60
/* Time stamps after which the injector has surely halted again. Besides, the next interrupt comes
 * that much later after the VMM's clock of above, which must not hit the operation: so a round's
 * rest is longer by what the operation takes. */
#define REST 5000
/* A round takes an instruction less than the last one. If it does not, by so many, something else
 * may have interrupted it: it is repeated. */
#define SLACK 8
#define LABEL_MARK 0x6c61626cU

/* What differs from round to round, in a page of its own; entry.S's stack does too. */
union private {
	struct {
		uint32_t stack;    /* boundary.S; must be the first */
		uint32_t label[3]; /* measure/boundaries.c: mark, operation, round */
		uint32_t expiry;   /* time stamps from the doorbell to the interrupt */
		uint32_t lost;     /* those of the VMM's clock meanwhile; not in expiry */
		uint32_t length;   /* of the operation */
		uint32_t prepare;  /* time stamps that it takes to prepare it */
		uint32_t rounds[64];
	};
	uint8_t page[PAGE_SIZE];
};
union private boundary_private __attribute__((aligned(4096)));

uint32_t boundary_arguments[4], boundary_results[10];
operation_function *boundary_operation;

/* boundary.S */
void boundary_round(uint32_t wait);
extern uint8_t boundary_stack[PAGE_SIZE];

static uint32_t now(void)
{
	return (uint32_t)time_stamp();
}

static void rest_until(uint32_t time)
{
	while ((int32_t)(now() - time) < 0)
		;
}

/* Prepares a round and takes it. Returns how long it took. */
static uint32_t round_take(const struct operation *operation, uint32_t wait)
{
	uint32_t start, length;

	memset(boundary_stack, 0, sizeof(boundary_stack));
	memset(boundary_results, 0, sizeof(boundary_results));
	start = now();
	operation->prepare();
	boundary_private.prepare = now() - start;
	boundary_operation = operation->execute;
	start = now();
	boundary_round(wait);
	length = now() - start;
	if (wait)
		rest_until(start + boundary_private.expiry + boundary_private.length + REST);
	return length;
}

/* The operation of the first rounds: looks when the injector's turn comes. */
static void execute_expiry(void)
{
	uint32_t start = now(), last, next = start, lost = 0;

	for (;;) {
		last = next;
		next = now();
		if (next - last >= GAP)
			break;
		if (next - last >= SHORT_GAP)
			lost += next - last;
	}
	boundary_private.expiry = last - start - lost;
	boundary_private.lost = lost;
}

/* Finds how long after a doorbell its interrupt comes, in rounds like those of the operations; as
 * often as it takes until each is like the last. */
static void expiry_find(void)
{
	static const struct operation look = {
		.name = "look", .execute = execute_expiry, .prepare = boundary_prepare_nothing,
	};

	while (hypercall(GANDALF_HYPERCALL_DOORBELL, BOUNDARIES_INJECTOR, 0, 0) != 0)
		rest_until(now() + time_stamps_per_ms());
	for (uint32_t i = 0; i < LOOKS; i++) {
		if (i == 0)
			rest_until(now() + LOOK_TIME);
		round_take(&look, WAIT);
	}
	boundary_private.expiry += WAIT;
}

/* The longest wait of an operation's rounds. The VMM's clock takes a part of a wait, unless so much
 * is to prepare that it has interrupted before. */
static uint32_t longest_wait(void)
{
	const union private *private = &boundary_private;
	uint32_t wait = private->expiry + BEFORE;

	if (private->length + REST + private->prepare > private->expiry + private->lost)
		wait += private->lost;
	return wait;
}

static void operation_sweep(const struct operation *operation, uint32_t number)
{
	uint32_t *label = boundary_private.label;
	uint32_t length = 0, longest, last = 0;

	label[1] = label[2] = 0;
	/* Until the VMM's clock, set for an expiry that will not come, has interrupted. */
	rest_until(now() + 2 * boundary_private.expiry + REST);
	for (uint32_t i = 0; i < WARM_UP; i++)
		length = round_take(operation, 0);
	boundary_private.length = length;
	longest = longest_wait();
	label[1] = number;
	for (uint32_t i = 0; i < REFERENCES; i++)
		round_take(operation, 0);
	for (uint32_t i = 0; i < length + BEFORE + BEHIND && i + WAIT < longest; i++) {
		uint32_t took;

		label[2] = i + 1;
		took = round_take(operation, longest - i);
		if (took + 1 - last + SLACK > 2 * SLACK)
			took = round_take(operation, longest - i);
		last = took;
	}
	boundary_private.rounds[number] = label[2];
	label[1] = 0;
}

static bool is_wanted(const struct operation *operation)
{
	return operation->is_long == command_line_begins("long");
}

static void machine_prepare(void)
{
	irq_disable();
	tables_load();
	pic_init();
	pic_unmask(0);
	paging_enable();
	/* With global pages a load of CR3 does not look at the kernel's half, as with Linux. */
	cr4_write(CR4_PSE | CR4_PGE);
	/* Again, since only now the VMM finds and protects it. */
	gdt_register_load();
	/* From this on shadows are kept. */
	pages_flush(page_directory, 0, 0xffffffff);
}

void suite_run(void)
{
	const struct operation *operations = boundary_operations;

	machine_prepare();
	expiry_find();
	boundary_private.label[0] = LABEL_MARK;
	for (uint32_t i = 0; operations[i].name; i++)
		if (is_wanted(&operations[i]))
			operation_sweep(&operations[i], i + 1);
	for (uint32_t i = 0; operations[i].name; i++)
		if (is_wanted(&operations[i]))
			print("%u %s rounds=%u\n", i + 1, operations[i].name,
			      boundary_private.rounds[i + 1]);
	machine_off(true);
}
