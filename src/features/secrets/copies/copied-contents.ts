import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import { type Ability, can, canAlways } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { AppError } from '../../../kernel/errors.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { newId } from '../../../kernel/ids.js';
import type { ProjectAccess } from '../../projects/public.js';
import { listByIds, type SecretRecord } from '../core/find-secrets.js';
import { nextAttributes, sealedRow } from '../core/next-version.js';
import {
  openerFor,
  openSecretComment,
  openSecretMetadata,
  type SecretPlaintext,
  sealerFor,
} from '../core/secret-sealing.js';
import { insertSecrets, type SecretRow } from '../core/secret-writes.js';
import { writeEvent } from '../core/write-target.js';
import { type LockedEnvironment, lockRootFolders } from '../folders/folder.sql.js';
import { parentOf, pathsDownTo } from '../scope/location.rules.js';
import { folderTest, Visibility } from '../scope/visibility.rules.js';
import { openContents } from '../versions/restore-contents.js';
import {
  type CopiedFolder,
  insertCopiedFolders,
  insertCopiedImports,
  listFoldersOf,
  listImportsFrom,
  listSizes,
} from './copy.queries.js';

/** A copy is written by one transaction, which limits it to what takes a few seconds. */
const MAX_FOLDERS = 10_000;
const MAX_SECRETS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** Maximum number of secrets that are examined for a caller who may see only some of them. */
const MAX_LOOKED_AT = 100_000;

/** Which contents of environments are copied. Secrets need folders. */
interface ContentsChoice {
  readonly environments: readonly { readonly id: string; readonly slug: string }[];
  readonly folders: boolean;
  readonly secrets: boolean;
  readonly values: boolean;
}

/** A folder that is copied. */
interface PlannedFolder {
  readonly id: string;
  /** Slug of its environment in the copy. */
  readonly environment: string;
  readonly path: string;
  /** The caller may read its description. */
  readonly isDescribed: boolean;
}

/** A secret that is copied. */
interface PlannedSecret {
  readonly id: string;
  readonly folderId: string;
  /** If not, its copy has the empty value. */
  readonly withValue: boolean;
  /** Of everything that is copied of it. */
  readonly bytes: number;
}

/** What is copied of the contents of a project: as much as the caller may read. */
export interface ContentsPlan {
  /** Root folders too, parents first. */
  readonly folders: readonly PlannedFolder[];
  readonly imports: readonly { readonly folderId: string; readonly sourceFolderId: string }[];
  readonly secrets: readonly PlannedSecret[];
  /** Imports that the caller may read and one of whose folders is not copied. */
  readonly importsLeftOut: number;
  /** Secrets that are copied, and whose values the caller may not read. */
  readonly valuesLeftOut: number;
}

type Folder = Awaited<ReturnType<typeof listFoldersOf>>[number];

/**
 * Plans what is copied of the contents of environments. Reads no value, and takes the same statements for any size.
 *
 * @throws COPY_TOO_LARGE
 */
export async function planContents(
  tx: Transaction,
  { ability }: ProjectAccess,
  choice: ContentsChoice,
): Promise<ContentsPlan> {
  const slugs = new Map(choice.environments.map(({ id, slug }) => [id, slug]));
  const all = choice.folders ? await listFoldersOf(tx, { environmentIds: [...slugs.keys()] }) : [];
  const byId = new Map(all.map((folder) => [folder.id, folder]));
  const secrets = choice.secrets ? await readableSecrets(tx, ability, byId, choice.values) : [];
  const isSeen = (folder: Folder): boolean =>
    can(ability, 'secret-folders:read', { environment: folder.environment, secretPath: parentOf(folder.path) });
  const seen = new Set(all.filter((folder) => isRoot(folder) || isSeen(folder)));
  // A visible secret reveals its folder, and a folder reveals its parents.
  const known = new Set(
    [...seen, ...secrets.map(({ folderId }) => byId.get(folderId) as Folder)].flatMap((folder) =>
      [folder.path, ...pathsDownTo(folder.path)].map((path) => placeOf({ ...folder, path })),
    ),
  );
  const folders = all.filter((folder) => known.has(placeOf(folder)));
  if (folders.length > MAX_FOLDERS) throw new AppError('COPY_TOO_LARGE');
  const imports = await readableImports(tx, ability, all);
  const copied = new Set(folders.map(({ id }) => id));
  const kept = imports.filter(({ folderId, sourceFolderId }) => copied.has(folderId) && copied.has(sourceFolderId));
  return {
    folders: folders.map((folder) => ({
      id: folder.id,
      environment: slugs.get(folder.environmentId) as string,
      path: folder.path,
      isDescribed: seen.has(folder),
    })),
    imports: kept,
    secrets,
    importsLeftOut: imports.length - kept.length,
    valuesLeftOut: choice.values ? secrets.filter(({ withValue }) => !withValue).length : 0,
  };
}

/** Whether a copy has all folders and imports, or all secrets, of the environments, whatever exists. */
export const readsAllFolders = ({ ability }: ProjectAccess): boolean =>
  canAlways(ability, 'secret-folders:read') && canAlways(ability, 'secret-imports:read');
export const readsAllSecrets = ({ ability }: ProjectAccess): boolean => canAlways(ability, 'secrets:describeSecret');

const isRoot = ({ path }: Pick<Folder, 'path'>): boolean => path === '/';

/** Key of a folder among those of several environments. Slugs contain no slash. */
const placeOf = ({ environment, path }: Pick<Folder, 'environment' | 'path'>): string => environment + path;

/** @throws COPY_TOO_LARGE */
async function readableSecrets(
  tx: Transaction,
  ability: Ability,
  folders: ReadonlyMap<string, Folder>,
  values: boolean,
): Promise<PlannedSecret[]> {
  const visibility = new Visibility(ability);
  const mayHoldSome = folderTest(ability, ['secrets:describeSecret']);
  const folderIds = [...folders.values()].filter(mayHoldSome).map(({ id }) => id);
  const limit = visibility.describesAll ? MAX_SECRETS : MAX_LOOKED_AT;
  const rows = folderIds.length === 0 ? [] : await listSizes(tx, { folderIds, limit: limit + 1 });
  if (rows.length > limit) throw new AppError('COPY_TOO_LARGE');
  const seen = await mapYielding(rows, ({ id, folderId, key, tags, valueBytes, otherBytes }) => {
    const { environment, path } = folders.get(folderId) as Folder;
    const subject = { environment, path, key, tags: tags.map((slug) => ({ slug })) };
    if (!visibility.describes(subject)) return [];
    const withValue = values && visibility.readsValue(subject);
    return [{ id, folderId, withValue, bytes: otherBytes + (withValue ? valueBytes : 0) }];
  });
  const secrets = seen.flat();
  const bytes = secrets.reduce((sum, secret) => sum + secret.bytes, 0);
  if (secrets.length > MAX_SECRETS || bytes > MAX_BYTES) throw new AppError('COPY_TOO_LARGE');
  return secrets;
}

async function readableImports(tx: Transaction, ability: Ability, folders: readonly Folder[]) {
  const importing = folders.filter(({ environment, path }) =>
    can(ability, 'secret-imports:read', { environment, secretPath: path }),
  );
  return importing.length === 0 ? [] : listImportsFrom(tx, { folderIds: importing.map(({ id }) => id) });
}

/** A new project, with its environments, tags and members. */
interface CopyTarget {
  readonly organizationId: string;
  readonly projectId: string;
  readonly enforceEncryptedSecretMetadata: boolean;
  /** Its tags, by the IDs of the tags that they are copies of. */
  readonly tagIds: ReadonlyMap<string, string>;
  /** Users who are members of it: others get no reminders. */
  readonly userIds: ReadonlySet<string>;
}

/** What was written, for the audit trails of both projects. */
interface WrittenContents {
  /** In the new project: the copies, by folder. */
  readonly events: readonly AuditEvent[];
  /** In the other project: the secrets whose values were read. */
  readonly disclosed: AuditEvent['disclosed'];
}

/** The batch size of other writes. */
const MAX_SET = 1_000;
const MAX_SET_BYTES = 2 * 1024 * 1024;

/** The target of copies of secrets in a folder, while it is where the plan has it. */
type TargetFolder = Pick<SecretRow, 'environmentId' | 'folderId'> & Pick<PlannedFolder, 'path'>;

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
  const targetFolders = await writeFolders(tx, target, folders);
  const folderIdOf = (sourceId: string): string => (targetFolders.get(sourceId) as TargetFolder).folderId;
  if (imports.length > 0) {
    await insertCopiedImports(tx, {
      ...target,
      folderIds: imports.map(({ folderId }) => folderIdOf(folderId)),
      sourceFolderIds: imports.map(({ sourceFolderId }) => folderIdOf(sourceFolderId)),
    });
  }
  const rows = secrets.length === 0 ? [] : await writeSecrets(tx, source, target, { secrets, targetFolders });
  const sourceFolders = new Map([...targetFolders].map(([sourceFolderId, { folderId }]) => [folderId, sourceFolderId]));
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
  {
    secrets,
    targetFolders,
  }: { readonly secrets: readonly PlannedSecret[]; readonly targetFolders: ReadonlyMap<string, TargetFolder> },
): Promise<Copied[]> {
  const sealer = await sealerFor(tx, target, secrets.length);
  const copied: Copied[] = [];
  for (const set of setsOf(secrets)) {
    // Rejected also once the caller was told that it takes too long.
    tx.load?.reserve(set.reduce((sum, { bytes }) => sum + bytes, 0));
    const records = await readSecrets(tx, source, { set, targetFolders });
    const opener = await openerFor(tx, source, records);
    const rows = await mapYielding(records, (record): SecretRow => {
      const { environmentId, folderId } = targetFolders.get(record.folderId) as TargetFolder;
      const clear = openContents(opener, target, record, hasValue(record) ? undefined : openedWithoutValue);
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
): Promise<ReadonlyMap<string, TargetFolder>> {
  if (folders.length === 0) return new Map();
  const slugs = [...new Set(folders.map(({ environment }) => environment))];
  const roots = new Map((await lockRootFolders(tx, { ...target, slugs })).map((root) => [root.environment, root]));
  const targetFolders = new Map<string, TargetFolder>();
  const byPlace = new Map<string, string>();
  const made = folders.flatMap((folder): CopiedFolder[] => {
    const { environmentId, rootId } = roots.get(folder.environment) as LockedEnvironment;
    const id = isRoot(folder) ? rootId : newId();
    targetFolders.set(folder.id, { environmentId, folderId: id, path: folder.path });
    byPlace.set(placeOf(folder), id);
    if (isRoot(folder)) return [];
    const parentId = byPlace.get(placeOf({ ...folder, path: parentOf(folder.path) }));
    const name = folder.path.slice(folder.path.lastIndexOf('/') + 1);
    return [
      { id, environmentId, parentId, name, path: folder.path, describedBy: folder.isDescribed ? folder.id : null },
    ];
  });
  if (made.length > 0) await insertCopiedFolders(tx, { ...target, folders: JSON.stringify(made) });
  return targetFolders;
}

/**
 * @param set all with their values, or all without
 * @throws CONCURRENT_CHANGE for what was deleted since the plan, moved, or hidden
 */
async function readSecrets(
  tx: Transaction,
  { ability }: ProjectAccess,
  {
    set,
    targetFolders,
  }: { readonly set: readonly PlannedSecret[]; readonly targetFolders: ReadonlyMap<string, TargetFolder> },
): Promise<SecretRecord[]> {
  const [first] = set;
  const ids = set.map(({ id }) => id);
  const records = await listByIds(tx, ids, first?.withValue);
  const visibility = new Visibility(ability);
  const isAsPlanned = (record: SecretRecord): boolean =>
    targetFolders.get(record.folderId)?.path === record.path &&
    visibility.describes(record) &&
    (record.valueSealed === undefined || (record.valueSealed !== null && visibility.readsValue(record)));
  if (records.length < set.length || !records.every(isAsPlanned)) throw new AppError('CONCURRENT_CHANGE');
  return records;
}

const hasValue = ({ valueSealed }: SecretRecord): boolean => valueSealed !== undefined;

const openedWithoutValue = (opener: Sealer, record: SecretRecord): SecretPlaintext => ({
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
