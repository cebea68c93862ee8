/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of pc-boundaries.elf: each is prepared alike before every round, so that the VMM
 * has the same to do for it.
 */
#include "boundary_operations.h"

#include <string.h>

#include "machine.h"

#define UART_INTERRUPT_ENABLE 0x3f9
#define UART_CAUSE 0x3fa
#define UART_MODEM_CONTROL 0x3fc
#define UART_ENABLE_TRANSMIT 2
#define UART_OUT2 8
#define UART_IRQ 4
#define TABLES 12
#define PAGES 16 /* in each of them */
#define KERNEL_ADDRESS 0xc4000000U

/* boundary.S */
extern operation_function boundary_read, boundary_write, boundary_fault, boundary_fault_write,
	boundary_divide, boundary_hypercall, boundary_set_cr0, boundary_set_cr3, boundary_set_cr4,
	boundary_get_cr0, boundary_set_dr7, boundary_clts, boundary_invlpg, boundary_iret,
	boundary_lgdt, boundary_lidt, boundary_lldt, boundary_ltr, boundary_in, boundary_out,
	boundary_cli_sti;
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

void boundary_prepare_nothing(void)
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
const struct operation boundary_operations[] = {
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
	{ "iret", boundary_iret, boundary_prepare_nothing, false },
	{ "mov-cr0", boundary_set_cr0, prepare_set_cr0, false },
	{ "mov-from-cr0", boundary_get_cr0, boundary_prepare_nothing, false },
	{ "clts", boundary_clts, prepare_clts, false },
	{ "mov-dr7", boundary_set_dr7, prepare_set_dr7, false },
	{ "lidt", boundary_lidt, prepare_lidt, false },
	{ "in", boundary_in, prepare_port, false },
	{ "out", boundary_out, prepare_port, false },
	{ "cli-sti", boundary_cli_sti, boundary_prepare_nothing, false },
	{ "interrupt", execute_enable, prepare_interrupt, false },
	{ "blocked-return", execute_return, prepare_interrupt, false },
	{ "lgdt", boundary_lgdt, prepare_lgdt, true },
	{ "lldt", boundary_lldt, boundary_prepare_nothing, true },
	{ "ltr", boundary_ltr, prepare_ltr, true },
	{ "flush-range", boundary_hypercall, prepare_flush_range, true },
	{ "flush-all", boundary_hypercall, prepare_flush_all, false },
	{ "mov-cr4", boundary_set_cr4, prepare_set_cr4, true },
	{ "kernel-fill", boundary_read, prepare_kernel_fill, false },
	{ "paging-off", boundary_set_cr0, prepare_paging_off, false },
	{ NULL, NULL, NULL, false },
};
