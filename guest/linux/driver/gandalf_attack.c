// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile driver, which tries from ring 1 to read, write or stop what does not belong to this
 * guest. Only the kernel variant `attack` has it, for the isolation tests. This file is the device;
 * the attacks are in gandalf_attack_*.c.
 *
 * Whoever has written "NAME [number...]" to /dev/gandalf-attack reads one line then:
 *	NAME: fault		the CPU or the VMM refused it with an exception
 *	NAME: read VALUE	something came back
 *	NAME: wrote		it was carried out
 *	NAME: usage ARGUMENTS	arguments are missing
 * Some attacks end this guest instead, and then the VMM reports. A read before any write lists the
 * attacks. Numbers are decimal, or hexadecimal with 0x. A SEGMENT is one of ds es fs gs ss cs.
 *
 * Nothing here takes a lock, because an attack may end its process anywhere.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "gandalf_attack.h"

u32 attack_no_output;

static char answer[2048];

static const struct attack *const attacks[] = {
	segment_attacks, transfer_attacks, register_attacks, page_attacks, instruction_attacks,
};

static const struct attack *find_attack(const char *name)
{
	const struct attack *attack;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attacks); i++)
		for (attack = attacks[i]; attack->name; attack++)
			if (!strcmp(attack->name, name))
				return attack;
	return NULL;
}

/* Fills REQUEST from the words behind the name. Returns whether the attack can run with it. */
static bool parse_request(const struct attack *attack, char *words, struct request *request)
{
	char *word;

	memset(request, 0, sizeof(*request));
	if (attack->segment) {
		word = strsep(&words, " ");
		if (!word || strscpy(request->segment, word, sizeof(request->segment)) != 2)
			return false;
	}
	while ((word = strsep(&words, " ")) != NULL) {
		if (request->arguments == ARGUMENTS_MAXIMUM)
			return false;
		if (kstrtou32(word, 0, &request->argument[request->arguments]))
			return false;
		request->arguments++;
	}
	return request->arguments >= attack->arguments;
}

static void run_attack(char *line)
{
	const char *name = strsep(&line, " ");
	const struct attack *attack = find_attack(name);
	struct request request;

	if (!attack) {
		scnprintf(answer, sizeof(answer), "%s: unknown\n", name);
		return;
	}
	if (!parse_request(attack, line, &request)) {
		scnprintf(answer, sizeof(answer), "%s: usage %s\n", name, attack->usage);
		return;
	}
	switch (attack->run(&request)) {
	case OUTCOME_FAULT:
		scnprintf(answer, sizeof(answer), "%s: fault\n", name);
		break;
	case OUTCOME_READ:
		scnprintf(answer, sizeof(answer), "%s: read 0x%08x\n", name, request.value);
		break;
	case OUTCOME_WROTE:
		scnprintf(answer, sizeof(answer), "%s: wrote\n", name);
		break;
	}
}

static ssize_t attack_device_write(struct file *file, const char __user *buffer, size_t count,
				   loff_t *position)
{
	char line[96];
	size_t length = min(count, sizeof(line) - 1);

	if (copy_from_user(line, buffer, length))
		return -EFAULT;
	line[length] = '\0';
	line[strcspn(line, "\n")] = '\0';
	run_attack(line);
	return count;
}

static ssize_t attack_device_read(struct file *file, char __user *buffer, size_t count,
				  loff_t *position)
{
	return simple_read_from_buffer(buffer, count, position, answer, strlen(answer));
}

static const struct file_operations attack_operations = {
	.owner = THIS_MODULE,
	.write = attack_device_write,
	.read = attack_device_read,
};

static struct miscdevice attack_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gandalf-attack",
	.fops = &attack_operations,
};

static int __init attack_init(void)
{
	const struct attack *attack;
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attacks); i++)
		for (attack = attacks[i]; attack->name; attack++)
			used += scnprintf(answer + used, sizeof(answer) - used, "%s %s\n",
					  attack->name, attack->usage);
	return misc_register(&attack_device);
}
device_initcall(attack_init);
