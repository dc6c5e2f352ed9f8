import type { WaitReason } from '../../../kernel/jobs/job-kind.js';

/** Why a due rotation has not started, or a started one does not continue, in words. */
export const WAIT_MESSAGES: Readonly<Record<WaitReason, string>> = {
  KEY_DISABLED:
    'KEY_DISABLED: the organization key of the project is disabled. The rotation continues when it is enabled.',
  TARGET_UNRESPONSIVE:
    'TARGET_UNRESPONSIVE: the external system does not respond and is left alone for a while. Its connection shows when it is tried again.',
};
