/* SPDX-License-Identifier: Apache-2.0 */
/* Says that an image has all policies against lock-holder preemption (core/policy.h), but for
 * "trap", which it may lack (core/trap_policy.h). Where it has not,
 * without/remedies.c stands in for this file and those that the policies need. */
#include "core/feature.h"
#include "core/policy.h"

FEATURE(remedies, FEATURE_REMEDIES);

bool policy_is_there(u32 policy)
{
	return policy < GANDALF_PREEMPTION_POLICIES &&
	       (policy != GANDALF_PREEMPTION_TRAP || features_lacking(FEATURE_TRAP_POLICY) == 0);
}
