# SPDX-License-Identifier: Apache-2.0
# This profile has every part that several CPUs can use, and screen and keyboard.
WITHOUT := dedicated two_level trap_policy
# The most KiB of text and read-only data.
BUDGET := 80
AS_ONE := yes
SMALLEST := yes
