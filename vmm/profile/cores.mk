# SPDX-License-Identifier: Apache-2.0
# Several CPUs, on each of which guests have one vCPU at most.
WITHOUT := smp two_level screen
# The most KiB of text and read-only data.
BUDGET := 64
AS_ONE := yes
SMALLEST := yes
