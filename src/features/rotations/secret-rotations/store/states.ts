import type { WaitReason } from '../../../../kernel/jobs/job-kind.js';

/**
 * The states of an attempt to rotate and their transitions. The writes of the engine and the diagram in the documentation are made from
 * it.
 */
export const STATES = {
  planned: {
    means: 'All checks have passed and the candidate is stored. The external system has not been called.',
    next: ['calling', 'failed', 'cancelled'],
  },
  calling: {
    means: 'The external system is asked to set the candidate. Whether it did is unknown.',
    next: ['planned', 'changed', 'failed', 'undecided'],
  },
  changed: {
    means: 'The external system has the new credential, and it is stored.',
    next: ['verified', 'calling', 'succeeded', 'failed', 'undecided'],
  },
  verified: { means: 'The new credential was verified.', next: ['succeeded', 'failed', 'undecided'] },
  succeeded: {
    means:
      'The mapped secrets hold the new credential. The replaced one is scheduled for revocation if it is still valid.',
    next: [],
  },
  failed: { means: 'The rotation still has its previous credential.', next: [] },
  cancelled: { means: 'The attempt was cancelled before the external system was called.', next: [] },
  undecided: { means: 'It is unknown which credential the external system has. All candidates are kept.', next: [] },
} as const satisfies Record<string, { readonly means: string; readonly next: readonly string[] }>;

export type AttemptState = keyof typeof STATES;

/** All of them, in their order. */
export const ATTEMPT_STATES = Object.keys(STATES) as AttemptState[];

/** Final states. */
type FinalState = {
  [State in AttemptState]: (typeof STATES)[State]['next'] extends readonly [] ? State : never;
}[AttemptState];

/** States from which a state can be reached. */
export const statesBefore = (state: AttemptState): AttemptState[] =>
  ATTEMPT_STATES.filter((before) => (STATES[before].next as readonly string[]).includes(state));

export const isFinal = (state: AttemptState): state is FinalState => STATES[state].next.length === 0;

/** Why a due rotation has not started, or a started one does not continue, in words. */
export const WAIT_MESSAGES: Readonly<Record<WaitReason, string>> = {
  KEY_DISABLED:
    'KEY_DISABLED: the organization key of the project is disabled. The rotation continues when it is enabled.',
  TARGET_UNRESPONSIVE:
    'TARGET_UNRESPONSIVE: the external system does not respond and is left alone for a while. Its connection shows when it is tried again.',
};
