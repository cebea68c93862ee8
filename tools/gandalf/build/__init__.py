# SPDX-License-Identifier: Apache-2.0
"""Builds systems and images of them; says what is in what was built."""
