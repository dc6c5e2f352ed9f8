import type { Standing, Subject } from './due.sql.js';
import { passing } from './passing.js';

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

/** For `listStandings`. */
export const ALL_ALERTS = { time: null, afterId: null, limit: null } as const;

/** The verdicts of alerts on a certificate, in the order of the alerts. The same verdicts decide whether they notify. */
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
