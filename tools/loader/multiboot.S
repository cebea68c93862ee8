/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first sector of a disk from which Bochs boots. It starts a kernel by the Multiboot
 * Specification (0.6.96), as a ROM of QEMU's does for its option -kernel: what follows on the disk,
 * the kernel and its module, is read to where it belongs. By GRUB, from a CD, this takes ten
 * seconds of the host's time more.
 *
 * gandalf/run/loader.py fills in what is below from ENTRY on. It is for emulators: of errors of the
 * disk it knows nothing.
 */

/* Where the BIOS has this sector (BIOS Boot Specification 1.01, 6.5). */
#define SECTOR 0x7c00
#define SECTOR_BYTES 512
#define SIGNATURE_AT 510
#define SIGNATURE 0xaa55

/* What the BIOS says of memory by (ACPI Specification 6.5, 15.1). "SMAP" asks for it, and the
 * answer for each range has 20 bytes: base, length and type. */
#define SYSTEM_SERVICES 0x15
#define QUERY_MEMORY 0xe820
#define QUERY_SIGNATURE 0x534d4150
#define RANGE_BYTES 20

#define MULTIBOOT_LOADED 0x2badb002
/* Of the Multiboot information: where the length of the memory map is. */
#define MAP_LENGTH 44

/* What is filled in: the kernel's first instruction, where in memory the second sector of the disk
 * belongs and all that follow, and how many these are; and what the kernel is told, which is copied
 * to MEMORY. The memory map comes behind it. Neither the BIOS nor a kernel above 1 MiB uses memory
 * there. */
#define ENTRY 4
#define TARGET 8
#define COUNT 12
#define INFORMATION 16
#define INFORMATION_BYTES 104
#define MEMORY 0x9000
#define MEMORY_MAP 0x100

#define SYSTEM_PORT_A 0x92
#define GATE_A20 0x02
#define RESET 0x01
#define PROTECTION 1

/* The first disk of the first controller (AT Attachment 3, 7 and 8.27). A sector's address has 28
 * bits, and one command reads 256 sectors at most. */
#define DISK_DATA 0x1f0
#define DISK_COUNT 0x1f2
#define DISK_ADDRESS 0x1f3
#define DISK_DEVICE 0x1f6
#define DISK_COMMAND 0x1f7
#define DISK_CONTROL 0x3f6
#define NO_INTERRUPTS 0x02
#define BY_SECTOR 0xe0
#define READ_SECTORS 0x20
#define BUSY 0x80
#define DATA_REQUEST 0x08
#define AT_ONCE 128

	.code16
	.text
sector:
	jmp start
	.org INFORMATION + INFORMATION_BYTES

/* The stack grows down from here. */
start:
	ljmp $0, $SECTOR + begin - sector
begin:
	xor %ax, %ax
	mov %ax, %ds
	mov %ax, %es
	mov %ax, %ss
	mov $SECTOR, %sp
	cld
	mov $SECTOR + INFORMATION, %si
	mov $MEMORY, %di
	mov $INFORMATION_BYTES, %cx
	rep movsb

/* A range of the memory map has its size in front, which counts what follows it. */
	mov $MEMORY + MEMORY_MAP + 4, %di
	xor %ebx, %ebx
next_range:
	mov $QUERY_MEMORY, %eax
	mov $RANGE_BYTES, %ecx
	mov $QUERY_SIGNATURE, %edx
	int $SYSTEM_SERVICES
	jc map_ends
	movl $RANGE_BYTES, -4(%di)
	add $RANGE_BYTES + 4, %di
	test %ebx, %ebx
	jnz next_range
map_ends:
	sub $MEMORY + MEMORY_MAP + 4, %di
	movzx %di, %edi
	mov %edi, MEMORY + MAP_LENGTH

	cli
	in $SYSTEM_PORT_A, %al
	or $GATE_A20, %al
	and $~RESET, %al
	out %al, $SYSTEM_PORT_A
	lgdt SECTOR + gdt_pointer - sector
	mov %cr0, %eax
	or $PROTECTION, %al
	mov %eax, %cr0
	ljmp $gdt_code - gdt, $SECTOR + protected - sector

	.code32
protected:
	mov $gdt_data - gdt, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %fs
	mov %eax, %gs
	mov %eax, %ss
	mov $SECTOR, %esp

/* EBX: the next sector. EBP: how many are left. EDI: where the next one belongs. ESI: how many the
 * command reads. */
	mov $DISK_CONTROL, %edx
	mov $NO_INTERRUPTS, %al
	out %al, %dx
	mov $1, %ebx
	mov SECTOR + COUNT, %ebp
	mov SECTOR + TARGET, %edi
next_command:
	mov $AT_ONCE, %esi
	cmp %ebp, %esi
	cmova %ebp, %esi
	call disk_wait
	mov $DISK_COUNT, %edx
	mov %esi, %eax
	out %al, %dx
	mov %ebx, %eax
	inc %edx
	out %al, %dx
	shr $8, %eax
	inc %edx
	out %al, %dx
	shr $8, %eax
	inc %edx
	out %al, %dx
	shr $8, %eax
	or $BY_SECTOR, %al
	inc %edx
	out %al, %dx
	mov $READ_SECTORS, %al
	inc %edx
	out %al, %dx
	add %esi, %ebx
	sub %esi, %ebp
next_sector:
	call disk_wait
	test $DATA_REQUEST, %al
	jz next_sector
	mov $DISK_DATA, %edx
	mov $SECTOR_BYTES / 4, %ecx
	rep insl
	dec %esi
	jnz next_sector
	test %ebp, %ebp
	jnz next_command

	mov $MULTIBOOT_LOADED, %eax
	mov $MEMORY, %ebx
	jmp *SECTOR + ENTRY

/* Waits until the disk is not busy. Returns its status in AL. */
disk_wait:
	mov $DISK_COMMAND, %edx
	in %dx, %al
	test $BUSY, %al
	jnz disk_wait
	ret

/* Both segments have all 4 GiB (Intel SDM volume 3, 3.4.5). */
	.balign 8
gdt:
	.quad 0
gdt_code:
	.quad 0x00cf9a000000ffff
gdt_data:
	.quad 0x00cf92000000ffff
gdt_end:
gdt_pointer:
	.word gdt_end - gdt - 1
	.long SECTOR + gdt - sector

	.org SIGNATURE_AT
	.word SIGNATURE
