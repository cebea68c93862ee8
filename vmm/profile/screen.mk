# SPDX-License-Identifier: Apache-2.0
# This profile has every part that one CPU can use, and screen and keyboard. A Linux that has the
# CPU to itself is left out: it has these, too.
WITHOUT := dedicated cores smp two_level
# The most KiB of text and read-only data.
BUDGET := 53
AS_ONE := yes
FAST := yes
