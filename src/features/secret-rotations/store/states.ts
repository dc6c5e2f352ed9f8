/**
 * The states of an attempt to rotate and what may follow on each. It is all there is: the writes of the engine and the drawing in the
 * documentation are made from it. Source: reliability P6.
 */
export const STATES = {
  planned: {
    means: 'All that is inside is known to fit, and the candidate is stored. Nothing has been asked for outside.',
    next: ['calling', 'failed', 'cancelled'],
  },
  calling: {
    means: 'The outside system is asked to take the candidate. Whether it has is not known.',
    next: ['planned', 'changed', 'failed', 'undecided'],
  },
  changed: {
    means: 'The outside system has the new credential, and it is stored.',
    next: ['verified', 'calling', 'succeeded', 'failed', 'undecided'],
  },
  verified: { means: 'The new credential works.', next: ['succeeded', 'failed', 'undecided'] },
  succeeded: {
    means: 'The mapped secrets hold the new credential. What it replaced is a debt, where that still works.',
    next: [],
  },
  failed: { means: 'The rotation holds the credential that it held before.', next: [] },
  cancelled: { means: 'Somebody cancelled it before anything was asked for outside.', next: [] },
  undecided: { means: 'Nobody can tell which credential the outside system has. All candidates are kept.', next: [] },
} as const satisfies Record<string, { readonly means: string; readonly next: readonly string[] }>;

export type AttemptState = keyof typeof STATES;

/** All of them, in their order. */
export const ATTEMPT_STATES = Object.keys(STATES) as AttemptState[];

/** Those that nothing follows on. */
export type FinalState = {
  [State in AttemptState]: (typeof STATES)[State]['next'] extends readonly [] ? State : never;
}[AttemptState];

/** Those from which a state is reached. */
export const statesBefore = (state: AttemptState): AttemptState[] =>
  ATTEMPT_STATES.filter((before) => (STATES[before].next as readonly string[]).includes(state));

export const isFinal = (state: AttemptState): state is FinalState => STATES[state].next.length === 0;
