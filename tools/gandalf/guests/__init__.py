# SPDX-License-Identifier: Apache-2.0
"""Fetches and builds what guests are made of: Linux, its root file system, FreeRTOS, lwIP."""
