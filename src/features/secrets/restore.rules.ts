import { z } from 'zod';
import { compareTexts, joinPath, place } from './place.rules.js';

/** Nobody wrote a secret before. Postgres knows years that dates of ours do not. */
const FIRST_MOMENT = new Date('1970-01-01T00:00:00Z');

/** Input of `restoreSecrets`. */
export const RestoreSecrets = z.strictObject({
  ...place,
  recursive: z.boolean().default(false),
  at: z.date().refine((at) => at >= FIRST_MOMENT, { error: 'must be 1970 or later' }),
  dryRun: z.boolean().default(false),
});

/** A name that one secret at most can have: a folder by its path, and a key. */
export interface Name {
  readonly path: string;
  readonly key: string;
}

/** A secret that is in the reach of a restore. */
export interface PresentSecret extends Name {
  readonly id: string;
}

/** A secret that was in the reach of a restore at the moment to restore. */
export interface PastSecret extends Name {
  readonly id: string;
  /** It is outside of the reach now, and stays there. */
  readonly isElsewhere: boolean;
}

/** What makes the present the past. No step before its turn: deletions free the keys that changes take, and both those of creates. */
export interface RestorePlan<P extends PresentSecret, Q extends PastSecret> {
  readonly deletes: readonly P[];
  readonly changes: readonly { readonly present: P; readonly past: Q }[];
  /** `isCopy`: with a new id, because the secret itself is elsewhere. */
  readonly creates: readonly { readonly past: Q; readonly isCopy: boolean }[];
}

/** True for a path, and with `recursive` for all below it. */
export const isInReach = (path: string, reach: { readonly path: string; readonly recursive: boolean }): boolean =>
  path === reach.path || (reach.recursive && path.startsWith(joinPath(reach.path, '')));

/** By path, then key, by code units. */
export const byName = (one: Name, other: Name): number =>
  compareTexts(one.path, other.path) || compareTexts(one.key, other.key);

/** One text for each name. */
export const nameOf = ({ path, key }: Name): string => `${path}:${key}`;

/** Names that several of these secrets claim: no state that can be restored. */
export function namesClaimedTwice(secrets: readonly Name[]): Name[] {
  const claims = Map.groupBy(secrets, nameOf);
  return [...claims.values()].flatMap(([first, second]) => (second === undefined ? [] : [first as Name]));
}

/**
 * How the present becomes the past. A secret that is in both is changed, one that is not here comes back with its id, and
 * one that was not there goes. A secret that is elsewhere now comes back as a copy: in the secret that has its name here, if
 * that one would go otherwise, so that restoring twice is the same as once.
 *
 * @param present the secrets in reach; no name twice
 * @param past the secrets in reach at the moment; no name twice, see `namesClaimedTwice`
 * @param isSame whether the contents, all but the name, are the same
 */
export function planRestore<P extends PresentSecret, Q extends PastSecret>(
  present: readonly P[],
  past: readonly Q[],
  isSame: (present: P, past: Q) => boolean,
): RestorePlan<P, Q> {
  const pastIds = new Set(past.map(({ id }) => id));
  const presentById = new Map(present.map((secret) => [secret.id, secret]));
  const comers = new Map(present.filter(({ id }) => !pastIds.has(id)).map((secret) => [nameOf(secret), secret]));
  const pairs = past.map((secret) => ({
    past: secret,
    present: presentById.get(secret.id) ?? (secret.isElsewhere ? comers.get(nameOf(secret)) : undefined),
  }));
  const kept = new Set(pairs.map((pair) => pair.present?.id));
  return {
    deletes: present.filter(({ id }) => !kept.has(id)),
    changes: pairs.flatMap((pair) =>
      pair.present === undefined || (nameOf(pair.present) === nameOf(pair.past) && isSame(pair.present, pair.past))
        ? []
        : [{ present: pair.present, past: pair.past }],
    ),
    creates: pairs.flatMap((pair) =>
      pair.present === undefined ? [{ past: pair.past, isCopy: pair.past.isElsewhere }] : [],
    ),
  };
}
