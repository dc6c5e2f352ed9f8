import type { Standing, Subject } from './due.sql.js';
import { passing } from './passing.js';

/**
 * What an alert makes of a certificate right now. `due`: it notifies of its expiry. `no_event`: it would notify, once the event happens.
 * All others say why it does not.
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

/** For `listStandings`. */
export const ALL_ALERTS = { time: null, afterId: null, limit: null } as const;

/** The verdicts of alerts on a certificate, in their order: by these alerts notify. */
export async function verdictsOf(certificate: Subject, standings: readonly Standing[]): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const standing of standings) {
    const isPassing = (await passing(standing.filters ?? [], [certificate])).length > 0;
    verdicts.push(verdictOf(standing, isPassing));
  }
  return verdicts;
}

function verdictOf(standing: Standing, isPassing: boolean): Verdict {
  if (!standing.isEnabled) return 'disabled';
  if (!standing.hasChannel) return 'no_channel';
  if (!isPassing) return 'filtered';
  if (standing.eventType !== 'expiration') return 'no_event';
  if (standing.status === 'revoked') return 'revoked';
  if (standing.status === 'disabled') return 'authority_disabled';
  if (standing.isExpired) return 'expired';
  if (standing.isSuperseded) return 'superseded';
  return standing.beginsAt === null ? 'due' : 'not_due_yet';
}
