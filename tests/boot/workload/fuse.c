/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts a file system of its own, with one file, and is that file system.
 *	fuse FOLDER
 * The first process ends as soon as it is mounted; the other one answers until it is unmounted.
 * The file, `file`, is empty at first, keeps what is written, and has at most a page.
 */
#include <linux/fuse.h>

#include "process.h"

#define SYSCALL_MOUNT 21
#define READ_WRITE 2
#define FILE_KIND 0100000u
#define FOLDER_KIND 0040000u
#define ERROR_NO_ENTRY 2
#define ERROR_NO_SPACE 28
#define ERROR_NO_CALL 38
#define PAGE 0x1000u
/* The number of the file; that of the folder is FUSE_ROOT_ID. */
#define FILE 2

static unsigned char content[PAGE];
static unsigned length;

/* What the kernel asks, with what belongs to the request behind the header. */
static union {
	struct {
		struct fuse_in_header header;
		union {
			char name[16];
			struct fuse_init_in init;
			struct fuse_read_in read;
			struct fuse_write_in write;
			struct fuse_setattr_in setattr;
		};
	};
	unsigned char bytes[4 * PAGE];
} asked __attribute__((aligned(8)));

static struct {
	struct fuse_out_header header;
	union {
		struct fuse_init_out init;
		struct fuse_entry_out entry;
		struct fuse_attr_out attributes;
		struct fuse_open_out open;
		struct fuse_write_out write;
		unsigned char bytes[PAGE];
	};
} said __attribute__((aligned(8)));

static void copy(void *to, const void *from, unsigned size)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static void clear(void *to, unsigned size)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(0) : "memory");
}

static void attributes_say(struct fuse_attr *attributes, uint64_t node)
{
	attributes->ino = node;
	attributes->mode = node == FILE ? FILE_KIND | 0644 : FOLDER_KIND | 0755;
	attributes->size = node == FILE ? length : 0;
	attributes->nlink = 1;
}

/* Each of the following returns how many bytes the answer has, or the number of an error. */
static int init(void)
{
	said.init.major = FUSE_KERNEL_VERSION;
	said.init.minor = asked.init.minor;
	said.init.max_write = PAGE;
	return sizeof(said.init);
}

static int lookup(void)
{
	static const char name[] = "file";

	for (unsigned i = 0; i < sizeof(name); i++)
		if (asked.name[i] != name[i])
			return -ERROR_NO_ENTRY;
	said.entry.nodeid = FILE;
	attributes_say(&said.entry.attr, FILE);
	return sizeof(said.entry);
}

static int attributes(void)
{
	attributes_say(&said.attributes.attr, asked.header.nodeid);
	return sizeof(said.attributes);
}

static int setattr(void)
{
	if (asked.setattr.valid & FATTR_SIZE) {
		if (asked.setattr.size > PAGE)
			return -ERROR_NO_SPACE;
		length = (unsigned)asked.setattr.size;
	}
	return attributes();
}

/* What is read comes from here each time, and not from the kernel's memory of it. */
static int open(void)
{
	said.open.open_flags = FOPEN_DIRECT_IO;
	return sizeof(said.open);
}

static int read(void)
{
	unsigned offset = (unsigned)asked.read.offset, size = asked.read.size;

	if (offset >= length)
		return 0;
	if (size > length - offset)
		size = length - offset;
	copy(said.bytes, &content[offset], size);
	return (int)size;
}

static int write(void)
{
	unsigned offset = (unsigned)asked.write.offset, size = asked.write.size;

	if (offset > PAGE || size > PAGE - offset)
		return -ERROR_NO_SPACE;
	copy(&content[offset], &asked.write + 1, size);
	if (length < offset + size)
		length = offset + size;
	said.write.size = size;
	return sizeof(said.write);
}

static int answer(void)
{
	switch (asked.header.opcode) {
	case FUSE_INIT: return init();
	case FUSE_LOOKUP: return lookup();
	case FUSE_GETATTR: return attributes();
	case FUSE_SETATTR: return setattr();
	case FUSE_OPEN: return open();
	case FUSE_READ: return read();
	case FUSE_WRITE: return write();
	case FUSE_FLUSH:
	case FUSE_RELEASE: return 0;
	default: return -ERROR_NO_CALL;
	}
}

static void serve(unsigned long device)
{
	int size;

	while (system_call(SYSCALL_READ, device, (unsigned long)&asked, sizeof(asked), 0, 0) > 0) {
		if (asked.header.opcode == FUSE_FORGET || asked.header.opcode == FUSE_BATCH_FORGET)
			continue; /* nobody waits for an answer */
		clear(&said, sizeof(said));
		size = answer();
		said.header.unique = asked.header.unique;
		said.header.error = size < 0 ? size : 0;
		said.header.len = sizeof(said.header) + (size < 0 ? 0u : (unsigned)size);
		system_call(SYSCALL_WRITE, device, (unsigned long)&said, said.header.len, 0, 0);
	}
	end(0);
}

void run(int count, char **arguments)
{
	static char options[] = "fd=0,rootmode=40000,user_id=0,group_id=0";
	int device = system_call(SYSCALL_OPEN, (unsigned long)"/dev/fuse", READ_WRITE, 0, 0, 0);

	CHECK(count == 2 && device > 0 && device < 10);
	options[3] = (char)('0' + device);
	CHECK(system_call(SYSCALL_MOUNT, (unsigned long)"gandalf", (unsigned long)arguments[1],
			  (unsigned long)"fuse", 0, (unsigned long)options) == 0);
	if (system_call(SYSCALL_FORK, 0, 0, 0, 0, 0) != 0)
		end(0);
	serve((unsigned long)device);
}
