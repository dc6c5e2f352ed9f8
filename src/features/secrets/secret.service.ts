import { authorize } from '../../kernel/authz/ability.js';
import { type Context, isTransaction, type Transaction } from '../../kernel/context.js';
import { SealedText } from '../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../kernel/crypto/sealer.js';
import { inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError } from '../../kernel/errors.js';
import { mapInSlices } from '../../kernel/slices.js';
import { parse, parseInSlices } from '../../kernel/validation.js';
import type { ProjectReader } from '../projects/public.js';
import type { TagRow } from '../tags/public.js';
import type { PersonalSecretService } from './personal.service.js';
import { authorizeReferences, type NewValue, readableValue } from './reference-guard.js';
import { renamer, rewriteReferencesTo } from './reference-rewriting.js';
import type { SecretRecord } from './secret.records.js';
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
  type UpdateMode,
  UpdateSecret,
  UpdateSecrets,
} from './secret.rules.js';
import { type SecretView, SecretViewer } from './secret.view.js';
import { newRow, nextRow, writtenRecord } from './secret-rows.js';
import { openerFor, sealerFor } from './secret-sealing.js';
import {
  type Batch,
  holdPlaces,
  loadNamed,
  loadTarget,
  lockRecords,
  pick,
  recordWrite,
  refuse,
  refuseMissing,
  refuseTaken,
  subjectOf,
  type Target,
  type WriteFacts,
} from './secret-target.js';
import {
  deleteSecrets,
  insertSecrets,
  lockStructure,
  type SecretRow,
  updateSecrets,
  type Written,
} from './secret-writes.js';
import { authorizeSubjectChanges, fieldsOf, Visibility } from './visibility.rules.js';

const alone: PathOf = (_index, field) => field;
const inBatch: PathOf = (index, field) => `secrets[${index}].${field}`;

/** How often an upsert is tried again that found a secret to be missing which another caller then made. */
const UPSERT_ATTEMPTS = 3;

/** Changes of a batch, and what becomes of those of secrets that are not there. */
interface Update {
  readonly changes: readonly SecretChange[];
  readonly mode: UpdateMode;
  readonly isNew?: (key: string) => boolean;
  readonly action?: string;
  readonly facts?: WriteFacts;
  /** False: the reply has no values. */
  readonly isShown?: boolean;
}

/** A write for another verb. */
type Put = Pick<Required<Update>, 'isNew' | 'action' | 'facts'> & { readonly secrets: readonly SecretChange[] };

/** Makes, changes and deletes secrets: one, or many with all or nothing. */
export class SecretService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly personal: PersonalSecretService,
  ) {}

  /**
   * Adds a secret to a folder, or the caller's own value to one that is there.
   *
   * @param raw place, `secretKey`, `type` and what it holds; the rules are `CreateSecret`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, TAG_NOT_FOUND, USER_NOT_FOUND,
   *   PERMISSION_DENIED, SECRET_NOT_FOUND (of a personal one: there is no shared one), SECRET_KEY_TAKEN, CONCURRENT_CHANGE,
   *   AUDIT_UNAVAILABLE
   * Source: behaviour 5.8, decisions 5.
   */
  async create(ctx: Context, raw: unknown): Promise<SecretView> {
    const { projectId, environment, secretPath, type, ...secret } = parse(CreateSecret, raw);
    const place = { projectId, environment, secretPath };
    if (type === 'personal') return this.personal.create(ctx, place, secret);
    return first(await this.#create(ctx, { place, pathOf: alone }, [secret]));
  }

  /** Adds up to 1,000 secrets to a folder, all or none. @throws as `create`, naming every fault. Source: behaviour 5.8. */
  async createBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets, ...place } = await parseInSlices(CreateSecrets, raw);
    return this.#create(ctx, { place, pathOf: inBatch }, secrets);
  }

  /**
   * Changes a secret: absent keeps, null clears. Everything sealed is sealed anew for the next version. A new key is carried
   * into the references of other secrets.
   *
   * @param raw place, `secretKey`, `type` and what changes; the rules are `UpdateSecret`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, TAG_NOT_FOUND, USER_NOT_FOUND,
   *   SECRET_NOT_FOUND, PERMISSION_DENIED, SECRET_KEY_TAKEN, SECRET_REFERENCED, REFERENCES_TOO_LONG, CONCURRENT_CHANGE,
   *   SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   * Source: behaviour 5.8, decisions 5.
   */
  async update(ctx: Context, raw: unknown): Promise<SecretView> {
    const { projectId, environment, secretPath, type, ...change } = parse(UpdateSecret, raw);
    const place = { projectId, environment, secretPath };
    if (type === 'personal') return this.personal.update(ctx, place, change);
    return first(await this.#update(ctx, { place, pathOf: alone }, { changes: [change], mode: 'fail' }));
  }

  /**
   * Changes up to 1,000 secrets of a folder, all or none. What is not there fails the batch, is made, or is passed over, as
   * `mode` says.
   *
   * @throws as `update` and, with `upsert`, as `create`, naming every fault
   * Source: behaviour 5.8.
   */
  async updateBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets: changes, mode, ...place } = await parseInSlices(UpdateSecrets, raw);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#update(ctx, { place, pathOf: inBatch }, { changes, mode });
      } catch (error) {
        const isRace = mode === 'upsert' && error instanceof AppError && error.code === 'SECRET_KEY_TAKEN';
        if (!isRace || attempt === UPSERT_ATTEMPTS || isTransaction(ctx)) throw error;
      }
    }
  }

  /**
   * Writes secrets for another verb, which names their places and the audit record.
   *
   * @param write `secrets` with checked keys and values; `isNew` says of each key whether it is to be made: it is not changed
   *   when another caller took it meanwhile
   * @throws as `updateBatch` with `upsert`, but for faults of the input
   */
  async put(tx: Transaction, at: Batch, { secrets, ...write }: Put): Promise<void> {
    await this.#update(tx, at, { changes: secrets, mode: 'upsert', ...write, isShown: false });
  }

  /**
   * Deletes a secret and answers it as it was. Its versions stay.
   *
   * @param raw place, `secretKey`, `type`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, SECRET_NOT_FOUND, PERMISSION_DENIED,
   *   AUDIT_UNAVAILABLE
   * Source: behaviour 5.8.
   */
  async delete(ctx: Context, raw: unknown): Promise<SecretView> {
    const { secretKey, type, ...place } = parse(DeleteSecret, raw);
    if (type === 'personal') return this.personal.delete(ctx, place, secretKey);
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
    const target = await loadTarget(ctx, this.projects, at, 'secrets:create');
    const { project } = target;
    const tags = await loadNamed(ctx, target, secrets);
    authorizeNew(target, secrets, tags);
    authorizeReferences(
      project,
      secrets.map((secret, index) => newValueOf(target, secret.secretValue, index)),
    );
    if (project.enforceEncryptedSecretMetadata) refuse(plainMetadata(secrets, target.pathOf));
    const sealer = await sealerFor(ctx, project, secrets.length);
    const rows = await mapInSlices(secrets, (secret) => newRow(sealer, target, { secret, rename: null }));
    return inTransaction(ctx, async (tx) => {
      if (secrets.length > 1) {
        await holdPlaces(tx, [target]);
        await refuseTaken(tx, target, keys);
      }
      const written = await insertSecrets(tx, project, rows, target.place);
      return this.#finish(tx, target, { action: 'secret:create', rows, written, tags });
    });
  }

  async #update(
    ctx: Context,
    at: Batch,
    { changes, mode, isNew = () => false, action = 'secret:update', facts, isShown = true }: Update,
  ): Promise<SecretView[]> {
    const keys = changes.map(({ secretKey }) => secretKey);
    refuse(repeatedKeys(keys, at.pathOf, 'secretKey'));
    refuse(repeatedKeys(changes.map(keyAfter), at.pathOf, 'newSecretKey'));
    const target = await loadTarget(ctx, this.projects, at, mode === 'upsert' ? 'secrets:create' : 'secrets:edit');
    const { project, pathOf } = target;
    const tags = await loadNamed(ctx, target, changes);
    if (project.enforceEncryptedSecretMetadata) refuse(plainMetadata(changes, pathOf));
    return inTransaction(ctx, async (tx) => {
      const isRenaming = changes.some(({ newSecretKey }) => newSecretKey !== undefined);
      if (isRenaming) await lockStructure(tx, project.projectId);
      if (isRenaming || mode === 'upsert') await holdPlaces(tx, [target]);
      const records = await lockRecords(
        tx,
        target,
        keys.filter((key) => !isNew(key)),
      );
      const isThere = (key: string): boolean => records.has(key);
      const missing = changes.filter(({ secretKey }) => !isThere(secretKey));
      // A new key for what is not there is no way to make it.
      if (mode === 'fail' || missing.some(({ newSecretKey }) => newSecretKey !== undefined))
        refuseMissing(keys, isThere, pathOf);
      const present = changes.flatMap((change) => {
        const record = records.get(change.secretKey);
        return record === undefined ? [] : [{ record, change }];
      });
      authorizeChanges(target, present, tags);
      const added = mode === 'upsert' ? missing.map(toNew) : [];
      authorizeNew(target, added, tags);
      await refuseTakenNames(tx, target, { changes, isFreed: isThere });
      const sealer = await sealerFor(tx, project, present.length + added.length);
      const opener = await openerFor(tx, project, [...records.values()]);
      authorizeReferences(project, newValuesOf(target, changes, { records, opener }));
      const renamings = renamesOf(target, present);
      const visibility = new Visibility(project.ability);
      const renameIn = renamings.length === 0 ? null : renamer(renamings);
      const rename = renameIn === null ? null : renameIn(namedPlace(target), true);
      const changed = await mapInSlices(present, (each) => {
        const isShown = each.change.secretValue !== undefined || visibility.readsValue(each.record);
        return nextRow(sealer, opener, { ...each, isShown, rename: renameIn?.(namedPlace(target), isShown) ?? null });
      });
      const made = await mapInSlices(added, (secret) => newRow(sealer, target, { secret, rename }));
      const written = await updateSecrets(tx, project, changed);
      if (written.length !== changed.length) throw new AppError('CONCURRENT_CHANGE');
      written.push(...(await insertSecrets(tx, project, made)));
      const byKey = new Map([...changed, ...made].map((row) => [row.key, row]));
      await rewriteReferencesTo(tx, project, renamings, new Set([...byKey.values()].map(({ id }) => id)));
      const known = new Map([...tags, ...tagsOf(records.values())]);
      const rows = changes.flatMap((change) => byKey.get(keyAfter(change)) ?? []);
      return this.#finish(tx, target, { action, facts, isShown, rows, written, tags: known });
    });
  }

  async #delete(ctx: Context, at: Batch, keys: readonly string[]): Promise<SecretView[]> {
    refuse(repeatedKeys(keys, at.pathOf, 'secretKey'));
    const target = await loadTarget(ctx, this.projects, at, 'secrets:delete');
    const { project, pathOf } = target;
    return inTransaction(ctx, async (tx) => {
      const found = await lockRecords(tx, target, keys);
      refuseMissing(keys, (key) => found.has(key), pathOf);
      const records = keys.map((key) => found.get(key) as SecretRecord);
      for (const record of records) authorize(project, 'secrets:delete', fieldsOf(record));
      const viewer = new SecretViewer(await openerFor(tx, project, records), new Visibility(project.ability), true);
      const views = await mapInSlices(records, viewer.view);
      const ids = records.map(({ id }) => id);
      await deleteSecrets(tx, ids);
      await recordWrite(tx, target, { action: 'secret:delete', ids, shown: views });
      return views;
    });
  }

  /** What was written, as the caller may see it, and its audit record. */
  async #finish(
    tx: Transaction,
    target: Target,
    {
      action,
      facts,
      isShown = true,
      rows,
      written,
      tags,
    }: {
      action: string;
      facts?: WriteFacts | undefined;
      isShown?: boolean;
      rows: readonly SecretRow[];
      written: readonly Written[];
      tags: ReadonlyMap<string, TagRow>;
    },
  ): Promise<SecretView[]> {
    const { project, place } = target;
    const times = new Map(written.map((row) => [row.id, row]));
    const records = rows.map((row) =>
      writtenRecord(tx, row, times.get(row.id) as Written, {
        project,
        environment: place.environment,
        path: place.secretPath,
        tags: pick(tags, row.tagIds),
      }),
    );
    const viewer = new SecretViewer(await openerFor(tx, project, records), new Visibility(project.ability), true);
    const views = await mapInSlices(records, viewer.view);
    const shown = isShown ? views : [];
    await recordWrite(tx, target, { action, ids: rows.map(({ id }) => id), facts, shown });
    return views;
  }
}

const first = <T>(items: readonly T[]): T => items[0] as T;

const keyAfter = ({ secretKey, newSecretKey }: SecretChange): string => newSecretKey ?? secretKey;

/** A change of what is not there, as what is made in its place. */
const toNew = ({ newSecretKey: _never, ...change }: SecretChange): NewSecret => ({
  ...change,
  secretValue: change.secretValue ?? '',
});

const tagsOf = (records: Iterable<SecretRecord>): [string, TagRow][] =>
  [...records].flatMap(({ tags }) => tags.map((tag): [string, TagRow] => [tag.id, tag]));

/** @throws PERMISSION_DENIED */
function authorizeNew(
  { project, place }: Target,
  secrets: readonly NewSecret[],
  tags: ReadonlyMap<string, TagRow>,
): void {
  for (const { secretKey, tagIds } of secrets) {
    authorize(project, 'secrets:create', fieldsOf(subjectOf(place, secretKey, pick(tags, tagIds))));
  }
}

interface Present {
  readonly record: SecretRecord;
  readonly change: SecretChange;
}

/** @throws PERMISSION_DENIED */
function authorizeChanges(
  { project, place }: Target,
  present: readonly Present[],
  tags: ReadonlyMap<string, TagRow>,
): void {
  const changes = present.map(({ record, change }) => {
    const tagsAfter = change.tagIds === undefined ? record.tags : pick(tags, change.tagIds);
    return { before: record, after: subjectOf(place, keyAfter(change), tagsAfter) };
  });
  // Also where the value is a new one: comment and metadata stay.
  authorizeSubjectChanges(project, changes);
}

/**
 * Names every taken one of the new keys of a batch.
 *
 * @param batch `isFreed` tells the keys of secrets that the batch itself changes: no two of its secrets get one key
 * @throws SECRET_KEY_TAKEN
 */
async function refuseTakenNames(
  tx: Transaction,
  { folderId, pathOf }: Target,
  { changes, isFreed }: { changes: readonly SecretChange[]; isFreed: (key: string) => boolean },
): Promise<void> {
  const wanted = changes.flatMap(({ newSecretKey: key }, index) =>
    key === undefined || isFreed(key) ? [] : [{ key, path: pathOf(index, 'newSecretKey') }],
  );
  if (changes.length === 1 || wanted.length === 0) return;
  const keys = wanted.map(({ key }) => key);
  await refuseTaken(tx, { folderId, pathOf: (index) => (wanted[index] as { path: string }).path }, keys);
}

const newValueOf = (target: Target, value: string, index: number): NewValue => ({
  ...namedPlace(target),
  value: new SealedText(value),
  at: target.pathOf(index, 'secretValue'),
});

/** Also of what is not there and is passed over: that the rights suffice must not depend on what is there. */
const newValuesOf = (
  target: Target,
  changes: readonly SecretChange[],
  { records, opener }: { records: ReadonlyMap<string, SecretRecord>; opener: Sealer },
): NewValue[] =>
  changes.flatMap(({ secretKey, secretValue }, index): NewValue[] => {
    const earlier = () => readableValue(opener, target.project, records.get(secretKey));
    return secretValue === undefined ? [] : [{ ...newValueOf(target, secretValue, index), earlier }];
  });

const namedPlace = ({ place: { environment, secretPath } }: Target) => ({ environment, path: secretPath });

const renamesOf = (target: Target, present: readonly Present[]) =>
  present
    .filter(({ record, change }) => keyAfter(change) !== record.key)
    .map(({ record, change }) => ({
      from: { ...namedPlace(target), key: record.key },
      to: { ...namedPlace(target), key: keyAfter(change) },
    }));
