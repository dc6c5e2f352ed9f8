import { authorize } from '../../../kernel/authz/ability.js';
import { type Context, isTransaction, type Transaction } from '../../../kernel/context.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { atOnce, inTransaction, WholeTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { parse, parseYielding } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import type { TagRow } from '../../tags/public.js';
import type { SecretRecord } from '../core/find-secrets.js';
import { holdSecret, lockRecords } from '../core/locked-secrets.js';
import { lockStructure } from '../core/locks.sql.js';
import { NOT_WRITTEN, newRow, nextRow, withTimes, writtenRecord } from '../core/next-version.js';
import {
  keyAfter,
  type NewSecret,
  type PathOf,
  plainMetadata,
  repeatedKeys,
  type SecretChange,
  toNew,
} from '../core/secret.rules.js';
import { type SecretView, SecretViewer, writtenView } from '../core/secret.view.js';
import { openerFor, sealerFor } from '../core/secret-sealing.js';
import { deleteSecrets, insertSecrets, type SecretRow, updateSecrets, type Written } from '../core/secret-writes.js';
import {
  authorizeChanges,
  authorizeNew,
  loadNamed,
  pick,
  refuse,
  refuseMissing,
  refuseTaken,
  refuseTakenNames,
} from '../core/write-checks.js';
import { recordWrite, type WriteFacts } from '../core/write-record.js';
import { type Batch, holdPlaces, namedPlace, renamesOf, type WriteTarget } from '../core/write-target.js';
import { refuseRotated, violationsOfChanges, violationsOfRemoval } from '../kept-keys/rotated-guard.js';
import { authorizeReferences, type NewValue, readableValue } from '../references/reference-guard.js';
import { renamer, rewriteReferencesTo } from '../references/reference-rewriting.js';
import { fieldsOf, Visibility } from '../scope/visibility.rules.js';
import type { PersonalSecretService } from './personal.service.js';
import {
  CreateSecret,
  CreateSecrets,
  DeleteSecret,
  DeleteSecretByKey,
  DeleteSecrets,
  type UpdateMode,
  UpdateSecret,
  UpdateSecretByKey,
  UpdateSecrets,
} from './secret-writing.rules.js';
import { WriteTargets } from './write-targets.js';

const alone: PathOf = (_index, field) => field;
const inBatch: PathOf = (index, field) => `secrets[${index}].${field}`;

/** Maximum number of retries of an upsert that found a secret to be missing which another caller then created. */
const UPSERT_ATTEMPTS = 3;

/** Changes of a batch, and what to do with missing secrets. */
interface Update {
  readonly changes: readonly SecretChange[];
  readonly mode: UpdateMode;
  readonly isNew?: (key: string) => boolean;
  readonly action?: string;
  readonly facts?: WriteFacts;
  /** False: the response has no values. */
  readonly isShown?: boolean;
}

/** A write for another operation. */
type Put = Pick<Required<Update>, 'isNew' | 'action' | 'facts'> & { readonly secrets: readonly SecretChange[] };

/** Creates, updates and deletes secrets: one, or many with all or nothing. */
export class SecretService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly personal: PersonalSecretService,
    private readonly targets = new WriteTargets(projects),
  ) {}

  /**
   * Adds a secret to a folder, or the caller's own value to one that is there.
   *
   * @param raw place, `secretKey`, `type` and what it holds; the rules are `CreateSecret`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, TAG_NOT_FOUND, USER_NOT_FOUND,
   *   PERMISSION_DENIED, SECRET_NOT_FOUND (of a personal one: there is no shared one), SECRET_KEY_TAKEN, CONCURRENT_CHANGE,
   *   AUDIT_UNAVAILABLE
   */
  async create(ctx: Context, raw: unknown): Promise<SecretView> {
    const { projectId, environment, secretPath, type, ...secret } = parse(CreateSecret, raw);
    const place = { projectId, environment, secretPath };
    if (type === 'personal') return this.personal.create(ctx, place, secret);
    return first(await this.#create(ctx, { place, pathOf: alone }, [secret]));
  }

  /** Creates up to 1,000 secrets in a folder, all or nothing. @throws as `create`, with every violation */
  async createBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets, ...place } = await parseYielding(CreateSecrets, raw);
    return this.#create(ctx, { place, pathOf: inBatch }, secrets);
  }

  /**
   * Changes a shared secret, wherever it is: absent keeps, null clears. Everything sealed is sealed anew for the next version. A
   * new key is carried into the references of other secrets.
   *
   * @param raw `id` and what changes; the rules are `UpdateSecret`
   * @throws VALIDATION_FAILED, SECRET_NOT_FOUND, PERMISSION_DENIED, TAG_NOT_FOUND, USER_NOT_FOUND, SECRET_KEY_TAKEN,
   *   SECRET_REFERENCED, REFERENCES_TOO_LONG, ROTATED_SECRET, CONCURRENT_CHANGE, SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   */
  async update(ctx: Context, raw: unknown): Promise<SecretView> {
    const { id, ...change } = parse(UpdateSecret, raw);
    const update = (withFolder: boolean) =>
      inTransaction(ctx, async (tx) => {
        const named = { id, action: 'secrets:edit', withFolder, pathOf: alone } as const;
        const { target, record } = await holdSecret(tx, this.projects, named);
        const changes = [{ ...change, secretKey: record.key }];
        const held = new Map([[record.key, record]]);
        return first(await this.#change(tx, target, { changes, mode: 'fail', lock: async () => held }));
      });
    if (change.newSecretKey !== undefined) return update(true);
    // A secret identified by ID is meant in whatever folder: after a concurrent rename of the folder the second attempt
    // locks it.
    return update(false).catch((error) => {
      if (isTransaction(ctx) || !(error instanceof AppError && error.code === 'CONCURRENT_CHANGE')) throw error;
      return update(true);
    });
  }

  /**
   * Changes a secret of a folder as `update` does, or the caller's own value in its place.
   *
   * @param raw place, `secretKey`, `type` and what changes; the rules are `UpdateSecretByKey`
   * @throws as `update`, and PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND
   */
  async updateByKey(ctx: Context, raw: unknown): Promise<SecretView> {
    const { projectId, environment, secretPath, type, ...change } = parse(UpdateSecretByKey, raw);
    const place = { projectId, environment, secretPath };
    if (type === 'personal') return this.personal.update(ctx, place, change);
    return first(await this.#update(ctx, { place, pathOf: alone }, { changes: [change], mode: 'fail' }));
  }

  /**
   * Updates up to 1,000 secrets of a folder, all or nothing. A missing one fails the batch, is created, or is skipped, by
   * `mode`.
   *
   * @throws as `update` and, with `upsert`, as `create`, with every violation
   */
  async updateBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets: changes, mode, ...place } = await parseYielding(UpdateSecrets, raw);
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
   * Deletes a shared secret, wherever it is, and answers it as it was. Its versions stay.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, SECRET_NOT_FOUND, PERMISSION_DENIED, ROTATED_SECRET, SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   */
  async delete(ctx: Context, raw: unknown): Promise<SecretView> {
    const { id } = parse(DeleteSecret, raw);
    return inTransaction(ctx, async (tx) => {
      const { target, record } = await holdSecret(tx, this.projects, { id, action: 'secrets:delete', pathOf: alone });
      return first(await deleteLocked(tx, target, { records: [record], pathOf: () => 'id' }));
    });
  }

  /**
   * Deletes a secret of a folder as `delete` does, or the caller's own value in its place.
   *
   * @param raw place, `secretKey`, `type`; the rules are `DeleteSecretByKey`
   * @throws as `delete`, and PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND
   */
  async deleteByKey(ctx: Context, raw: unknown): Promise<SecretView> {
    const { secretKey, type, ...place } = parse(DeleteSecretByKey, raw);
    if (type === 'personal') return this.personal.delete(ctx, place, secretKey);
    return first(await this.#delete(ctx, { place, pathOf: alone }, [secretKey]));
  }

  /** Deletes up to 1,000 secrets of a folder, all or nothing. @throws as `delete`, with every violation */
  deleteBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets, ...place } = parse(DeleteSecrets, raw);
    return this.#delete(ctx, { place, pathOf: inBatch }, keysOf(secrets));
  }

  async #create(ctx: Context, at: Batch, secrets: readonly NewSecret[]): Promise<SecretView[]> {
    refuse(repeatedKeys(keysOf(secrets), at.pathOf, 'secretKey'));
    return this.targets.at(ctx, at, 'secrets:create', (target) => this.#add(ctx, target, secrets));
  }

  async #add(ctx: Context, target: WriteTarget, secrets: readonly NewSecret[]): Promise<SecretView[]> {
    const { project } = target;
    const tags = await loadNamed(ctx, target, secrets);
    authorizeNew(target, secrets, tags);
    authorizeReferences(
      project,
      secrets.map((secret, index) => newValueOf(target, secret.secretValue, index)),
    );
    if (project.enforceEncryptedSecretMetadata) refuse(plainMetadata(secrets, target.pathOf));
    const sealer = await sealerFor(ctx, project, secrets.length);
    const rows = await mapYielding(secrets, (secret) => newRow(sealer, target, { secret, rename: null }));
    return inTransaction(ctx, async (tx) => {
      if (secrets.length > 1) {
        await holdPlaces(tx, [target]);
        await refuseTaken(tx, target, keysOf(secrets));
      }
      const write = () => insertSecrets(tx, project, rows, target.place);
      const { ending } = await this.#finish(tx, target, { action: 'secret:create', rows, write, tags });
      return secrets.length > 1 ? ending : new WholeTransaction(ending);
    });
  }

  async #update(ctx: Context, at: Batch, { isNew = () => false, ...update }: Update): Promise<SecretView[]> {
    const { changes, mode } = update;
    const keys = keysOf(changes);
    refuse(repeatedKeys(keys, at.pathOf, 'secretKey'));
    refuse(repeatedKeys(changes.map(keyAfter), at.pathOf, 'newSecretKey'));
    const lock = async (tx: Transaction, target: WriteTarget) => {
      const isRenaming = changes.some(({ newSecretKey }) => newSecretKey !== undefined);
      if (isRenaming) await lockStructure(tx, target.project);
      if (isRenaming || mode !== 'fail') await holdPlaces(tx, [target]);
      const known = keys.filter((key) => !isNew(key));
      return lockRecords(tx, target, known);
    };
    const action = mode === 'upsert' ? 'secrets:create' : 'secrets:edit';
    return this.targets.at(ctx, at, action, (target) => this.#change(ctx, target, { ...update, lock }));
  }

  /**
   * Updates existing secrets of a folder, and creates others.
   *
   * @param update `lock`: the existing ones, locked, by key
   */
  async #change(
    ctx: Context,
    target: WriteTarget,
    update: Omit<Update, 'isNew'> & {
      lock: (tx: Transaction, target: WriteTarget) => Promise<ReadonlyMap<string, SecretRecord>>;
    },
  ): Promise<SecretView[]> {
    const { changes, mode, action = 'secret:update', facts, isShown = true, lock } = update;
    const { project, pathOf } = target;
    const tags = await loadNamed(ctx, target, changes);
    if (project.enforceEncryptedSecretMetadata) refuse(plainMetadata(changes, pathOf));
    return inTransaction(ctx, async (tx) => {
      const records = await lock(tx, target);
      const isThere = (key: string): boolean => records.has(key);
      const missing = changes.filter(({ secretKey }) => !isThere(secretKey));
      // A missing secret cannot be created with a new key.
      if (mode === 'fail' || missing.some(({ newSecretKey }) => newSecretKey !== undefined))
        refuseMissing(keysOf(changes), isThere, pathOf);
      const present = changes.flatMap((change) => {
        const record = records.get(change.secretKey);
        return record === undefined ? [] : [{ record, change }];
      });
      authorizeChanges(target, present, tags);
      refuseRotated(violationsOfChanges(changes, records, pathOf));
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
      const changed = await mapYielding(present, (each) => {
        const isShown = each.change.secretValue !== undefined || visibility.readsValue(each.record);
        return nextRow(sealer, opener, { ...each, isShown, rename: renameIn?.(namedPlace(target), isShown) ?? null });
      });
      const made = await mapYielding(added, (secret) => newRow(sealer, target, { secret, rename }));
      const byKey = new Map([...changed, ...made].map((row) => [row.key, row]));
      const write = async () => {
        const updated = updateSecrets(tx, project, changed, { place: target.place });
        return (await atOnce(updated, insertSecrets(tx, project, made))).flat();
      };
      const early = renamings.length === 0 ? null : await write();
      const except = new Set([...byKey.values()].map(({ id }) => id));
      await rewriteReferencesTo(tx, project, renamings, { except });
      const known = new Map([...tags, ...tagsOf(records.values())]);
      const rows = changes.flatMap((change) => byKey.get(keyAfter(change)) ?? []);
      const writeNow = early === null ? write : async () => early;
      const { ending } = await this.#finish(tx, target, { action, facts, isShown, rows, write: writeNow, tags: known });
      return changes.length > 1 || early !== null ? ending : new WholeTransaction(ending);
    });
  }

  async #delete(ctx: Context, at: Batch, keys: readonly string[]): Promise<SecretView[]> {
    refuse(repeatedKeys(keys, at.pathOf, 'secretKey'));
    return this.targets.at(ctx, at, 'secrets:delete', (target) =>
      inTransaction(ctx, async (tx) => {
        const found = await lockRecords(tx, target, keys);
        refuseMissing(keys, (key) => found.has(key), at.pathOf);
        const records = keys.map((key) => found.get(key) as SecretRecord);
        return deleteLocked(tx, target, { records, pathOf: (index) => at.pathOf(index, 'secretKey') });
      }),
    );
  }

  /** Writes and records it, both at once. @returns what is on its way: what was written, as the caller may see it */
  async #finish(
    tx: Transaction,
    target: WriteTarget,
    {
      action,
      facts,
      isShown = true,
      rows,
      write,
      tags,
    }: {
      action: string;
      facts?: WriteFacts | undefined;
      isShown?: boolean;
      rows: readonly SecretRow[];
      write: () => Promise<readonly Written[]>;
      tags: ReadonlyMap<string, TagRow>;
    },
  ): Promise<{ readonly ending: Promise<SecretView[]> }> {
    const { project, place } = target;
    const surroundings = { project, environment: place.environment, path: place.secretPath };
    const records = rows.map((row) =>
      writtenRecord(tx, row, NOT_WRITTEN, { ...surroundings, tags: pick(tags, row.tagIds) }),
    );
    const views = await mapYielding(records, writtenView(new Visibility(project.ability)));
    const shown = isShown ? views : [];
    const ids = rows.map(({ id }) => id);
    const ending = atOnce(write(), recordWrite(tx, target, { action, ids, facts, shown }));
    return { ending: ending.then(([written]) => withTimes(views, written)) };
  }
}

/**
 * Deletes locked secrets of a folder.
 *
 * @returns the deleted secrets, in order
 * @throws PERMISSION_DENIED, ROTATED_SECRET
 */
async function deleteLocked(
  tx: Transaction,
  target: WriteTarget,
  { records, pathOf }: { records: readonly SecretRecord[]; pathOf: (index: number) => string },
): Promise<SecretView[]> {
  const { project } = target;
  for (const record of records) authorize(project, 'secrets:delete', fieldsOf(record));
  refuseRotated(violationsOfRemoval(records, pathOf));
  const viewer = new SecretViewer(await openerFor(tx, project, records), new Visibility(project.ability), true);
  const views = await mapYielding(records, viewer.view);
  const ids = records.map(({ id }) => id);
  await deleteSecrets(tx, ids, target.place);
  await recordWrite(tx, target, { action: 'secret:delete', ids, shown: views });
  return views;
}

const keysOf = (secrets: readonly { readonly secretKey: string }[]): string[] =>
  secrets.map(({ secretKey }) => secretKey);

const first = <T>(items: readonly T[]): T => items[0] as T;

const tagsOf = (records: Iterable<SecretRecord>): [string, TagRow][] =>
  [...records].flatMap(({ tags }) => tags.map((tag): [string, TagRow] => [tag.id, tag]));

const newValueOf = (target: WriteTarget, value: string, index: number): NewValue => ({
  ...namedPlace(target),
  value: new SealedText(value),
  at: target.pathOf(index, 'secretValue'),
});

/** Also for missing ones that are skipped: whether the rights suffice must not depend on what exists. */
const newValuesOf = (
  target: WriteTarget,
  changes: readonly SecretChange[],
  { records, opener }: { records: ReadonlyMap<string, SecretRecord>; opener: Sealer },
): NewValue[] =>
  changes.flatMap(({ secretKey, secretValue }, index): NewValue[] => {
    const earlier = () => readableValue(opener, target.project, records.get(secretKey));
    return secretValue === undefined ? [] : [{ ...newValueOf(target, secretValue, index), earlier }];
  });
