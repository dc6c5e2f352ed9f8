import { SYSTEM, type Transaction } from '../../../kernel/context.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import type { ProjectAccess } from '../../projects/public.js';
import { listByIds, type SecretRecord } from '../core/find-secrets.js';
import { lockByIds } from '../core/locks.sql.js';
import { nextAttributes, sealedRow } from '../core/next-version.js';
import { isReferenceable, type Reference, type Rename } from '../core/reference.rules.js';
import { openedSecret, openerFor, renamedIn, sealerFor } from '../core/secret-sealing.js';
import { type SecretRow, updateSecrets } from '../core/secret-writes.js';
import { joinPath } from '../scope/place.rules.js';
import { Visibility } from '../scope/visibility.rules.js';
import { listReferring, listReferringInto, namesOf, type SecretName } from './reference.sql.js';

/** A renamed or moved secret. */
export interface Renaming {
  readonly from: SecretName;
  readonly to: SecretName;
}

/**
 * Updates the references to renamed secrets in other values: a new version of each, written by the service itself.
 * Called in the transaction of the rename, after it. One statement when nothing references them, five otherwise,
 * whatever their number. A reference without a location that still finds its secret in the same folder stays. Personal
 * values belong to their owners: their references are neither indexed nor updated.
 *
 * A value that the caller may not read never prevents a rename: where its references cannot be updated, it stays as it
 * is, as when the secret is deleted. An error would reveal what it references.
 *
 * @param options `except`: secrets that are left as they are, those that were written with the new names; `isDryRun`:
 * nothing is
 * written
 * @returns how many secrets were updated, of those whose values the caller may read
 * @throws SECRET_REFERENCED when a new key cannot be written in a reference, REFERENCES_TOO_LONG, SEALED_VALUE_INVALID,
 * CONCURRENT_CHANGE
 */
export async function rewriteReferencesTo(
  tx: Transaction,
  project: ProjectAccess,
  renamings: readonly Renaming[],
  { except = new Set(), isDryRun = false }: { except?: ReadonlySet<string>; isDryRun?: boolean } = {},
): Promise<number> {
  if (renamings.length === 0) return 0;
  const from = renamings.map((renaming) => renaming.from);
  const { projectId } = project;
  const found = await listReferring(tx, { projectId, ...namesOf(from) });
  const referring = found.map(({ id }) => id).filter((id) => !except.has(id));
  if (referring.length === 0) return 0;
  return rewriteAll(tx, project, { referring, renameIn: renamer(renamings), isDryRun });
}

/** The location of secrets in terms of references. */
export type NamedPlace = Omit<SecretName, 'key'>;

/** How references in a value at a location change. @param isShown whether the caller may read the value */
export type RenameIn = (place: NamedPlace, isShown: boolean) => Rename;

/** A renamed or moved folder, with all secrets in it. */
export interface PlaceRenaming {
  readonly from: NamedPlace;
  readonly to: NamedPlace;
}

/**
 * The same for whole folders: references that name one of them are updated. Those without a location stay, since a
 * folder keeps its secrets together. One statement when nothing references them, five otherwise, whatever their number.
 *
 * @returns how many secrets were updated, of those whose values the caller may read
 * @throws REFERENCES_TOO_LONG, SEALED_VALUE_INVALID, CONCURRENT_CHANGE
 */
export async function rewriteReferencesInto(
  tx: Transaction,
  project: ProjectAccess,
  renamings: readonly PlaceRenaming[],
): Promise<number> {
  if (renamings.length === 0) return 0;
  const found = await listReferringInto(tx, {
    projectId: project.projectId,
    environments: renamings.map(({ from }) => from.environment),
    paths: renamings.map(({ from }) => from.path),
  });
  if (found.length === 0) return 0;
  const referring = found.map(({ id }) => id);
  const known = new Map(renamings.map(({ from, to }) => [placeNameOf(from), to]));
  const rename = ({ environment, path, key }: Reference) => {
    const to = environment === null || path === null ? undefined : known.get(placeNameOf({ environment, path }));
    return to === undefined ? null : { ...to, key };
  };
  return rewriteAll(tx, project, { referring, renameIn: () => rename });
}

async function rewriteAll(
  tx: Transaction,
  project: ProjectAccess,
  { referring, renameIn, isDryRun = false }: { referring: readonly string[]; renameIn: RenameIn; isDryRun?: boolean },
): Promise<number> {
  const records = await listByIds(
    tx,
    (await lockByIds(tx, { ids: referring })).map(({ id }) => id),
  );
  const opener = await openerFor(tx, project, records);
  const sealer = isDryRun ? null : await sealerFor(tx, project, records.length);
  const visibility = new Visibility(project.ability);
  const isShown = (record: SecretRecord) => visibility.describes(record) && visibility.readsValue(record);
  const results = await mapYielding(records, (record): SecretRow | 'follows' | 'stays' | 'too long' => {
    const clear = openedSecret(opener, record);
    const value = renamedIn(clear.value, renameIn(record, isShown(record)));
    if (value === null) return isShown(record) ? 'too long' : 'stays';
    if (value.equals(clear.value)) return 'stays';
    return sealer === null ? 'follows' : sealedRow(sealer, nextAttributes(record), { ...clear, value });
  });
  refuseTooLong(records.filter((_, index) => results[index] === 'too long'));
  const rows = results.filter((result) => typeof result !== 'string');
  const written = await updateSecrets(tx, project, rows, { writer: SYSTEM });
  if (written.length !== rows.length) throw new AppError('CONCURRENT_CHANGE');
  return records.filter((record, index) => results[index] !== 'stays' && isShown(record)).length;
}

/** @throws REFERENCES_TOO_LONG, naming them */
function refuseTooLong(tooLong: readonly SecretRecord[]): void {
  if (tooLong.length === 0) return;
  const details = tooLong.map(
    ({ environment, path, key }): ErrorDetail => ({
      path: `${environment}${joinPath(path, key)}`,
      code: 'TOO_BIG',
      message: 'must be at most 512 KiB of UTF-8 with the new names in its references',
    }),
  );
  throw new AppError('REFERENCES_TOO_LONG', undefined, { details });
}

const placeNameOf = ({ environment, path }: NamedPlace): string => JSON.stringify([environment, path]);

const nameOf = ({ environment, path, key }: SecretName): string => JSON.stringify([environment, path, key]);

/**
 * How a reference in a value at a given location changes with new names of secrets. For values that are written
 * together with the names; `rewriteReferencesTo` is for all others.
 *
 * @returns a function that throws SECRET_REFERENCED for a new key that cannot be written in a reference; where the
 * caller may
 * not read the value, the reference stays
 */
export function renamer(renamings: readonly Renaming[]): RenameIn {
  const known = new Map(renamings.map(({ from, to }) => [nameOf(from), to]));
  return ({ environment, path }, isShown) =>
    (reference) => {
      const isLocal = reference.environment === null || reference.path === null;
      const to = known.get(
        nameOf({
          environment: reference.environment ?? environment,
          path: reference.path ?? path,
          key: reference.key,
        }),
      );
      if (to === undefined) return null;
      if (!isReferenceable(to.key)) {
        if (!isShown) return null;
        throw new AppError('SECRET_REFERENCED');
      }
      const staysLocal = isLocal && to.environment === environment && to.path === path;
      return staysLocal ? { environment: null, path: null, key: to.key } : to;
    };
}
