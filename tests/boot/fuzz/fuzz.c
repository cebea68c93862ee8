/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throws random images, commands, requests and bytes of channels at the VMM, from a
 * Linux that may manage guests: fuzz SEED STEPS, or with a KIND of them behind it these
 * only. The seed determines all of it but when things happen. The system is that of
 * test_fuzz.py: `lab` gets the images, `noise` spoils the channel `line`, and `rtos` must
 * not notice. Each step is told before it is done; one that has a result which no
 * documentation allows prints a line with FAIL.
 *
 * Images begin with a sign of life for lab's watchdog, or one that loops would keep
 * the CPU from this Linux for ever, as is the right of an RTOS.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"
#include "gandalf.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define DEVICE "/dev/gandalf"
#define IMAGE "/tmp/fuzz.elf"
#define PAGE 4096u
#define BYTES PAGE
#define BASE_MAXIMUM 0x10000u
#define PATIENCE_US 300000 /* for a command, which may be one that waits for ever */
#define WAIT_US 1000

/* Places in the system's description. */
enum { LINUX, RTOS, LAB, NOISE, GUESTS };

static const char *const names[GUESTS] = { "linux", "rtos", "lab", "noise" };
static const char *const good_images[] = { "/root/heartbeat.elf", "/root/uitron.elf" };
static const char *const channels[] = { "/dev/gandalf-line", "/dev/gandalf-lab" };

/* At address 0x100: PUSH EAX; MOV EAX, ALIVE; INT; POP EAX; PUSH entry; RET. */
#define STUB_ADDRESS 0x100u
#define STUB_ENTRY 10
static const uint8_t stub[] = { 0x50, 0xb8, GANDALF_HYPERCALL_ALIVE, 0, 0, 0, 0xcd,
				GANDALF_HYPERCALL_VECTOR, 0x58, 0x68, 0, 0, 0, 0, 0xc3 };

/* An ELF file: headers with one segment more than the original, the stub, the rest. */
struct file {
	Elf32_Ehdr header;
	Elf32_Phdr segments[4];
	uint8_t stub[16];
	uint8_t body[BASE_MAXIMUM];
};

static struct file base[COUNT(good_images)];
static uint32_t base_size[COUNT(good_images)];
static struct file image;
static uint8_t *bytes; /* BYTES of them, then a page that is absent */
static int device, ends[COUNT(channels)];
static uint32_t state;
static unsigned failures, loads, starts;

/* Marsaglia's xorshift. */
static uint32_t next(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

static uint32_t below(uint32_t limit)
{
	return next() % limit;
}

static void randomize(uint8_t *to, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		to[i] = (uint8_t)(next() >> 8);
}

static void wrong(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

static void wrong(const char *pattern, ...)
{
	va_list arguments;

	va_start(arguments, pattern);
	printf("FAIL: ");
	vprintf(pattern, arguments);
	printf("\n");
	va_end(arguments);
	failures++;
}

/* Requests */

static long request(uint32_t operation, uint32_t what, uint32_t size, uint32_t offset,
		    const void *address)
{
	struct gandalf_request call = { operation, what, size, offset, (uintptr_t)address };
	int result = ioctl(device, GANDALF_IOCTL, &call);

	return result < 0 ? -errno : result;
}

static long act(uint32_t place, uint32_t action)
{
	return request(GANDALF_HYPERCALL_ACT, action | place << GANDALF_PLACE_SHIFT, 0, 0, NULL);
}

static uint32_t state_of(uint32_t place)
{
	struct gandalf_guest_status status = { .name = "" };
	uint32_t what = GANDALF_OBJECT_GUEST | place << GANDALF_PLACE_SHIFT;

	if (request(GANDALF_HYPERCALL_READ, what, sizeof(status), 0, &status) != sizeof(status))
		wrong("the state of guest %s cannot be read", names[place]);
	if (strcmp(status.name, names[place]))
		wrong("guest %u is called %.16s", place, status.name);
	return status.state;
}

static bool is_down(uint32_t place)
{
	uint32_t now = state_of(place);

	return now == GANDALF_STATE_OFF || now == GANDALF_STATE_STOPPED;
}

/* Commands */

/* Returns the exit status, or -1 for a command that had to be ended. */
static int command(char *const arguments[])
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execv("/sbin/gandalfctl", arguments);
		_exit(99);
	}
	for (unsigned waited = 0; waitpid(child, &status, WNOHANG) == 0; waited += WAIT_US) {
		if (waited >= PATIENCE_US)
			kill(child, SIGKILL);
		usleep(WAIT_US);
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return -1;
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 2)
		wrong("gandalfctl %s ended with %x", arguments[1], status);
	return WEXITSTATUS(status);
}

static int load(const char *name, const char *path)
{
	char *arguments[] = { "gandalfctl", "load", (char *)name, (char *)path, NULL };

	loads++;
	return command(arguments);
}

/* Images */

static void base_read(unsigned which)
{
	static uint8_t file[BASE_MAXIMUM];
	struct file *to = &base[which];
	int from = open(good_images[which], O_RDONLY);
	ssize_t size = read(from, file, sizeof(file));
	uint32_t count;

	close(from);
	memcpy(&to->header, file, sizeof(to->header));
	count = to->header.e_phnum;
	if (size <= 0 || count + 1 > COUNT(to->segments)) {
		wrong("%s cannot be used", good_images[which]);
		exit(1);
	}
	memcpy(to->segments, file + to->header.e_phoff, count * sizeof(to->segments[0]));
	for (uint32_t i = 0; i < count; i++)
		to->segments[i].p_offset += offsetof(struct file, body);
	to->segments[count] = (Elf32_Phdr){
		.p_type = PT_LOAD, .p_vaddr = STUB_ADDRESS, .p_filesz = sizeof(stub),
		.p_memsz = sizeof(stub), .p_offset = offsetof(struct file, stub),
	};
	memcpy(to->stub, stub, sizeof(stub));
	memcpy(to->stub + STUB_ENTRY, &to->header.e_entry, sizeof(uint32_t));
	memcpy(to->body, file, (size_t)size);
	to->header.e_phoff = offsetof(struct file, segments);
	to->header.e_phnum = (uint16_t)(count + 1);
	to->header.e_entry = STUB_ADDRESS;
	base_size[which] = (uint32_t)(offsetof(struct file, body) + (size_t)size);
}

static void image_write(uint32_t size)
{
	int to = open(IMAGE, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (write(to, &image, size) != (ssize_t)size)
		wrong(IMAGE " cannot be written");
	close(to);
}

static void image_flip(uint32_t first, uint32_t size, unsigned times)
{
	while (times-- > 0)
		((uint8_t *)&image)[first + below(size)] ^= (uint8_t)(1u << below(8));
}

/* The bytes that the guest would execute or use, of one of its own segments. */
static void image_spoil(bool all)
{
	const Elf32_Phdr *segment = &image.segments[all ? 0 : below(image.header.e_phnum - 1u)];

	if (!segment->p_filesz)
		return;
	if (all)
		randomize((uint8_t *)&image + segment->p_offset, segment->p_filesz);
	else
		image_flip(segment->p_offset, segment->p_filesz, 1 + below(12));
}

/* One that can be started without harm: a good one, but watched. */
static void make_safe(void)
{
	unsigned which = below(COUNT(base));

	image = base[which];
	image_write(base_size[which]);
	if (is_down(LAB) && load("lab", IMAGE) != 0)
		wrong("a good image is refused");
}

/* Headers that make no sense, and a file that ends early: loaded, but not started. */
static void step_headers(void)
{
	unsigned which = below(COUNT(base));
	uint32_t size = base_size[which];

	image = base[which];
	image_flip(0, offsetof(struct file, stub), 1 + below(6));
	image_write(below(4) ? size : below(size));
	act(LAB, GANDALF_ACTION_STOP);
	load("lab", IMAGE);
	make_safe();
}

static void step_image(void)
{
	unsigned which = below(COUNT(base));

	image = base[which];
	image_spoil(below(3) == 0);
	image_write(base_size[which]);
	act(LAB, GANDALF_ACTION_STOP);
	if (load("lab", IMAGE) != 0)
		wrong("an image with good headers is refused");
	if (act(LAB, GANDALF_ACTION_START) == 0)
		starts++;
	usleep(below(8000));
	if (below(3) == 0)
		act(LAB, below(GANDALF_ACTION_LOAD));
}

/* Steps */

static void step_act(void)
{
	static const uint32_t places[] = { LAB, NOISE, NOISE, LINUX, GUESTS, 0xff };

	act(places[below(COUNT(places))], below(GANDALF_ACTION_LOAD + 3));
	usleep(below(2000));
}

static void step_command(void)
{
	static char *const verbs[] = { "list", "start", "stop", "restart", "pause", "resume",
				       "load", "console", "stats", "log", "trace", "report",
				       "alive", "" };
	static char *const words[] = { "lab", "noise", "linux", "--json", "--over", "-f", "--every",
				       "0", "1", "-1", "4294967296", "nan", "/root/heartbeat.elf",
				       "/root/uitron.elf", "/sbin/gandalfctl", "/dev", "/none", "",
				       "--help", "-", "%s%n" };
	static char noise[20];
	char *arguments[6] = { "gandalfctl", verbs[below(COUNT(verbs))] };
	unsigned count = 2 + below(4);

	randomize((uint8_t *)noise, sizeof(noise) - 1);
	for (unsigned i = 2; i < count; i++) {
		uint32_t word = below(COUNT(words) + 1);

		arguments[i] = word < COUNT(words) ? words[word] : noise;
	}
	if (below(10) == 0)
		arguments[1] = noise;
	command(arguments);
}

static void check_request(long result, uint32_t operation, uint32_t size)
{
	switch (result) {
	case -EPERM:
	case -ESRCH:
	case -ENOEXEC:
	case -EBUSY:
	case -ENOSPC:
	case -EINVAL:
	case -EFAULT:
		return;
	}
	if (result < 0 || (unsigned long)result > size)
		wrong("request %u of %u bytes returned %ld", operation, size, result);
}

static const void *any_address(void)
{
	switch (below(8)) {
	case 0:
		return (const void *)(uintptr_t)next();
	case 1:
		return NULL;
	case 2:
		return (const void *)(uintptr_t)(0xc0000000u + below(0x10000000));
	case 3:
		return (const void *)(uintptr_t)(GANDALF_BASE + below(0x4000000));
	case 4:
		return bytes + BYTES - below(64);
	default:
		return bytes;
	}
}

/* A request to do something with rtos becomes one about lab, and so does an image. */
static uint32_t harmless(uint32_t operation, uint32_t what)
{
	uint32_t place = what >> GANDALF_PLACE_SHIFT;

	if (operation != GANDALF_HYPERCALL_READ && (place == RTOS || place == NOISE))
		return (what & 0xff) | LAB << GANDALF_PLACE_SHIFT;
	return what;
}

static void step_request(void)
{
	uint32_t operation = GANDALF_HYPERCALL_READ + below(4);
	uint32_t what = below(8) | below(GUESTS + 1) << GANDALF_PLACE_SHIFT;
	uint32_t size = below(2) ? below(BYTES) : next();
	uint32_t offset = below(2) ? below(0x1000) : next();
	bool writes;

	if (below(16) == 0)
		operation = next();
	if (below(8) == 0)
		what = next();
	what = harmless(operation, what);
	printf("request %u of %x, %u bytes from %u on\n", operation, what, size, offset);
	randomize(bytes, 256);
	check_request(request(operation, what, size, offset, any_address()), operation,
		      operation == GANDALF_HYPERCALL_ACT ? 0 : size);
	writes = operation == GANDALF_HYPERCALL_WRITE || operation == GANDALF_HYPERCALL_ACT;
	if (writes && what >> GANDALF_PLACE_SHIFT == LAB)
		make_safe();
}

/* What the device is not for. */
static void step_device(void)
{
	int file = below(2) ? device : ends[below(COUNT(ends))];

	if (ioctl(file, next(), any_address()) >= 0)
		wrong("an ioctl that does not exist");
	if (mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0) != MAP_FAILED)
		wrong("a device was mapped");
	if (pread(file, bytes, below(BYTES), next()) >= 0 && file == device)
		wrong("/dev/gandalf was read");
	if (write(file, any_address(), below(16)) > 16 || lseek(file, below(100), SEEK_SET) > 100)
		wrong("more than was asked for");
}

static void check_channel(ssize_t result, uint32_t size)
{
	if (result >= 0 ? (uint32_t)result > size :
			  errno != EAGAIN && errno != ECONNRESET && errno != EPROTO &&
				  errno != EFAULT)
		wrong("%u bytes of a channel: %zd, error %d", size, result, errno);
}

static void step_channel(void)
{
	int end = ends[below(COUNT(ends))];
	struct pollfd poll_end = { .fd = end, .events = POLLIN | POLLOUT };

	for (uint32_t i = 1 + below(20); i > 0; i--) {
		uint32_t size = below(BYTES);
		const void *address = below(8) ? bytes : any_address();

		if (below(2))
			check_channel(write(end, address, size), size);
		else
			check_channel(read(end, (void *)(uintptr_t)address, size), size);
		if (poll(&poll_end, 1, (int)below(2)) < 0)
			wrong("poll");
	}
}

/* Reads or writes that may wait for ever, and a signal. */
static void step_wait(void)
{
	const char *name = channels[below(COUNT(channels))];
	uint32_t size = 1 + below(BYTES);
	bool writes = below(2);
	pid_t child = fork();

	if (child == 0) {
		int end = open(name, O_RDWR);

		for (;;)
			check_channel(writes ? write(end, bytes, size) : read(end, bytes, size),
				      size);
	}
	usleep(below(20000));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static const struct {
	const char *name;
	void (*perform)(void);
	unsigned weight;
} steps[] = {
	{ "image", step_image, 30 },     { "headers", step_headers, 8 },
	{ "act", step_act, 12 },         { "command", step_command, 10 },
	{ "request", step_request, 15 }, { "device", step_device, 5 },
	{ "channel", step_channel, 15 }, { "wait", step_wait, 5 },
};

/* only: the name of the kind that is wanted, or NULL. */
static void step(unsigned number, const char *only)
{
	uint32_t choice = below(100);
	unsigned which = 0;

	while (choice >= steps[which].weight)
		choice -= steps[which++].weight;
	for (unsigned i = 0; only && i < COUNT(steps); i++)
		if (!strcmp(steps[i].name, only))
			which = i;
	printf("%u %s\n", number, steps[which].name);
	steps[which].perform();
}

/* noise takes its sequence from what it is told. */
static void tell_noise(void)
{
	uint32_t what = GANDALF_OBJECT_CONSOLE | NOISE << GANDALF_PLACE_SHIFT;

	randomize(bytes, 4);
	request(GANDALF_HYPERCALL_WRITE, what, 4, 0, bytes);
}

int main(int count, char **arguments)
{
	unsigned number = count >= 3 ? (unsigned)strtoul(arguments[2], NULL, 0) : 0;

	if (number == 0) {
		fprintf(stderr, "usage: fuzz SEED STEPS [KIND]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	state = (uint32_t)strtoul(arguments[1], NULL, 0) * 2654435761u | 1;
	device = open(DEVICE, O_RDWR);
	for (unsigned i = 0; i < COUNT(channels); i++)
		ends[i] = open(channels[i], O_RDWR | O_NONBLOCK);
	bytes = mmap(NULL, BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (device < 0 || ends[0] < 0 || ends[1] < 0 || bytes == MAP_FAILED ||
	    mprotect(bytes + BYTES, PAGE, PROT_NONE) != 0) {
		perror("fuzz");
		return 1;
	}
	for (unsigned i = 0; i < COUNT(base); i++)
		base_read(i);
	for (unsigned i = 1; i <= number; i++) {
		if (i % 16 == 1)
			tell_noise();
		step(i, arguments[3]);
	}
	printf("done: %u steps, %u loads, %u starts, %u failures\n", number, loads, starts,
	       failures);
	return failures != 0;
}
