# SPDX-License-Identifier: Apache-2.0
# This profile has what the two-level profile has, and what several CPUs can use: a Linux may have
# vCPUs on several of them, which may move.
WITHOUT := dedicated strict_tls screen remedies trap_policy
# The most KiB of text and read-only data.
BUDGET := 80
AS_ONE := yes
SMALLEST := yes
