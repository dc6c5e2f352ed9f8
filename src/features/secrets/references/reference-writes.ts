import { PermissionDenied } from '../../../kernel/authz/ability.js';
import { SYSTEM, type Transaction } from '../../../kernel/context.js';
import { openedOrNull, type SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import type { ProjectAccess } from '../../projects/public.js';
import { listByIds, type SecretRecord } from '../core/find-secrets.js';
import { nextAttributes, sealedRow } from '../core/next-version.js';
import { isReferenceable, type Reference, type Rename } from '../core/reference.rules.js';
import { lockByIds } from '../core/secret.queries.js';
import {
  openedSecret,
  openerFor,
  openSecretValue,
  referencesIn,
  renamedIn,
  sealerFor,
} from '../core/secret-sealing.js';
import { type SecretRow, updateSecrets } from '../core/secret-writes.js';
import { joinPath } from '../scope/location.rules.js';
import { Visibility } from '../scope/visibility.rules.js';
import { listReferring, listReferringInto, namesOf, type SecretName } from './reference.sql.js';

/** The location of secrets in terms of references. */
export type ReferenceLocation = Omit<SecretName, 'key'>;

/** A value, and the folder that its references without a location start from. */
export interface ValueAtLocation extends ReferenceLocation {
  readonly value: SealedText;
}

/** A value to be written. */
export interface NewValue extends ValueAtLocation {
  /** Values that it replaces or comes from, as far as the writer may read them: their references may stay. */
  readonly earlier?: () => readonly ValueAtLocation[];
  /** Its path in the request. */
  readonly at: string;
}

/**
 * A value may reference only secrets that its writer may see: others expand it with their own rights, in locations that
 * the writer chooses. The rules decide by the path and key of a reference, as for a secret without tags. Whether the
 * secret exists makes no difference, so that nobody learns it by writing.
 *
 * Every method that writes values calls this with all of them, except for references that the service itself updates.
 *
 * @throws PERMISSION_DENIED, with the path of each value in the request
 */
export function authorizeReferences({ ability, projectId }: ProjectAccess, values: readonly NewValue[]): void {
  const visibility = new Visibility(ability);
  if (visibility.describesAll) return;
  const denied = values.filter((value) => !mayBeWritten(value, visibility));
  if (denied.length === 0) return;
  throw new PermissionDenied(
    { action: 'secrets:describeSecret', projectId },
    [],
    denied.map(({ at }) => ({ path: at, needs: 'secrets:describeSecret', about: 'refers to a secret that' })),
  );
}

/** The value of a secret before a write, if there is one that the writer may read and that can be decrypted. */
export function readableValue(
  opener: Sealer,
  { ability }: ProjectAccess,
  record: SecretRecord | undefined,
): readonly ValueAtLocation[] {
  if (record === undefined || !new Visibility(ability).readsValue(record)) return [];
  const value = openedOrNull(() => openSecretValue(opener, record));
  return value === null ? [] : [{ value, environment: record.environment, path: record.path }];
}

function mayBeWritten({ earlier = () => [], ...value }: NewValue, visibility: Visibility): boolean {
  const hidden = targetsOf(value).filter((target) => !visibility.describes({ ...target, tags: [] }));
  if (hidden.length === 0) return true;
  const stood = new Set(earlier().flatMap((old) => targetsOf(old).map(nameOf)));
  return hidden.every((target) => stood.has(nameOf(target)));
}

/** The secrets that a value references. */
const targetsOf = ({ value, ...place }: ValueAtLocation): SecretName[] =>
  referencesIn(value).map(({ environment, path, key }) => ({
    environment: environment ?? place.environment,
    path: path ?? place.path,
    key,
  }));

/** A renamed or moved secret. */
export interface Renaming {
  readonly from: SecretName;
  readonly to: SecretName;
}

/**
 * Updates references to renamed secrets in the values of other secrets. Each gets a new version, written by the service
 * itself. Call it after the rename, in the same transaction. It takes one statement if no value references the secrets,
 * and five otherwise, however many there are.
 *
 * References without a location do not change if they still find their secret in the same folder. Personal values belong
 * to their owners: their references are neither indexed nor updated.
 *
 * A value that the caller may not read never prevents a rename, because the error would reveal what it references. If its
 * references cannot be updated, it does not change, as when the referenced secret is deleted.
 *
 * @param options `except`: IDs of secrets that the same write has already updated; `isDryRun`: nothing is written
 * @returns the number of updated secrets whose values the caller may read
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

/** Changes references in values at a location. @param isShown whether the caller may read the value */
export type RenameIn = (place: ReferenceLocation, isShown: boolean) => Rename;

/** A renamed or moved folder, with all secrets in it. */
export interface FolderRenaming {
  readonly from: ReferenceLocation;
  readonly to: ReferenceLocation;
}

/**
 * As `rewriteReferencesTo`, for renamed or moved folders: updates the references that name a location in one of them.
 * References without a location do not change, since the secrets of a folder stay together.
 *
 * @returns the number of updated secrets whose values the caller may read
 * @throws REFERENCES_TOO_LONG, SEALED_VALUE_INVALID, CONCURRENT_CHANGE
 */
export async function rewriteReferencesInto(
  tx: Transaction,
  project: ProjectAccess,
  renamings: readonly FolderRenaming[],
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
  await updateSecrets(tx, project, rows, { writer: SYSTEM, keepsAge: true });
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

const placeNameOf = ({ environment, path }: ReferenceLocation): string => JSON.stringify([environment, path]);

const nameOf = ({ environment, path, key }: SecretName): string => JSON.stringify([environment, path, key]);

/**
 * Changes references in values that are written together with new names of secrets. All other values are updated by
 * `rewriteReferencesTo`.
 *
 * @returns a function that throws SECRET_REFERENCED if a reference cannot contain the new key. If the caller may not read
 * the value, the reference does not change instead
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
