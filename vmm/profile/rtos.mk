# SPDX-License-Identifier: Apache-2.0
# This profile is for RTOSes alone.
WITHOUT := linux control channels cores smp two_level screen
# The most KiB of text and read-only data.
BUDGET := 27
AS_ONE := yes
