# SPDX-License-Identifier: Apache-2.0
"""Isolation tests: attacks from guests, looked at from outside."""
