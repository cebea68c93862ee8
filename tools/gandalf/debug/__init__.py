# SPDX-License-Identifier: Apache-2.0
"""Shows guests to a debugger, and explains how they ended."""
