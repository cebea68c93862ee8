# SPDX-License-Identifier: Apache-2.0
# This profile has what two-level-cores has, and screen and keyboard.
WITHOUT := dedicated strict_tls smp
# The most KiB of text and read-only data.
BUDGET := 69
AS_ONE := yes
