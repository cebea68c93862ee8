/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives a file attributes, and an access list by which a process without privileges may read it.
 *	attributes LISTED OTHER
 * Both files are root's alone at first. It prints "attributes: ok", or ends with the number of the
 * line at which something was wrong.
 */
#include "process.h"

#define SYSCALL_SETXATTR 226
#define SYSCALL_GETXATTR 229
#define SYSCALL_REMOVEXATTR 235
#define READ_ONLY 0
#define ERROR_ACCESS 13
#define ERROR_NO_DATA 61

/* The access list as the system call has it: a version, and entries for the owner, a user by
 * number, the group, the most that these two may, and others. */
struct entry {
	unsigned short who, may;
	unsigned number;
};
static const struct {
	unsigned version;
	struct entry entries[5];
} list = { 2, { { 0x01, 6, ~0u }, { 0x02, 4, NOBODY }, { 0x04, 0, ~0u }, { 0x10, 4, ~0u },
		{ 0x20, 0, ~0u } } };
static const char list_name[] = "system.posix_acl_access";
static const char name[] = "trusted.gandalf";
static const char value[] = "what was written";

static void attribute(unsigned long file)
{
	char found[sizeof(value)];

	CHECK(system_call(SYSCALL_SETXATTR, file, (unsigned long)name, (unsigned long)value,
			  sizeof(value), 0) == 0);
	CHECK(system_call(SYSCALL_GETXATTR, file, (unsigned long)name, (unsigned long)found,
			  sizeof(found), 0) == sizeof(value));
	for (unsigned i = 0; i < sizeof(value); i++)
		CHECK(found[i] == value[i]);
	CHECK(system_call(SYSCALL_REMOVEXATTR, file, (unsigned long)name, 0, 0, 0) == 0);
	CHECK(system_call(SYSCALL_GETXATTR, file, (unsigned long)name, (unsigned long)found,
			  sizeof(found), 0) == -ERROR_NO_DATA);
}

void run(int count, char **arguments)
{
	static const char ok[] = "attributes: ok\n";
	unsigned long listed, other;

	CHECK(count == 3);
	listed = (unsigned long)arguments[1];
	other = (unsigned long)arguments[2];
	attribute(listed);
	CHECK(system_call(SYSCALL_SETXATTR, listed, (unsigned long)list_name, (unsigned long)&list,
			  sizeof(list), 0) == 0);
	CHECK(become_nobody());
	CHECK(system_call(SYSCALL_OPEN, listed, READ_ONLY, 0, 0, 0) >= 0);
	CHECK(system_call(SYSCALL_OPEN, other, READ_ONLY, 0, 0, 0) == -ERROR_ACCESS);
	system_call(SYSCALL_WRITE, 1, (unsigned long)ok, sizeof(ok) - 1, 0, 0);
	end(0);
}
