# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of an ITRON kernel from its application's static API, and says its size."""
