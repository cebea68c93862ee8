# SPDX-License-Identifier: Apache-2.0
"""Measures systems from outside, and draws what their rings of events say."""
