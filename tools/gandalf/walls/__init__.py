# SPDX-License-Identifier: Apache-2.0
"""Which folder of the VMM uses which."""
