# SPDX-License-Identifier: Apache-2.0
"""Measures native Linux, Gandalf and Xen side by side and reports what was found."""
