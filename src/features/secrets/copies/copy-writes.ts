import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import type { Transaction } from '../../../kernel/context.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { AppError } from '../../../kernel/errors.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { newId } from '../../../kernel/ids.js';
import type { ProjectAccess } from '../../projects/public.js';
import { listByIds, type SecretRecord } from '../core/find-secrets.js';
import { nextAttributes, sealedRow } from '../core/next-version.js';
import { type Clear, openerFor, openSecretComment, openSecretMetadata, sealerFor } from '../core/secret-sealing.js';
import { insertSecrets, type SecretRow } from '../core/secret-writes.js';
import { writeEvent } from '../core/write-record.js';
import { holdRoots, type LockedEnvironment } from '../folders/folder.queries.js';
import { parentOf } from '../scope/place.rules.js';
import { Visibility } from '../scope/visibility.rules.js';
import { contentsOf } from '../versions/restore-contents.js';
import { type CopiedFolder, insertCopiedFolders, insertCopiedImports } from './copy.queries.js';
import { type ContentsPlan, isRoot, type PlannedFolder, type PlannedSecret, placeOf } from './copy-plan.js';

/** A new project, with its environments, tags and members. */
export interface CopyTarget {
  readonly organizationId: string;
  readonly projectId: string;
  readonly enforceEncryptedSecretMetadata: boolean;
  /** Its tags, by the IDs of the tags that they are copies of. */
  readonly tagIds: ReadonlyMap<string, string>;
  /** Users who are members of it: others get no reminders. */
  readonly userIds: ReadonlySet<string>;
}

/** What was written, for the audit trails of both projects. */
export interface WrittenContents {
  /** In the new project: the copies, by folder. */
  readonly events: readonly AuditEvent[];
  /** In the other project: the secrets whose values were read. */
  readonly disclosed: AuditEvent['disclosed'];
}

/** The batch size of other writes. */
const MAX_SET = 1_000;
const MAX_SET_BYTES = 2 * 1024 * 1024;

/** The target of copies of secrets in a folder, while it is where the plan has it. */
type Home = Pick<SecretRow, 'environmentId' | 'folderId'> & Pick<PlannedFolder, 'path'>;

/**
 * Writes copies of folders, imports and secrets into a new project, in the transaction of the plan. Values are copied
 * as stored, so that references name the copies, and are sealed again.
 *
 * @throws CONCURRENT_CHANGE for secrets that changed since the plan, SEALED_VALUE_INVALID, OVERLOADED,
 * DEADLINE_EXCEEDED
 */
export async function writeContents(
  tx: Transaction,
  source: ProjectAccess,
  target: CopyTarget,
  { folders, imports, secrets }: ContentsPlan,
): Promise<WrittenContents> {
  const homes = await writeFolders(tx, target, folders);
  const folderIdOf = (sourceId: string): string => (homes.get(sourceId) as Home).folderId;
  if (imports.length > 0) {
    await insertCopiedImports(tx, {
      ...target,
      folderIds: imports.map(({ folderId }) => folderIdOf(folderId)),
      sourceFolderIds: imports.map(({ sourceFolderId }) => folderIdOf(sourceFolderId)),
    });
  }
  const rows = secrets.length === 0 ? [] : await writeSecrets(tx, source, target, { secrets, homes });
  const sourceFolders = new Map([...homes].map(([sourceFolderId, { folderId }]) => [folderId, sourceFolderId]));
  const events = [...Map.groupBy(rows, ({ folderId }) => folderId)].map(([folderId, [first, ...others]]) => {
    const { environmentId } = first as Copied;
    const ids = [first as Copied, ...others].map(({ id }) => id);
    const facts = { sourceProjectId: source.projectId, sourceFolderId: String(sourceFolders.get(folderId)) };
    return writeEvent({ project: target, environmentId, folderId }, { action: 'secret:copy', ids, facts });
  });
  return { events, disclosed: disclosureOf(secrets.filter(({ withValue }) => withValue).map(({ id }) => id)) };
}

type Copied = Pick<SecretRow, 'id' | 'environmentId' | 'folderId'>;

/** In batches: sealing for one statement takes little of the time that the database waits for the next. */
async function writeSecrets(
  tx: Transaction,
  source: ProjectAccess,
  target: CopyTarget,
  { secrets, homes }: { readonly secrets: readonly PlannedSecret[]; readonly homes: ReadonlyMap<string, Home> },
): Promise<Copied[]> {
  const sealer = await sealerFor(tx, target, secrets.length);
  const copied: Copied[] = [];
  for (const set of setsOf(secrets)) {
    // Rejected also once the caller was told that it takes too long.
    tx.load?.reserve(set.reduce((sum, { bytes }) => sum + bytes, 0));
    const records = await readSecrets(tx, source, { set, homes });
    const opener = await openerFor(tx, source, records);
    const rows = await mapYielding(records, (record): SecretRow => {
      const { environmentId, folderId } = homes.get(record.folderId) as Home;
      const clear = contentsOf(opener, target, record, hasValue(record) ? undefined : openedWithoutValue);
      return sealedRow(sealer, { ...attributesIn(target, record), environmentId, folderId }, clear);
    });
    await insertSecrets(tx, target, rows);
    copied.push(...rows.map(({ id, environmentId, folderId }) => ({ id, environmentId, folderId })));
  }
  return copied;
}

/** Batches of secrets with values and of those without, each as large as one statement accepts. */
function setsOf(secrets: readonly PlannedSecret[]): PlannedSecret[][] {
  const sets: PlannedSecret[][] = [];
  for (const some of Object.values(Object.groupBy(secrets, ({ withValue }) => String(withValue)))) {
    let bytes = Number.POSITIVE_INFINITY;
    for (const secret of some ?? []) {
      const last = sets.at(-1);
      bytes += secret.bytes;
      if (last !== undefined && last.length < MAX_SET && bytes <= MAX_SET_BYTES) last.push(secret);
      else {
        sets.push([secret]);
        bytes = secret.bytes;
      }
    }
  }
  return sets;
}

/** The targets of copies, by the folders of the secrets. */
async function writeFolders(
  tx: Transaction,
  target: CopyTarget,
  folders: readonly PlannedFolder[],
): Promise<ReadonlyMap<string, Home>> {
  if (folders.length === 0) return new Map();
  const slugs = [...new Set(folders.map(({ environment }) => environment))];
  const roots = new Map((await holdRoots(tx, { ...target, slugs })).map((root) => [root.environment, root]));
  const homes = new Map<string, Home>();
  const byPlace = new Map<string, string>();
  const made = folders.flatMap((folder): CopiedFolder[] => {
    const { environmentId, rootId } = roots.get(folder.environment) as LockedEnvironment;
    const id = isRoot(folder) ? rootId : newId();
    homes.set(folder.id, { environmentId, folderId: id, path: folder.path });
    byPlace.set(placeOf(folder), id);
    if (isRoot(folder)) return [];
    const parentId = byPlace.get(placeOf({ ...folder, path: parentOf(folder.path) }));
    const name = folder.path.slice(folder.path.lastIndexOf('/') + 1);
    return [
      { id, environmentId, parentId, name, path: folder.path, describedBy: folder.isDescribed ? folder.id : null },
    ];
  });
  if (made.length > 0) await insertCopiedFolders(tx, { ...target, folders: JSON.stringify(made) });
  return homes;
}

/**
 * @param set all with their values, or all without @throws CONCURRENT_CHANGE for what was deleted since the plan,
 * moved, or hidden
 */
async function readSecrets(
  tx: Transaction,
  { ability }: ProjectAccess,
  { set, homes }: { readonly set: readonly PlannedSecret[]; readonly homes: ReadonlyMap<string, Home> },
): Promise<SecretRecord[]> {
  const [first] = set;
  const ids = set.map(({ id }) => id);
  const records = await listByIds(tx, ids, first?.withValue);
  const visibility = new Visibility(ability);
  const isAsPlanned = (record: SecretRecord): boolean =>
    homes.get(record.folderId)?.path === record.path &&
    visibility.describes(record) &&
    (record.valueSealed === undefined || (record.valueSealed !== null && visibility.readsValue(record)));
  if (records.length < set.length || !records.every(isAsPlanned)) throw new AppError('CONCURRENT_CHANGE');
  return records;
}

const hasValue = ({ valueSealed }: SecretRecord): boolean => valueSealed !== undefined;

const openedWithoutValue = (opener: Sealer, record: SecretRecord): Clear => ({
  value: new SealedText(''),
  comment: openSecretComment(opener, record),
  metadata: openSecretMetadata(opener, record),
});

/** The unsealed part of a copy, except its location. */
const attributesIn = ({ tagIds, userIds }: CopyTarget, record: SecretRecord) => ({
  ...nextAttributes(record),
  id: newId(),
  version: 1,
  // An ordinary secret with the current value: rotations are not copied.
  rotationId: null,
  tagIds: record.tags.flatMap(({ id }) => tagIds.get(id) ?? []),
  reminderRecipientIds: record.reminderRecipientIds.filter((id) => userIds.has(id)),
});
