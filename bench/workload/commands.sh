#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fifty commands, each a process of its own: the operation `shell`. The first that fails ends it.
set -e
cd /tmp

i=0
while [ $i -lt 5 ]; do
	/bin/true
	/bin/cat /proc/version >bench-text
	/bin/cp bench-text bench-copy
	/usr/bin/cmp bench-text bench-copy
	/bin/grep -q Linux bench-text
	/bin/sed -n 's/Linux/Gandalf/p' bench-text >bench-copy
	/usr/bin/wc -c bench-copy >bench-other
	/usr/bin/sort bench-copy >bench-other
	/bin/ls / >bench-copy
	/bin/rm bench-text bench-copy bench-other
	i=$((i + 1))
done
