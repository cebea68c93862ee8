# SPDX-License-Identifier: Apache-2.0
# This profile is for a Linux that has the CPU to itself, without RTOSes. That Linux uses the real
# chips.
WITHOUT := rtos chips strict_tls control channels cores smp two_level screen
# The most KiB of text and read-only data.
BUDGET := 40
AS_ONE := yes
FAST := yes
