# SPDX-License-Identifier: Apache-2.0
# This profile is for guests where the CPU has two levels of privilege, with screen and keyboard.
WITHOUT := dedicated strict_tls cores smp
# The most KiB of text and read-only data.
BUDGET := 57
AS_ONE := yes
