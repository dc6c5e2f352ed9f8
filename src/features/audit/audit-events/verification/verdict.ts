import type { TrailReport } from '../../../../kernel/audit/audit-verifier.js';
import type { compareWithTrail } from '../../../secrets/public.js';

/** A row, a seal or a secret, and what is wrong with it. */
export interface Finding {
  readonly place: string;
  readonly fault: string;
}

/** What a verification has found, as it is stored. */
export interface Verdict {
  readonly checked: number;
  /** Genuine rows after the last seal. */
  readonly unsealed: number;
  /** Rows that were dropped when they had expired. */
  readonly expired: number;
  readonly seals: number;
  /** `NUMBER:HASH` of the last seal; null: there is none. */
  readonly anchor: string | null;
  /** The first of them; `faultCount` counts all. */
  readonly faults: readonly Finding[];
  readonly faultCount: number;
  readonly equalSecrets: number;
  readonly unknownSecrets: number;
  readonly differences: readonly Finding[];
  readonly differenceCount: number;
}

type Comparison = Awaited<ReturnType<typeof compareWithTrail>>;

/** What was found, in the words of the program `verify-audit`. */
export const verdictOf = (trail: TrailReport, secrets: Comparison): Verdict => ({
  checked: trail.rows,
  unsealed: trail.unsealed,
  expired: trail.expired,
  seals: trail.seals,
  anchor: trail.head === null ? null : `${trail.head.number}:${trail.head.mac.toString('hex')}`,
  faults: trail.faults.map(({ place, fault }) => ({ place, fault })),
  faultCount: trail.faultCount,
  equalSecrets: secrets.equal,
  unknownSecrets: secrets.unknown,
  differences: secrets.differences.map(({ name, difference }) => ({ place: name, fault: difference })),
  differenceCount: secrets.differenceCount,
});
