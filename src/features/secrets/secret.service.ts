import { authorize } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { SealedText } from '../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../kernel/crypto/sealer.js';
import { inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError, type ErrorDetail } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import { parse } from '../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../projects/public.js';
import type { Place } from './place.rules.js';
import { listByIds, type SecretRecord, type TagRecord } from './secret.records.js';
import {
  CreateSecret,
  CreateSecrets,
  DeleteSecret,
  DeleteSecrets,
  type NewSecret,
  type PathOf,
  plainMetadata,
  repeatedKeys,
  type SecretChange,
  UpdateSecret,
  UpdateSecrets,
} from './secret.rules.js';
import { type SecretView, SecretViewer } from './secret.view.js';
import { type FoundPlace, loadPlace, loadSecretProject, loadTags } from './secret-place.js';
import {
  type Clear,
  openerFor,
  openSecretComment,
  openSecretMetadata,
  openSecretValue,
  sealerFor,
  sealSecret,
} from './secret-sealing.js';
import {
  deleteSecrets,
  insertSecrets,
  lockByKeys,
  replaceTags,
  type SecretRow,
  takenKeys,
  updateSecrets,
} from './secret-writes.js';
import { fieldsOf, Visibility } from './visibility.rules.js';

type WriteAction = 'secrets:create' | 'secrets:edit' | 'secrets:delete';

const alone: PathOf = (_index, field) => field;
const inBatch: PathOf = (index, field) => `secrets[${index}].${field}`;

/** Where a write goes, and how its faults are named. */
interface Batch {
  readonly place: Place;
  readonly pathOf: PathOf;
}

/** A place that exists, in a project where the caller may do this to some secret. */
interface Target extends Batch, FoundPlace {
  readonly project: ProjectAccess;
}

/** Makes, changes and deletes secrets: one, or many with all or nothing. */
export class SecretService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Adds a secret to a folder.
   *
   * @param raw place, `secretKey` and what it holds; the rules are `CreateSecret`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, TAG_NOT_FOUND, PERMISSION_DENIED,
   *   SECRET_KEY_TAKEN, AUDIT_UNAVAILABLE
   * Source: behaviour 5.8, decisions 5.
   */
  async create(ctx: Context, raw: unknown): Promise<SecretView> {
    const { projectId, environment, secretPath, ...secret } = parse(CreateSecret, raw);
    return first(await this.#create(ctx, { place: { projectId, environment, secretPath }, pathOf: alone }, [secret]));
  }

  /** Adds up to 1,000 secrets to a folder, all or none. @throws as `create`, naming every fault. Source: behaviour 5.8. */
  createBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets, ...place } = parse(CreateSecrets, raw);
    return this.#create(ctx, { place, pathOf: inBatch }, secrets);
  }

  /**
   * Changes a secret: absent keeps, null clears. Everything sealed is sealed anew for the next version.
   *
   * @param raw place, `secretKey` and what changes; the rules are `UpdateSecret`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, TAG_NOT_FOUND, SECRET_NOT_FOUND,
   *   PERMISSION_DENIED, SECRET_KEY_TAKEN, CONCURRENT_CHANGE, SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   * Source: behaviour 5.8, decisions 5.
   */
  async update(ctx: Context, raw: unknown): Promise<SecretView> {
    const { projectId, environment, secretPath, ...change } = parse(UpdateSecret, raw);
    return first(await this.#update(ctx, { place: { projectId, environment, secretPath }, pathOf: alone }, [change]));
  }

  /** Changes up to 1,000 secrets of a folder, all or none. @throws as `update`, naming every fault. Source: behaviour 5.8. */
  updateBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets, ...place } = parse(UpdateSecrets, raw);
    return this.#update(ctx, { place, pathOf: inBatch }, secrets);
  }

  /**
   * Deletes a secret and answers it as it was.
   *
   * @param raw place and `secretKey`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, SECRET_NOT_FOUND, PERMISSION_DENIED,
   *   AUDIT_UNAVAILABLE
   * Source: behaviour 5.8.
   */
  async delete(ctx: Context, raw: unknown): Promise<SecretView> {
    const { secretKey, ...place } = parse(DeleteSecret, raw);
    return first(await this.#delete(ctx, { place, pathOf: alone }, [secretKey]));
  }

  /** Deletes up to 1,000 secrets of a folder, all or none. @throws as `delete`, naming every fault. Source: behaviour 5.8. */
  deleteBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets, ...place } = parse(DeleteSecrets, raw);
    const keys = secrets.map(({ secretKey }) => secretKey);
    return this.#delete(ctx, { place, pathOf: inBatch }, keys);
  }

  async #create(ctx: Context, at: Batch, secrets: readonly NewSecret[]): Promise<SecretView[]> {
    const keys = secrets.map(({ secretKey }) => secretKey);
    refuse(repeatedKeys(keys, at.pathOf, 'secretKey'));
    const target = await this.#target(ctx, at, 'secrets:create');
    const { project, place, pathOf } = target;
    const tags = await loadTags(ctx, project.projectId, { wanted: tagIdsOf(secrets), pathOf });
    for (const secret of secrets) {
      authorize(project, 'secrets:create', fieldsOf(subjectOf(place, secret.secretKey, pick(tags, secret.tagIds))));
    }
    if (project.enforceEncryptedSecretMetadata) refuse(plainMetadata(secrets, pathOf));
    const sealer = await sealerFor(ctx, project, secrets.length);
    const rows = secrets.map((secret) => newRow(sealer, secret));
    return inTransaction(ctx, async (tx) => {
      if (secrets.length > 1) await refuseTaken(tx, target, keys);
      await insertSecrets(tx, { ...project, ...target }, rows);
      await replaceTags(tx, tagsByRow(rows, secrets), { areNew: true });
      return this.#finish(tx, target, { action: 'secret:create', ids: rows.map(({ id }) => id) });
    });
  }

  async #update(ctx: Context, at: Batch, changes: readonly SecretChange[]): Promise<SecretView[]> {
    const keys = changes.map(({ secretKey }) => secretKey);
    const keysAfter = changes.map(({ secretKey, newSecretKey }) => newSecretKey ?? secretKey);
    refuse(repeatedKeys(keys, at.pathOf, 'secretKey'));
    refuse(repeatedKeys(keysAfter, at.pathOf, 'newSecretKey'));
    const target = await this.#target(ctx, at, 'secrets:edit');
    const { project, pathOf } = target;
    const tags = await loadTags(ctx, project.projectId, { wanted: tagIdsOf(changes), pathOf });
    if (project.enforceEncryptedSecretMetadata) refuse(plainMetadata(changes, pathOf));
    return inTransaction(ctx, async (tx) => {
      const records = await lockedRecords(tx, target, keys);
      for (const [index, change] of changes.entries()) {
        const record = records[index] as SecretRecord;
        const tagsAfter = change.tagIds === undefined ? record.tags : pick(tags, change.tagIds);
        authorize(project, 'secrets:edit', fieldsOf(record));
        // Nobody may rename or tag a secret into a place where they could not edit it.
        authorize(project, 'secrets:edit', fieldsOf(subjectOf(target.place, keysAfter[index] as string, tagsAfter)));
      }
      const opener = await openerFor(tx, project, records);
      const sealer = await sealerFor(tx, project, changes.length);
      const rows = changes.map((change, index) =>
        nextRow(sealer, opener, { record: records[index] as SecretRecord, change }),
      );
      if ((await updateSecrets(tx, rows)) !== rows.length) throw new AppError('CONCURRENT_CHANGE');
      await replaceTags(tx, tagsByRow(rows, changes), { areNew: false });
      return this.#finish(tx, target, { action: 'secret:update', ids: rows.map(({ id }) => id) });
    });
  }

  async #delete(ctx: Context, at: Batch, keys: readonly string[]): Promise<SecretView[]> {
    refuse(repeatedKeys(keys, at.pathOf, 'secretKey'));
    const target = await this.#target(ctx, at, 'secrets:delete');
    const { project } = target;
    return inTransaction(ctx, async (tx) => {
      const records = await lockedRecords(tx, target, keys);
      for (const record of records) authorize(project, 'secrets:delete', fieldsOf(record));
      const viewer = new SecretViewer(await openerFor(tx, project, records), new Visibility(project.ability), true);
      const views = records.map(viewer.view);
      const ids = records.map(({ id }) => id);
      await deleteSecrets(tx, ids);
      await recordWrite(tx, target, { action: 'secret:delete', ids });
      return views;
    });
  }

  async #target(ctx: Context, { place, pathOf }: Batch, action: WriteAction): Promise<Target> {
    const project = await loadSecretProject(ctx, this.projects, place.projectId);
    // Who may do this to no secret at all learns nothing of environments and folders; conditions are asked for each secret.
    authorize(project, action);
    return { project, place, pathOf, ...(await loadPlace(ctx, place)) };
  }

  async #finish(
    tx: Transaction,
    target: Target,
    { action, ids }: { action: string; ids: readonly string[] },
  ): Promise<SecretView[]> {
    const { project } = target;
    const records = await listByIds(tx, ids);
    const viewer = new SecretViewer(await openerFor(tx, project, records), new Visibility(project.ability), true);
    const views = new Map(records.map((record) => [record.id, viewer.view(record)]));
    await recordWrite(tx, target, { action, ids });
    return ids.map((id) => views.get(id) as SecretView);
  }
}

const first = <T>(items: readonly T[]): T => items[0] as T;

const refuse = (details: readonly ErrorDetail[]): void => {
  if (details.length > 0) throw new AppError('VALIDATION_FAILED', undefined, { details });
};

const subjectOf = ({ environment, secretPath }: Place, key: string, tags: readonly TagRecord[]) => ({
  environment,
  path: secretPath,
  key,
  tags,
});

const tagIdsOf = (secrets: readonly Pick<NewSecret, 'tagIds'>[]): readonly (readonly string[])[] =>
  secrets.map(({ tagIds }) => tagIds ?? []);

const pick = (tags: ReadonlyMap<string, TagRecord>, ids: readonly string[] | null | undefined): TagRecord[] =>
  [...new Set((ids ?? []).map((id) => id.toLowerCase()))].flatMap((id) => tags.get(id) ?? []);

/** Tag ids of the rows whose tags are given; a row that is not in the map keeps its tags. */
const tagsByRow = (
  rows: readonly SecretRow[],
  given: readonly Pick<NewSecret, 'tagIds'>[],
): ReadonlyMap<string, readonly string[]> =>
  new Map(
    rows.flatMap(({ id }, index) => {
      const tagIds = given[index]?.tagIds;
      return tagIds === undefined ? [] : [[id, [...new Set((tagIds ?? []).map((tag) => tag.toLowerCase()))]] as const];
    }),
  );

/** Names every taken key of a batch. Only for the message: against a race the constraint decides. */
async function refuseTaken(tx: Transaction, { folderId, pathOf }: Target, keys: readonly string[]): Promise<void> {
  const taken = await takenKeys(tx, folderId, keys);
  const details = keys.flatMap((key, index): ErrorDetail[] =>
    taken.has(key)
      ? [
          {
            path: pathOf(index, 'secretKey'),
            code: 'SECRET_KEY_TAKEN',
            message: 'is the key of a secret in the folder already',
          },
        ]
      : [],
  );
  if (details.length > 0) throw new AppError('SECRET_KEY_TAKEN', undefined, { details });
}

/**
 * The secrets of these keys, in the order of the keys, locked until the transaction ends.
 *
 * @throws SECRET_NOT_FOUND, naming each; one that the caller may not know of is not there
 */
async function lockedRecords(
  tx: Transaction,
  { folderId, project, pathOf }: Target,
  keys: readonly string[],
): Promise<SecretRecord[]> {
  const ids = await lockByKeys(tx, folderId, keys);
  // Read after the lock and not with it: who waited for it would see the tags of before.
  const records = ids.length === 0 ? [] : await listByIds(tx, ids);
  const visibility = new Visibility(project.ability);
  const byKey = new Map(records.filter((record) => visibility.describes(record)).map((record) => [record.key, record]));
  const details = keys.flatMap((key, index): ErrorDetail[] =>
    byKey.has(key)
      ? []
      : [{ path: pathOf(index, 'secretKey'), code: 'SECRET_NOT_FOUND', message: 'is no secret of the folder' }],
  );
  if (details.length > 0) throw new AppError('SECRET_NOT_FOUND', undefined, { details });
  return keys.map((key) => byKey.get(key) as SecretRecord);
}

const recordWrite = (tx: Transaction, target: Target, { action, ids }: { action: string; ids: readonly string[] }) =>
  tx.auditTrail.recordChange(tx, {
    action,
    projectId: target.project.projectId,
    facts: { environmentId: target.environmentId, folderId: target.folderId, count: ids.length, secretIds: ids },
  });

const entriesOf = (given: NewSecret['secretMetadata']): Clear['metadata'] =>
  (given ?? []).map(({ key, value, isEncrypted }) => ({
    key,
    value: new SealedText(value ?? ''),
    isEncrypted: isEncrypted ?? false,
  }));

const commentOf = (given: string | null | undefined): SealedText | null => (given ? new SealedText(given) : null);

function newRow(sealer: Sealer, secret: NewSecret): SecretRow {
  const row = { id: newId(), version: 1 };
  const { secretValue, secretComment, secretMetadata } = secret;
  return {
    ...row,
    key: secret.secretKey,
    ...sealSecret(sealer, row, {
      value: new SealedText(secretValue),
      comment: commentOf(secretComment),
      metadata: entriesOf(secretMetadata),
    }),
    skipMultilineEncoding: secret.skipMultilineEncoding ?? false,
    reminderNote: secret.secretReminderNote ?? null,
    reminderRepeatDays: secret.secretReminderRepeatDays ?? null,
  };
}

/** The row after a change. Only what is kept is opened, so that a part that does not open can be mended by writing it. */
function nextRow(
  sealer: Sealer,
  opener: Sealer,
  { record, change }: { record: SecretRecord; change: SecretChange },
): SecretRow {
  const row = { id: record.id, version: record.version + 1 };
  const {
    secretValue,
    secretComment,
    secretMetadata,
    skipMultilineEncoding,
    secretReminderNote,
    secretReminderRepeatDays,
  } = change;
  return {
    ...row,
    key: change.newSecretKey ?? record.key,
    ...sealSecret(sealer, row, {
      value: secretValue === undefined ? openSecretValue(opener, record) : new SealedText(secretValue),
      comment: secretComment === undefined ? openSecretComment(opener, record) : commentOf(secretComment),
      metadata: secretMetadata === undefined ? openSecretMetadata(opener, record) : entriesOf(secretMetadata),
    }),
    skipMultilineEncoding:
      skipMultilineEncoding === undefined ? record.skipMultilineEncoding : (skipMultilineEncoding ?? false),
    reminderNote: secretReminderNote === undefined ? record.reminderNote : secretReminderNote,
    reminderRepeatDays: secretReminderRepeatDays === undefined ? record.reminderRepeatDays : secretReminderRepeatDays,
  };
}
