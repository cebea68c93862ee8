# SPDX-License-Identifier: Apache-2.0
# This profile has what the two-level profile has, and what several CPUs can use. No guest has more
# than one vCPU.
WITHOUT := dedicated strict_tls smp screen
# The most KiB of text and read-only data.
BUDGET := 68
