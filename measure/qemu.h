/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of QEMU the plug-in uses: its plug-in interface (API 1, QEMU 4.2 to 8.x), whose header no
 * Debian binary package has, and a few functions and tables that its binary exports besides.
 * Declared here in our own words and names; QEMU sees the layout and the function names only.
 */
#ifndef GANDALF_MEASURE_QEMU_H
#define GANDALF_MEASURE_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_EXPORT __attribute__((visibility("default")))

/* --- The plug-in interface --- */

#define QEMU_PLUGIN_API 1

struct qemu_plugin_tb;
struct qemu_plugin_insn;

struct qemu_info {
	const char *target;
	struct {
		int minimum, current;
	} api;
	bool is_system;
	int vcpus, vcpus_maximum;
};

/* The callbacks that we register neither read nor write registers as QEMU means it: with the
 * registers in host registers. What cpu.c reads is in memory at all times. */
enum { QEMU_CALLBACK_NO_REGISTERS = 0 };
enum { QEMU_INLINE_ADD = 0 };
enum { QEMU_MEMORY_READ_WRITE = 3 };

typedef uint64_t qemu_plugin_id;
typedef void qemu_vcpu_callback(qemu_plugin_id id, unsigned vcpu);
typedef void qemu_block_callback(qemu_plugin_id id, struct qemu_plugin_tb *block);
typedef void qemu_exit_callback(qemu_plugin_id id, void *data);
typedef void qemu_exec_callback(unsigned vcpu, void *data);
typedef void qemu_memory_callback(unsigned vcpu, uint32_t info, uint64_t linear, void *data);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id id, qemu_vcpu_callback *callback);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id id, qemu_block_callback *callback);
void qemu_plugin_register_atexit_cb(qemu_plugin_id id, qemu_exit_callback *callback, void *data);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block,
					  qemu_exec_callback *callback, int registers, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
					    qemu_exec_callback *callback, int registers,
					    void *data);
/* Behind each access to memory of the instruction. */
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
				      qemu_memory_callback *callback, int registers, int which,
				      void *data);
/* Adds to a 64-bit variable before the instruction is executed, without a call. */
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction, int operation,
						void *variable, uint64_t addend);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);

/* --- What the binary exports besides; cpu.c checks that it is as expected --- */

struct qemu_cpu;

struct qemu_cpu *qemu_get_cpu(int index);
/* Ends the CPU's turn behind the block that runs. */
void cpu_exit(struct qemu_cpu *cpu);
bool runstate_is_running(void);
/* Calls a function whenever the machine starts, goes on or stops, with the machine's lock held. */
void *qemu_add_vm_change_state_handler(void (*call)(void *data, bool running, int state),
				       void *data);
/* On the CPU's thread: stops the machine as soon as the block that runs has ended. */
enum { QEMU_PAUSED = 4 };
int vm_stop(int state);
enum { QEMU_VIRTUAL_CLOCK = 1 };
/* Nanoseconds. */
int64_t qemu_clock_get_ns(int clock);
/* Calls a function when a clock has got to a time, once. Initialized without a group (null) it
 * belongs to the machine's main loop, which calls with the machine's lock held. */
struct qemu_timer {
	int64_t expiry;
	void *list;
	void (*call)(void *data);
	void *data;
	struct qemu_timer *next;
	int attributes, scale;
};
void timer_init_full(struct qemu_timer *timer, void *group, int clock, int scale, int attributes,
		     void (*call)(void *data), void *data);
void timer_mod_ns(struct qemu_timer *timer, int64_t expiry);
/* Delivers the exception or software interrupt that an instruction has raised. */
void x86_cpu_do_interrupt(struct qemu_cpu *cpu);
/* Delivers a hardware interrupt if one waits and can be taken. */
bool x86_cpu_exec_interrupt(struct qemu_cpu *cpu, int request);

/* The registers by name, as QEMU saves them to a file. */
struct qemu_field {
	const char *name;
	const char *hint;
	size_t offset;
	size_t size;
	uintptr_t others[9];
};
struct qemu_description {
	const char *name;
	uintptr_t others[8];
	const struct qemu_field *fields;
};
extern const struct qemu_description vmstate_x86_cpu;

/* On the CPU's thread: its local APIC, null if there is none. */
void *cpu_get_current_apic(void);

/* Reads the machine's memory, or writes to it. */
void cpu_physical_memory_rw(uint64_t address, void *buffer, uint64_t size, bool write);

/* The machine's memory as the emulator has it; size: what is wanted, and what there is in a
 * piece. */
void *cpu_physical_memory_map(uint64_t address, uint64_t *size, bool write);

/* gdb's view of the registers, appended to an array of GLib's. */
struct glib_bytes {
	uint8_t *data;
	unsigned size;
};
struct glib_bytes *g_byte_array_new(void);
uint8_t *g_byte_array_free(struct glib_bytes *array, int with_data);
int x86_cpu_gdb_read_register(struct qemu_cpu *cpu, struct glib_bytes *array, int number);

#endif
