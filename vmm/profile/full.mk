# SPDX-License-Identifier: Apache-2.0
# This profile has every part that one CPU can use.
WITHOUT := cores smp two_level screen
# The most KiB of text and read-only data.
BUDGET := 52
AS_ONE := yes
FAST := yes
