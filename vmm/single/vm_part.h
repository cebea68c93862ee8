/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In an image for guests with one vCPU a VM is all of its guest. several/vm_part.h is the other
 * one.
 */
#pragma once

#define PART_PAGES 0u
#define FURTHER_PLACES 0u

struct vm_part {
};
