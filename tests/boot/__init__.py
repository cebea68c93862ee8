# SPDX-License-Identifier: Apache-2.0
"""Boots the real guests on the VMM in QEMU and drives their consoles."""
