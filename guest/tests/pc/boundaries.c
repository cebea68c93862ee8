/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test kernel pc-boundaries.elf: has an RTOS's timer interrupt hit everything that the VMM does
 * for a kernel, in front of each of its instructions in turn. One instruction must take one tick of
 * the time stamp counter, as in QEMU with its deterministic options: then the operation of the next
 * round begins one instruction later before the interrupt. The plug-in measure/boundaries.c looks
 * where it hits, and compares what the operations have done. Prints for each operation
 *
 *	NUMBER NAME rounds=N
 */
#include "boundaries.h"

#include <string.h>

#include "machine.h"
#include "print.h"
#include "suite.h"

#define COMMAND_LINE 0x228 /* in the boot parameters: where it is */
#define UART_INTERRUPT_ENABLE 0x3f9
#define UART_CAUSE 0x3fa
#define UART_MODEM_CONTROL 0x3fc
#define UART_ENABLE_TRANSMIT 2
#define UART_OUT2 8
#define UART_IRQ 4
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
/* Time stamps after which the injector has surely halted again. Besides, the next interrupt
 * comes that much later after the VMM's clock of above, which must not hit the operation: so a
 * round's rest is longer by what the operation takes. */
#define REST 5000
/* A round takes an instruction less than the last one. If it does not, by so many, something
 * else may have interrupted it: it is repeated. */
#define SLACK 8
#define TABLES 12
#define PAGES 16 /* in each of them */
#define KERNEL_ADDRESS 0xc4000000U
#define LABEL_MARK 0x6c61626cU

typedef void operation_function(void);

struct operation {
	const char *name;
	operation_function *execute; /* boundary.S; or a function here */
	void (*prepare)(void);       /* the same state again before each round */
	bool is_long;
};

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
extern operation_function boundary_read, boundary_write, boundary_fault,
	boundary_fault_write, boundary_divide, boundary_hypercall, boundary_set_cr0, boundary_set_cr3, boundary_set_cr4, boundary_get_cr0,
	boundary_set_dr7, boundary_clts, boundary_invlpg, boundary_iret, boundary_lgdt,
	boundary_lidt, boundary_lldt, boundary_ltr, boundary_in, boundary_out, boundary_cli_sti;
/* user.S */
extern const char user_read[], user_system_call[];
extern volatile uint32_t user_address;

static uint32_t other_directory[1024] __attribute__((aligned(4096)));
static uint32_t tables[TABLES][1024] __attribute__((aligned(4096)));
static struct descriptor tls[3];
static struct {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed)) table_register;

static void arguments(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	boundary_arguments[0] = a;
	boundary_arguments[1] = b;
	boundary_arguments[2] = c;
	boundary_arguments[3] = d;
}

static void arguments_hypercall(uint32_t number, uint32_t b, uint32_t c, uint32_t d)
{
	arguments(number, c, d, b);
}

static void prepare_nothing(void)
{
	arguments(0, 0, 0, 0);
}

/* Operations on a page. SCRATCH is mapped, with used neighbours, and not in the shadow. */

static void page_prepare(uint32_t flags)
{
	for (uint32_t i = 0; i < 4; i++)
		scratch_map(i, scratch_frame[i], PAGE_P | PAGE_W | PAGE_A);
	scratch_map(0, flags & PAGE_P ? scratch_frame[0] : NULL, flags);
	*(uint32_t *)scratch_frame[0] = 0x600d;
	pages_flush(page_directory, SCRATCH, SCRATCH + 4 * PAGE_SIZE);
	arguments(SCRATCH, 0xda7a, 0, 0);
}

static void prepare_fill(void)
{
	page_prepare(PAGE_P | PAGE_W);
}

static void prepare_dirty(void)
{
	page_prepare(PAGE_P | PAGE_W);
	(void)*(volatile uint32_t *)SCRATCH;
}

static void prepare_fault(void)
{
	trap.count = 0;
	page_prepare(0);
}

static void prepare_read_only(void)
{
	trap.count = 0;
	page_prepare(PAGE_P | PAGE_A);
	(void)*(volatile uint32_t *)SCRATCH;
}

static void prepare_user_fault(void)
{
	page_prepare(0);
	user_address = SCRATCH;
}

static void execute_user_fault(void)
{
	user_trap(user_read);
}

/* SCRATCH is in the shadow, read and written. */
static void page_use(void)
{
	page_prepare(PAGE_P | PAGE_W);
	for (uint32_t i = 0; i < 4; i++)
		*(volatile uint32_t *)(SCRATCH + i * PAGE_SIZE) = i;
}

static void prepare_invlpg(void)
{
	page_use();
}

static void prepare_flush_page(void)
{
	page_use();
	scratch_map(0, scratch_frame[1], PAGE_P);
	arguments_hypercall(GANDALF_HYPERCALL_FLUSH, (uint32_t)page_directory, SCRATCH,
			    SCRATCH + PAGE_SIZE);
}

/* Further than one by one. */
static void prepare_flush_pages(void)
{
	page_use();
	arguments_hypercall(GANDALF_HYPERCALL_FLUSH, (uint32_t)page_directory, SCRATCH,
			    SCRATCH + 12 * PAGE_SIZE);
}

static void prepare_flush_range(void)
{
	page_use();
	arguments_hypercall(GANDALF_HYPERCALL_FLUSH, (uint32_t)page_directory, SCRATCH,
			    SCRATCH + LARGE_PAGE_SIZE);
}

/* Address spaces */

static void directories_prepare(void)
{
	memcpy(other_directory, page_directory, sizeof(other_directory));
	cr3_write((uint32_t)page_directory);
}

static void prepare_set_cr3(void)
{
	directories_prepare();
	arguments((uint32_t)other_directory, 0, 0, 0);
}

static void prepare_set_cr3_same(void)
{
	page_use();
	arguments((uint32_t)page_directory, 0, 0, 0);
}

/* A space with many tables and pages in the shadow. */
static void tables_use(void)
{
	for (uint32_t i = 0; i < TABLES; i++) {
		uint32_t address = SCRATCH_LARGE + i * LARGE_PAGE_SIZE;

		page_directory[address / LARGE_PAGE_SIZE] =
			(uint32_t)tables[i] | PAGE_P | PAGE_W | PAGE_U;
		for (uint32_t j = 0; j < PAGES; j++)
			tables[i][j] = (uint32_t)scratch_frame[j % 4] | PAGE_P | PAGE_W;
		for (uint32_t j = 0; j < PAGES; j++)
			*(volatile uint32_t *)(address + j * PAGE_SIZE) = j;
	}
}

static void prepare_flush_all(void)
{
	tables_use();
	arguments_hypercall(GANDALF_HYPERCALL_FLUSH, (uint32_t)page_directory, 0, 0xffffffff);
}

static void prepare_set_cr4(void)
{
	cr4_write(CR4_PSE | CR4_PGE);
	tables_use();
	arguments(CR4_PSE, 0, 0, 0);
}

static void prepare_paging_off(void)
{
	cr0_write(cr0_read() | CR0_PG);
	tables_use();
	arguments(cr0_read() & ~CR0_PG, 0, 0, 0);
}

static void prepare_kernel_fill(void)
{
	cr0_write(cr0_read() | CR0_PG);
	for (uint32_t i = 0; i < 1024; i++)
		tables[0][i] = (uint32_t)scratch_frame[i % 4] | PAGE_P | PAGE_W | PAGE_A | PAGE_D;
	page_directory[KERNEL_ADDRESS / LARGE_PAGE_SIZE] = 0;
	pages_flush(page_directory, 0, 0xffffffff);
	invlpg(KERNEL_ADDRESS);
	page_directory[KERNEL_ADDRESS / LARGE_PAGE_SIZE] = (uint32_t)tables[0] | PAGE_P | PAGE_W;
	arguments(KERNEL_ADDRESS, 0, 0, 0);
}

/* Registers and tables of the CPU */

static void prepare_divide(void)
{
	trap.count = 0;
}

static void prepare_null(void)
{
	arguments_hypercall(GANDALF_HYPERCALL_NULL, 0, 0, 0);
}

static void prepare_set_cr0(void)
{
	cr0_write(cr0_read() & ~CR0_TS);
	arguments(cr0_read() | CR0_TS, 0, 0, 0);
}

static void prepare_clts(void)
{
	cr0_write(cr0_read() | CR0_TS);
}

static void prepare_set_dr7(void)
{
	arguments(0x400, 0, 0, 0);
}

static void prepare_lgdt(void)
{
	table_register.limit = sizeof(gdt) - 1;
	table_register.base = (uint32_t)gdt;
	arguments((uint32_t)&table_register, 0, 0, 0);
}

static void prepare_lidt(void)
{
	table_register.limit = sizeof(idt) - 1;
	table_register.base = (uint32_t)idt;
	arguments((uint32_t)&table_register, 0, 0, 0);
}

static void prepare_ltr(void)
{
	/* No longer busy; by a store, since the VMM knows no other way to write a protected GDT. */
	*(volatile uint32_t *)&gdt[TASK_STATE / 8].high =
		descriptor_make((uint32_t)&task_state, sizeof(task_state) - 1, DESCRIPTOR_TASK, 0)
			.high;
	arguments(TASK_STATE, 0, 0, 0);
}

static void prepare_gdt_store(void)
{
	gdt[TLS_FIRST].low = 0;
	arguments((uint32_t)&gdt[TLS_FIRST].low, 0xffff, 0, 0);
}

static void prepare_load_tls(void)
{
	for (uint32_t i = 0; i < 3; i++)
		tls[i] = (struct descriptor){ 0 };
	hypercall(GANDALF_HYPERCALL_LOAD_TLS, (uint32_t)tls, 0, 0);
	for (uint32_t i = 0; i < 3; i++)
		tls[i] = descriptor_make(i * PAGE_SIZE, 0xfffff, DESCRIPTOR_DATA(3),
					 DESCRIPTOR_PAGES);
	arguments_hypercall(GANDALF_HYPERCALL_LOAD_TLS, (uint32_t)tls, 0, 0);
}

static void prepare_port(void)
{
	arguments(0xff, 0x21, 0, 0);
}

/* Interrupts: the UART's waits for the flag. */

static void uart_take(struct trap_frame *frame)
{
	(void)frame;
	port_in(UART_CAUSE);
}

static void prepare_interrupt(void)
{
	irq_disable();
	irq_hook[UART_IRQ] = uart_take;
	irq_count[UART_IRQ] = 0;
	pic_unmask(1 << UART_IRQ);
	port_out(UART_MODEM_CONTROL, UART_OUT2);
	port_out(UART_INTERRUPT_ENABLE, 0);
	port_out(UART_INTERRUPT_ENABLE, UART_ENABLE_TRANSMIT);
}

static void execute_enable(void)
{
	irq_enable();
	irq_disable();
}

static void execute_return(void)
{
	user_trap(user_system_call);
}

/* The one without the hypercall LOAD_TLS, from which on the GDT is not protected, comes first. */
static const struct operation operations[] = {
	{ "gdt-store", boundary_write, prepare_gdt_store, true },
	{ "fill-read", boundary_read, prepare_fill, false },
	{ "fill-write", boundary_write, prepare_fill, false },
	{ "fill-dirty", boundary_write, prepare_dirty, false },
	{ "page-fault", boundary_fault, prepare_fault, false },
	{ "page-fault-write", boundary_fault_write, prepare_read_only, false },
	{ "page-fault-user", execute_user_fault, prepare_user_fault, false },
	{ "divide-error", boundary_divide, prepare_divide, false },
	{ "hypercall-null", boundary_hypercall, prepare_null, false },
	{ "flush-page", boundary_hypercall, prepare_flush_page, false },
	{ "flush-pages", boundary_hypercall, prepare_flush_pages, false },
	{ "load-tls", boundary_hypercall, prepare_load_tls, false },
	{ "mov-cr3", boundary_set_cr3, prepare_set_cr3, false },
	{ "mov-cr3-same", boundary_set_cr3, prepare_set_cr3_same, false },
	{ "invlpg", boundary_invlpg, prepare_invlpg, false },
	{ "iret", boundary_iret, prepare_nothing, false },
	{ "mov-cr0", boundary_set_cr0, prepare_set_cr0, false },
	{ "mov-from-cr0", boundary_get_cr0, prepare_nothing, false },
	{ "clts", boundary_clts, prepare_clts, false },
	{ "mov-dr7", boundary_set_dr7, prepare_set_dr7, false },
	{ "lidt", boundary_lidt, prepare_lidt, false },
	{ "in", boundary_in, prepare_port, false },
	{ "out", boundary_out, prepare_port, false },
	{ "cli-sti", boundary_cli_sti, prepare_nothing, false },
	{ "interrupt", execute_enable, prepare_interrupt, false },
	{ "blocked-return", execute_return, prepare_interrupt, false },
	{ "lgdt", boundary_lgdt, prepare_lgdt, true },
	{ "lldt", boundary_lldt, prepare_nothing, true },
	{ "ltr", boundary_ltr, prepare_ltr, true },
	{ "flush-range", boundary_hypercall, prepare_flush_range, true },
	{ "flush-all", boundary_hypercall, prepare_flush_all, false },
	{ "mov-cr4", boundary_set_cr4, prepare_set_cr4, true },
	{ "kernel-fill", boundary_read, prepare_kernel_fill, false },
	{ "paging-off", boundary_set_cr0, prepare_paging_off, false },
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

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
	static const struct operation look = { "look", execute_expiry, prepare_nothing, false };

	while (hypercall(GANDALF_HYPERCALL_DOORBELL, BOUNDARIES_INJECTOR, 0, 0) != 0)
		rest_until(now() + time_stamps_per_ms());
	for (uint32_t i = 0; i < LOOKS; i++) {
		if (i == 0)
			rest_until(now() + LOOK_TIME);
		round_take(&look, WAIT);
	}
	boundary_private.expiry += WAIT;
}

/* The longest wait of an operation's rounds. The VMM's clock takes a part of a wait, unless so
 * much is to prepare that it has interrupted before. */
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
	uint32_t address = *(const uint32_t *)(boot_parameters + COMMAND_LINE);
	bool long_ones = memcmp((const char *)address, "long", 4) == 0;

	return operation->is_long == long_ones;
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
	machine_prepare();
	expiry_find();
	boundary_private.label[0] = LABEL_MARK;
	for (uint32_t i = 0; i < OPERATIONS; i++)
		if (is_wanted(&operations[i]))
			operation_sweep(&operations[i], i + 1);
	for (uint32_t i = 0; i < OPERATIONS; i++)
		if (is_wanted(&operations[i]))
			print("%u %s rounds=%u\n", i + 1, operations[i].name,
			      boundary_private.rounds[i + 1]);
	machine_off(true);
}
