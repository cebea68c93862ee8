# SPDX-License-Identifier: Apache-2.0
# This profile has every part.
WITHOUT := smp two_level screen
# The most KiB of text and read-only data.
BUDGET := 64
