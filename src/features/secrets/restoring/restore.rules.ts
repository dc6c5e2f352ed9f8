import * as z from 'zod';
import { compareTexts, joinPath, secretLocation } from '../scope/location.rules.js';

/** No secret is older. Postgres accepts years that JavaScript dates do not. */
const FIRST_MOMENT = new Date('1970-01-01T00:00:00Z');

/** Input of `restoreSecrets`. */
export const RestoreSecrets = z
  .strictObject({
    ...secretLocation,
    secretPath: secretLocation.secretPath.meta({ description: 'Current path of the folder, for example `/payments`.' }),
    recursive: z.boolean().default(false).meta({ description: 'Whether to restore all folders below it too.' }),
    at: z
      .date()
      .refine((at) => at >= FIRST_MOMENT, { error: 'must be 1970 or later' })
      .meta({
        description:
          'Point in time to restore, for example `2026-01-31T12:00:00.000Z`. A time in the future means now.',
      }),
    dryRun: z.boolean().default(false).meta({
      description: 'Whether to preview the restore without changing anything.',
    }),
  })
  .meta({ description: 'The folder and the point in time.' });

/** A name that at most one secret has: a folder by its path, and a key. */
export interface Name {
  readonly path: string;
  readonly key: string;
}

/** A secret in the scope of a restore. */
export interface PresentSecret extends Name {
  readonly id: string;
}

/** A secret that was in the scope of a restore at the point in time to restore. */
export interface PastSecret extends Name {
  readonly id: string;
  /** It is now outside of the scope, and stays there. */
  readonly isElsewhere: boolean;
}

/**
 * The steps of a restore, in order: deletions free the keys that changes take, and both free the keys that creations
 * take.
 */
export interface RestorePlan<P extends PresentSecret, Q extends PastSecret> {
  readonly deletes: readonly P[];
  readonly changes: readonly { readonly present: P; readonly past: Q }[];
  /** `isCopy`: with a new ID, because the secret itself is elsewhere. */
  readonly creates: readonly { readonly past: Q; readonly isCopy: boolean }[];
}

/** True for a path, and with `recursive` for everything below it. */
export const isWithinPath = (path: string, reach: { readonly path: string; readonly recursive: boolean }): boolean =>
  path === reach.path || (reach.recursive && path.startsWith(joinPath(reach.path, '')));

/** By path, then key, by code units. */
export const byName = (one: Name, other: Name): number =>
  compareTexts(one.path, other.path) || compareTexts(one.key, other.key);

/** One text per name. */
export const nameOf = ({ path, key }: Name): string => `${path}:${key}`;

/** Names that several of these secrets have: such a state cannot be restored. */
export function namesClaimedTwice(secrets: readonly Name[]): Name[] {
  const claims = Map.groupBy(secrets, nameOf);
  return [...claims.values()].flatMap(([first, second]) => (second === undefined ? [] : [first as Name]));
}

/**
 * Plans how to restore the past. A secret that is in both states is changed, one that is missing now is created again
 * with its ID, and one that did not exist is deleted. A secret that is elsewhere now is restored as a copy: into the
 * secret that has its name here, if that one would otherwise be deleted, so that restoring twice is the same as
 * restoring once.
 *
 * @param present the secrets in scope; no duplicate names
 * @param past the secrets in scope at the point in time; no duplicate names, see `namesClaimedTwice`
 * @param isSame whether the contents, all but the name, are equal
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
