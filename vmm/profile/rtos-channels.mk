# SPDX-License-Identifier: Apache-2.0
# This profile is for RTOSes that share memory.
WITHOUT := linux control cores smp two_level screen
# The most KiB of text and read-only data.
BUDGET := 28
