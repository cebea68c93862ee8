# SPDX-License-Identifier: Apache-2.0
"""Explains the VMM's reports of stopped guests by the guests' images."""
