import { nextTurn } from '../../../kernel/event-loop.js';
import { type AlertFilter, type FilteredCertificate, matchesFilters } from '../alerts/public.js';
import type { AlertState, Subject } from './alert-delivery.sql.js';

/**
 * The verdict of an alert on a certificate. `due`: it notifies of the expiration now. `no_event`: it will notify once the event occurs.
 * All others are reasons why it does not notify.
 */
export type Verdict =
  | 'due'
  | 'no_event'
  | 'disabled'
  | 'no_channel'
  | 'filtered'
  | 'revoked'
  | 'authority_disabled'
  | 'expired'
  | 'superseded'
  | 'not_due_yet';

/** For `listAlertStates`. */
export const ALL_ALERTS = { time: null, afterId: null, limit: null } as const;

/** The verdicts of alerts on a certificate, in the order of the alerts. The same verdicts decide whether they notify. */
export async function verdictsOf(certificate: Subject, states: readonly AlertState[]): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const state of states) {
    const isMatch = (await matchingCertificates(state.filters ?? [], [certificate])).length > 0;
    verdicts.push(verdictOf(state, isMatch));
  }
  return verdicts;
}

function verdictOf(state: AlertState, isMatch: boolean): Verdict {
  if (!state.isEnabled) return 'disabled';
  if (!state.hasChannel) return 'no_channel';
  if (!isMatch) return 'filtered';
  if (state.eventType !== 'expiration') return 'no_event';
  if (state.status === 'revoked') return 'revoked';
  if (state.status === 'disabled') return 'authority_disabled';
  if (state.isExpired) return 'expired';
  if (state.isSuperseded) return 'superseded';
  return state.beginsAt === null ? 'due' : 'not_due_yet';
}

/** The certificates that match all filters. Matching 50 globs against thousands of names takes a while, so it yields to the event loop. */
export async function matchingCertificates<C extends FilteredCertificate>(
  filters: readonly AlertFilter[],
  certificates: readonly C[],
): Promise<C[]> {
  const passed: C[] = [];
  for (const certificate of certificates) {
    if (matchesFilters(filters, certificate)) passed.push(certificate);
    await nextTurn();
  }
  return passed;
}
