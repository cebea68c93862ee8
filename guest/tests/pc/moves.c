/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test kernel pc-moves.elf: its second vCPU has the VMM do each operation many times, on its
 * own CPU, and the first one asks that it move, one instruction of the VMM later each time. For
 * that the plug-in measure/moves.c sets a word at the instruction whose turn it is. The operation
 * ends where the vCPU is by then, and the round when it has moved. What it came to, and what the
 * vCPU finds on the other CPU, must be what they are in a round without a move: the plug-in
 * compares the memory, in which the kernel notes all else. The command line has the names of the
 * operations. Prints for each
 *
 *	NUMBER NAME rounds=N interrupts=N asked=N
 *
 * rounds: in which it has moved. interrupts: in the last one. asked: requests in vain, at most.
 */
#include "moves.h"

#include <string.h>

#include "boundary_operations.h"
#include "control.h"
#include "machine.h"
#include "print.h"
#include "suite.h"

#define LABEL_MARK 0x63726f73U
/* Rounds before the reference: so many without a move, and as many that end with one, as those
 * behind it do. */
#define WARM_UP 3
/* How often the first vCPU looks after it has seen that the other one is about to halt. */
#define WAKE_LOOKS 3
/* Far more often than a move is asked for in vain. */
#define ASKED_AT_MOST 1000
/* A core takes so many messages only in a window of 50,000 ticks: so the first one finds the VMM in
 * another state than the next. Behind the longest rest it is always the first. */
#define RESTS 3
#define REST 20000U
/* Far longer than a round lasts. */
#define ROUND_MS 50U
#define STATE_WORDS 24

struct private boundary_private;
static struct private *const private = &boundary_private;
volatile uint32_t move_interrupts[MOVE_INTERRUPTS];

uint32_t boundary_arguments[4], boundary_results[10];
operation_function *boundary_operation;
/* What the second vCPU finds where it is when a round ends. */
static uint32_t state[STATE_WORDS];

/* boundary.S */
void boundary_round(uint32_t wait);
extern uint8_t boundary_stack[PAGE_SIZE];

/* The place where all is compared. */
void move_behind(void);
__asm__("	.text\n"
	"	.globl	move_behind\n"
	"move_behind:\n"
	"	ret\n");

void move_expect(bool held, const char *text)
{
	if (!held && !private->wrong)
		private->wrong = text;
}

static void interrupted(struct trap_frame *frame)
{
	uint32_t which = frame->vector - VECTOR_MORE;

	if (which >= MOVE_INTERRUPTS) {
		move_expect(false, "an interrupt that nobody has sent");
		return;
	}
	move_interrupts[which]++;
	if (which == MOVE_TIMER)
		move_timer_came();
}

/* --- The second vCPU --- */

void move_to(uint32_t cpu)
{
	private->wanted = cpu;
	while (private->wanted)
		__asm__ volatile("pause");
}

void move_home(void)
{
	move_to(AWAY);
	move_to(HOME);
}

static uint32_t limit_of(uint32_t selector)
{
	uint32_t limit = 0;

	__asm__ volatile("lsl %1, %0" : "+r"(limit) : "r"(selector) : "cc");
	return limit;
}

static void segments_note(uint32_t *to)
{
	uint16_t ds, es, fs, gs, ss;

	__asm__ volatile("movw %%ds, %0\n\tmovw %%es, %1\n\tmovw %%fs, %2\n\tmovw %%gs, %3\n\t"
			 "movw %%ss, %4"
			 : "=r"(ds), "=r"(es), "=r"(fs), "=r"(gs), "=m"(ss));
	to[0] = ds | (uint32_t)es << 16;
	to[1] = fs | (uint32_t)gs << 16;
	to[2] = ss;
	for (uint32_t i = 0; i < 3; i++)
		to[3 + i] = limit_of((TLS_FIRST + i) * 8 | 3);
	to[6] = limit_of(TASK_STATE);
}

/* The page of the operations, and the registers of the local APIC, if they can be read. */
static void pages_note(uint32_t *to)
{
	uint32_t value = 0;

	if (!(cr0_read() & CR0_PG))
		return;
	TRAP_PROVOKE("movl %1, %0", : "+r"(value) : "m"(*(volatile uint32_t *)SCRATCH));
	to[0] = value;
	to[1] = trap.count;
	to[2] = *apic_register(APIC_PRIORITY);
	to[3] = *apic_register(APIC_TIMER);
	to[4] = own_index();
}

/* Before anything else changes it. */
static void state_note(void)
{
	state[0] = cr2_read();
	state[1] = SHARED_PAGE->cr2;
	state[2] = SHARED_PAGE->interrupt_flag;
	state[3] = cr0_read();
	state[4] = cr3_read();
	state[5] = cr4_read();
	state[6] = dr7_read();
	segments_note(&state[7]);
	pages_note(&state[14]);
}

/* Leaves something else on the other CPU than what the operation comes to: so it shows if the vCPU
 * finds there what it has left, and not what it has brought along. */
static void away_spoil(void)
{
	static const struct descriptor none[3];

	cr0_write(cr0_read() | CR0_TS | CR0_PG);
	cr2_write(0xffffffff);
	*apic_register(APIC_PRIORITY) = 0x10;
	hypercall(GANDALF_HYPERCALL_LOAD_TLS, (uint32_t)none, 0, 0);
	irq_enable();
}

static void home_prepare(void)
{
	irq_disable();
	*apic_register(APIC_PRIORITY) = 0;
	cr2_write(0);
	cr0_write(cr0_read() & ~CR0_TS);
}

static void round_prepare(const struct operation *operation)
{
	private->began = (uint32_t)time_stamp();
	private->label.go = private->label.astray = private->moved = 0;
	move_to(AWAY);
	away_spoil();
	move_to(HOME);
	home_prepare();
	memset(boundary_stack, 0, sizeof(boundary_stack));
	memset(boundary_results, 0, sizeof(boundary_results));
	memset(state, 0, sizeof(state));
	memset((void *)move_interrupts, 0, sizeof(move_interrupts));
	operation->prepare();
	boundary_operation = operation->execute;
	private->label.go = private->moves_anyway;
}

static void rest(uint32_t ticks)
{
	uint32_t begin = (uint32_t)time_stamp();

	while ((uint32_t)time_stamp() - begin < ticks)
		__asm__ volatile("pause");
}

/* Takes a round, which is over when the vCPU has moved if it was asked to. It begins and ends away
 * from home. Returns whether the vCPU was asked to move. */
static bool round_take(const struct operation *operation, uint32_t ticks)
{
	round_prepare(operation);
	rest(ticks);
	boundary_round(0);
	while (private->label.go && !private->moved)
		__asm__ volatile("pause");
	move_expect((int32_t)((uint32_t)time_stamp() - private->began) >= 0, "time went back");
	state_note();
	move_behind();
	move_to(AWAY);
	private->rounds += private->moved;
	return private->moved;
}

/* Takes rounds until one has hit the instruction that the reference has there. Returns whether any
 * instruction was hit. */
static bool instruction_take(const struct operation *operation)
{
	bool hit = false;

	for (uint32_t i = 0; i <= RESTS; i++) {
		if (!round_take(operation, i * REST))
			continue;
		hit = true;
		if (!private->label.astray)
			break;
	}
	return hit;
}

static void operation_sweep(const struct operation *operation, uint32_t number)
{
	private->label.operation = private->label.at = 0;
	for (uint32_t i = 0; i < 2 * WARM_UP; i++) {
		private->moves_anyway = i >= WARM_UP;
		round_take(operation, RESTS * REST);
	}
	private->moves_anyway = false;
	private->label.operation = private->number = number;
	private->rounds = 0;
	move_expect(!round_take(operation, RESTS * REST), "a move for which nobody has asked");
	do
		private->label.at++;
	while (instruction_take(operation));
	private->label.operation = 0;
}

/* Whether the command line has the operation's name as one of its words. */
static bool is_wanted(const struct operation *operation)
{
	const char *at = *(const char *const *)(boot_parameters + BOOT_COMMAND_LINE);
	size_t length = strlen(operation->name);

	for (; *at != '\0'; at++) {
		if (memcmp(at, operation->name, length) == 0 &&
		    (at[length] == ' ' || at[length] == '\0'))
			return true;
		while (*at != ' ' && at[1] != '\0')
			at++;
	}
	return false;
}

static uint32_t operations_sweep(const struct operation *operations, uint32_t number)
{
	for (; operations->name; operations++) {
		if (!is_wanted(operations))
			continue;
		operation_sweep(operations, ++number);
		private->name = operations->name;
		while (private->name)
			__asm__ volatile("pause");
	}
	return number;
}

static void second_halt(void)
{
	for (;;)
		__asm__ volatile("cli\n\thlt");
}

static void second_main(void)
{
	irq_disable();
	task_load();
	/* With global pages a load of CR3 does not look at the kernel's half, as with Linux. */
	cr4_write(CR4_PSE | CR4_PGE);
	/* From this on shadows are kept, also in the seats that the vCPU has left. */
	pages_flush(page_directory, 0, 0xffffffff);
	operations_sweep(boundary_operations, operations_sweep(move_operations, 0));
	private->is_over = true;
	second_halt();
}

/* --- The first vCPU --- */

static int32_t act(uint32_t action, uint32_t cpu)
{
	return hypercall(GANDALF_HYPERCALL_ACT, action, SECOND, cpu);
}

/* What the VMM says of the second vCPU that is on that CPU and has moved so often. */
static uint32_t place(uint32_t cpu, uint32_t moves)
{
	return moves << 8 | cpu;
}

/* Asks that it move until it is there. If it is to leave at once when it comes home, nobody waits
 * until it is there. */
static void second_move(uint32_t cpu)
{
	uint32_t asked = 0;
	int32_t result;

	private->moves += private->cpu != cpu;
	private->cpu = cpu;
	while ((result = act(GANDALF_ACTION_MOVE, cpu)) == GANDALF_ERROR_BUSY &&
	       asked++ < ASKED_AT_MOST) {
		if (cpu == HOME && private->label.go)
			return;
		__asm__ volatile("pause");
	}
	move_expect(result == 0, "a move that does not end");
	move_expect((uint32_t)act(GANDALF_ACTION_WHERE, 0) == place(cpu, private->moves),
		    "it is elsewhere, or has moved more or less often");
	if (asked > private->asked)
		private->asked = asked;
}

static void second_serve(void)
{
	uint32_t wanted = private->wanted;

	if (wanted)
		second_move(wanted);
	if (private->label.go && !private->moved) {
		second_move(AWAY);
		private->moved = 1;
	}
	if (wanted)
		private->wanted = 0;
	if (private->wake_wanted && private->looks++ == WAKE_LOOKS) {
		private->wake_wanted = private->looks = 0;
		ipi_send(1U << SECOND, MOVE_WAKES);
	}
}

static void operation_tell(void)
{
	uint32_t interrupts = 0;

	for (uint32_t i = 0; i < MOVE_INTERRUPTS; i++)
		interrupts += move_interrupts[i];
	print("%u %s rounds=%u interrupts=%u asked=%u\n", private->number, private->name,
	      private->rounds, interrupts, private->asked);
	private->asked = 0;
	private->name = NULL;
}

static void round_watch(void)
{
	uint32_t began = private->began; /* first: a round may begin between the two */

	move_expect((uint32_t)time_stamp() - began < milliseconds(ROUND_MS),
		    "a round that does not end");
	if (private->name)
		operation_tell();
}

void suite_run(void)
{
	vcpus_begin(interrupted);
	private->label.mark = LABEL_MARK;
	private->cpu = HOME;
	private->began = (uint32_t)time_stamp();
	move_expect(vcpu_start(SECOND, second_main) == 0, "the second vCPU did not start");
	while (!private->wrong && !private->is_over) {
		second_serve();
		round_watch();
		__asm__ volatile("pause");
	}
	if (private->wrong) {
		print("# operation %u, round %u: %s\n", private->label.operation,
		      private->label.at, private->wrong);
		vcpu_start(SECOND, second_halt);
	}
	print("%s pc-moves\n", private->wrong ? "FAIL" : "PASS");
	machine_off(!private->wrong);
}
