import {
  RefusedTogether,
  type SharedRequest,
  SharedTransactions,
} from '../../../kernel/access-cache/shared-transactions.js';
import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { authorize, PermissionDenied } from '../../../kernel/authz/ability.js';
import { type Context, isTransaction, type RequestInfo, type Transaction } from '../../../kernel/context.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { atOnce, inTransaction, WholeTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorCode, type ErrorDetail } from '../../../kernel/errors.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { parse, parseYielding, refuseViolations } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import type { SecretRecord } from '../core/find-secrets.js';
import { holdSecret, lockBatch } from '../core/locked-secrets.js';
import { NO_TIMES, newRow, nextRow, withStoredTimes, writtenRecord } from '../core/next-version.js';
import { refuseRotated, violationsOfChange, violationsOfRemoval } from '../core/rotated-guard.js';
import { lockStructure } from '../core/secret.queries.js';
import {
  keyAfterChange,
  type NewSecret,
  type PathOf,
  plainMetadata,
  repeatedKeys,
  type SecretChange,
  type SecretKind,
  toNew,
} from '../core/secret.rules.js';
import { type SecretView, SecretViewer, writtenView } from '../core/secret.view.js';
import { openerFor, sealerFor } from '../core/secret-sealing.js';
import { deleteSecrets, insertSecrets, type SecretRow, updateSecrets, type Written } from '../core/secret-writes.js';
import {
  authorizeChanges,
  authorizeNew,
  loadTagsAndCheckRecipients,
  refuseMissing,
  refuseTakenKeys,
  refuseTakenNames,
  tagsByIds,
} from '../core/write-checks.js';
import {
  type Batch,
  type ExistingFolder,
  folderAt,
  foldersOfBatch,
  lockFolderOfSeveral,
  lockTargetFolders,
  nameOf,
  referenceLocation,
  renamesOf,
  type WriteFacts,
  type WriteTarget,
  WriteTargets,
  writeEvent,
} from '../core/write-target.js';
import {
  authorizeReferences,
  type NewValue,
  readableValue,
  renamer,
  rewriteReferencesTo,
} from '../references/reference-writes.js';
import type { SecretLocation } from '../scope/location.rules.js';
import { fieldsOf, Visibility } from '../scope/visibility.rules.js';
import type { TagRow } from '../tags/public.js';
import { type PersonalSecretService, personalViolations } from './personal.service.js';
import {
  CreateSecret,
  CreateSecrets,
  DeleteSecret,
  DeleteSecretByKey,
  DeleteSecrets,
  MAX_PERSONAL,
  type UpdateMode,
  UpdateSecret,
  UpdateSecretByKey,
  UpdateSecrets,
} from './secret-writing.rules.js';

const alone: PathOf = (_index, field) => field;
const inBatch: PathOf = (index, field) => `secrets[${index}].${field}`;

/** Maximum number of retries of an upsert that found a secret to be missing which another caller then created. */
const UPSERT_ATTEMPTS = 3;

/** Changes of a batch, and what to do with missing secrets. */
interface Update {
  readonly changes: readonly SecretChange[];
  readonly mode: UpdateMode;
  readonly action?: string;
  readonly facts?: WriteFacts;
  /** False: the response has no values. */
  readonly isShown?: boolean;
}

/** An update, and what locks those that exist: they are returned by `nameOf`. */
interface Change extends Update {
  readonly lock: (
    tx: Transaction,
    target: WriteTarget,
    changes: readonly SecretChange[],
  ) => Promise<ReadonlyMap<string, SecretRecord>>;
}

/** A write for another operation. */
interface Put extends Pick<Required<Update>, 'action' | 'facts'> {
  readonly secrets: readonly SecretChange[];
  /** Those of them that exist, locked: the others are created. */
  readonly records: Iterable<SecretRecord>;
}

/** A request that writes one secret. */
interface SharedWrite<Own> extends SharedRequest {
  readonly own: Own;
}

/** Secrets of requests that share a transaction: few enough that none waits long for the others. */
const MAX_TOGETHER = 10;

/** What is on its way: what was written, as the caller may see it. */
interface Ending {
  readonly ending: Promise<SecretView[]>;
}

/** Of several requests one may be refused for what it brings. @throws RefusedTogether */
function eachByItself(error: unknown): never {
  throw error instanceof AppError && error.status < 500 ? new RefusedTogether('refused', { cause: error }) : error;
}

/** Creates, updates and deletes secrets: one, or many with all or nothing. */
export class SecretService {
  readonly #writes = new SharedTransactions<SharedWrite<unknown>, SecretView>(MAX_TOGETHER);

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

  /** Creates up to 1,000 secrets in folders of an environment, all or nothing. @throws as `create`, with every violation */
  async createBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets, ...place } = await parseYielding(CreateSecrets, raw);
    return this.#together(ctx, place, secrets, {
      shared: (tx, at, given) => this.#create(tx, at, given),
      personal: (tx, at, secret) => this.personal.create(tx, at, secret),
    });
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
        const held = new Map([[nameOf(record), record]]);
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
   * Updates up to 1,000 secrets in folders of an environment, all or nothing. A missing one fails the batch, is created, or
   * is skipped, by `mode`.
   *
   * @throws as `update` and, with `upsert`, as `create`, with every violation
   */
  async updateBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets: changes, mode, ...place } = await parseYielding(UpdateSecrets, raw);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#together(ctx, place, changes, {
          shared: (tx, at, given) => this.#update(tx, at, { changes: given, mode }),
          personal: (tx, at, change) => this.personal.change(tx, at, change, mode),
        });
      } catch (error) {
        const isRace = mode === 'upsert' && error instanceof AppError && error.code === 'SECRET_KEY_TAKEN';
        if (!isRace || attempt === UPSERT_ATTEMPTS || isTransaction(ctx)) throw error;
      }
    }
  }

  /**
   * Writes secrets for another verb, which has locked their folder and those that exist, and names the audit record.
   *
   * @param write `secrets` with checked keys and values
   * @throws as `updateBatch` with `upsert`, but for faults of the input
   */
  async put(tx: Transaction, target: WriteTarget, { secrets, records, ...write }: Put): Promise<void> {
    const held = new Map([...records].map((record) => [nameOf(record), record]));
    await this.#change(tx, target, {
      changes: secrets,
      mode: 'upsert',
      ...write,
      isShown: false,
      lock: async () => held,
    });
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

  /** Deletes up to 1,000 secrets in folders of an environment, all or nothing. @throws as `delete`, with every violation */
  async deleteBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets, ...place } = parse(DeleteSecrets, raw);
    return this.#together(ctx, place, secrets, {
      shared: (tx, at, given) => this.#delete(tx, at, keysOf(given)),
      personal: (tx, at, { secretKey }) => this.personal.delete(tx, at, secretKey),
      isPersonalFirst: true,
    });
  }

  /**
   * Writes a batch in one transaction: its shared secrets together, then the personal ones, which may be of new shared ones. Those that
   * go with their shared ones come first.
   *
   * @returns what was written, in the order of the batch
   */
  async #together<T extends OfBatch>(
    ctx: Context,
    place: SecretLocation,
    secrets: readonly T[],
    write: {
      readonly shared: (ctx: Context, at: Batch, secrets: readonly Contents<T>[]) => Promise<SecretView[]>;
      readonly personal: (ctx: Context, at: SecretLocation, secret: Contents<T>) => Promise<SecretView | null>;
      readonly isPersonalFirst?: boolean;
    },
  ): Promise<SecretView[]> {
    const items = secrets.map(({ secretPath = place.secretPath, type, ...secret }, index) => ({
      index,
      at: { ...place, secretPath },
      type,
      secret: secret as Contents<T>,
    }));
    const ofType = (wanted: SecretKind) => items.filter(({ type }) => type === wanted);
    const [shared, personal] = [ofType('shared'), ofType('personal')];
    const secretPaths = shared.map(({ at }) => at.secretPath);
    const [secretPath = place.secretPath, ...others] = new Set(secretPaths);
    const batch: Batch = {
      place: { ...place, secretPath },
      pathOf: (at, field) => inBatch((shared[at] as (typeof shared)[number]).index, field),
      secretPaths: others.length === 0 ? undefined : secretPaths,
    };
    const contents = shared.map(({ secret }) => secret);
    if (personal.length === 0 && others.length === 0) return write.shared(ctx, batch, contents);
    refuseViolations(refusedPersonal(ctx, personal));
    return inTransaction(ctx, async (tx) => {
      const own = new Map<number, SecretView | null>();
      const writePersonal = async (): Promise<void> => {
        for (const { index, at, secret } of personal)
          own.set(index, await ofItem(index, () => write.personal(tx, at, secret)));
      };
      if (write.isPersonalFirst === true) await writePersonal();
      const views = shared.length === 0 ? [] : await write.shared(tx, batch, contents);
      if (write.isPersonalFirst !== true) await writePersonal();
      const byName = new Map(views.map((view) => [`${view.secretPath} ${view.secretKey}`, view]));
      return items.flatMap(({ index, at, type, secret }) => {
        const { newSecretKey = secret.secretKey } = secret as Partial<SecretChange>;
        const view = type === 'personal' ? own.get(index) : byName.get(`${at.secretPath} ${newSecretKey}`);
        return view ?? [];
      });
    });
  }

  async #create(ctx: Context, at: Batch, secrets: readonly NewSecret[]): Promise<SecretView[]> {
    refuseViolations(repeatedKeys(namesIn(at, keysOf(secrets)), at.pathOf, 'secretKey'));
    return this.targets.at(ctx, at, 'secrets:create', (target) => this.#add(ctx, target, secrets));
  }

  async #add(ctx: Context, target: WriteTarget, secrets: readonly NewSecret[]): Promise<SecretView[]> {
    const { project } = target;
    const tags = await loadTagsAndCheckRecipients(ctx, target, secrets);
    const added = secrets.map((secret, index) => ({ home: folderAt(target, index), secret }));
    authorizeNew(project, added, tags);
    authorizeReferences(
      project,
      secrets.map((secret, index) => newValueOf(target, secret.secretValue, index)),
    );
    if (project.enforceEncryptedSecretMetadata) refuseViolations(plainMetadata(secrets, target.pathOf));
    const sealer = await sealerFor(ctx, project, secrets.length);
    const rows = await mapYielding(added, ({ home, secret }) => newRow(sealer, home, { secret, rename: null }));
    const create = { action: 'secret:create', rows, tags } as const;
    if (secrets.length === 1 && target.homes === undefined)
      return this.#alike(ctx, target, { action: create.action, own: create }, async (tx, target, all) => {
        const [together, requests] = [all.flatMap(({ own }) => own.rows), all.map((one) => one.ctx)];
        const write = () => insertSecrets(tx, project, together, placeToCheck(target));
        const known = new Map(all.flatMap(({ own }) => [...own.tags]));
        return this.#finish(tx, target, { ...create, rows: together, tags: known, write, requests });
      });
    return inTransaction(ctx, async (tx) => {
      await lockTargetFolders(tx, foldersOfBatch(target));
      await refuseTakenKeys(tx, target, keysOf(secrets));
      const write = () => insertSecrets(tx, project, rows, placeToCheck(target));
      return (await this.#finish(tx, target, { ...create, write })).ending;
    });
  }

  /**
   * Writes one secret. Requests with the same token that write one each in the same folder while such a write runs share the next
   * transaction: they would queue for the rows of the folder and of the project, each until the commit of the one before is on the disk.
   */
  async #alike<Own>(
    ctx: Context,
    target: WriteTarget,
    { action, own }: { readonly action: string; readonly own: Own },
    work: (tx: Transaction, target: WriteTarget, all: readonly SharedWrite<Own>[]) => Promise<Ending>,
  ): Promise<SecretView[]> {
    // Whichever of them it is: in its own request it is the first one.
    const alike = { ...target, pathOf: (_: number, field: string) => target.pathOf(0, field) };
    if (isTransaction(ctx))
      return inTransaction(ctx, async (tx) => (await work(tx, alike, [{ ctx, since: 0, own }])).ending);
    const { project, environmentId, folderId, place } = target;
    // Each has been allowed to by itself: what else is decided for all of them depends on these rules alone.
    const common = [
      action,
      ctx.actor.tokenId,
      project.projectId,
      project.rulesFingerprint,
      environmentId,
      folderId,
      place,
    ];
    const line = ctx.actor.tokenId === null || ctx.claim !== undefined ? null : JSON.stringify(common);
    const asked = { ctx, since: performance.now(), own };
    const shared = this.#writes as SharedTransactions<SharedWrite<Own>, SecretView>;
    const view = await shared.run(asked, line, async (tx, all) => {
      const given = async ({ ending }: Ending) => {
        const views = await ending;
        return new Map(all.map((one, at) => [one, views[at] as SecretView]));
      };
      if (all.length === 1) return new WholeTransaction(given(await work(tx, alike, all)));
      return new WholeTransaction(given(await work(tx, alike, all).catch(eachByItself)).catch(eachByItself));
    });
    return [view];
  }

  async #update(ctx: Context, at: Batch, update: Update): Promise<SecretView[]> {
    const { changes, mode } = update;
    refuseViolations(repeatedKeys(namesIn(at, keysOf(changes)), at.pathOf, 'secretKey'));
    refuseViolations(repeatedKeys(namesIn(at, changes.map(keyAfterChange)), at.pathOf, 'newSecretKey'));
    const lock = async (tx: Transaction, target: WriteTarget, changes: readonly SecretChange[]) => {
      const isRenaming = changes.some(({ newSecretKey }) => newSecretKey !== undefined);
      if (isRenaming) await lockStructure(tx, target.project);
      if (isRenaming || mode !== 'fail' || target.homes !== undefined)
        await lockTargetFolders(tx, foldersOfBatch(target));
      else await lockFolderOfSeveral(tx, target, changes);
      const wanted = changes.map(({ secretKey: key }, index) => ({ index, key }));
      return lockBatch(tx, target, wanted);
    };
    const action = mode === 'upsert' ? 'secrets:create' : 'secrets:edit';
    return this.targets.at(ctx, at, action, (target) => this.#change(ctx, target, { ...update, lock }));
  }

  /**
   * Updates existing secrets, and creates others.
   *
   * @param update `lock`: the existing ones, locked, by `nameOf`
   */
  async #change(ctx: Context, target: WriteTarget, update: Change): Promise<SecretView[]> {
    const { changes, mode, action = 'secret:update' } = update;
    const { project, pathOf, homes } = target;
    const tags = await loadTagsAndCheckRecipients(ctx, target, changes);
    if (project.enforceEncryptedSecretMetadata) refuseViolations(plainMetadata(changes, pathOf));
    const [change, ...others] = changes;
    if (
      change === undefined ||
      others.length > 0 ||
      mode !== 'fail' ||
      homes !== undefined ||
      change.newSecretKey !== undefined
    )
      return inTransaction(ctx, async (tx) => {
        const { ending, isWhole } = await this.#changeIn(tx, target, { ...update, tags });
        return isWhole ? new WholeTransaction(ending) : ending;
      });
    return this.#alike(ctx, target, { action, own: { change, tags } }, async (tx, target, all) => {
      const together = all.map(({ own }) => own.change);
      // The later of two changes of one secret is made to what the earlier one leaves.
      if (new Set(keysOf(together)).size < together.length) throw new RefusedTogether('one secret is changed twice');
      const known = new Map(all.flatMap(({ own }) => [...own.tags]));
      const requests = all.map((one) => one.ctx);
      return this.#changeIn(tx, target, { ...update, changes: together, tags: known, requests });
    });
  }

  async #changeIn(
    tx: Transaction,
    target: WriteTarget,
    update: Change & { readonly tags: ReadonlyMap<string, TagRow>; readonly requests?: readonly RequestInfo[] },
  ): Promise<Ending & { readonly isWhole: boolean }> {
    const { changes, mode, action = 'secret:update', facts, isShown = true, lock, tags, requests } = update;
    const { project, pathOf } = target;
    const records = await lock(tx, target, changes);
    const items = changes.map((change, index) => {
      const home = folderAt(target, index);
      return { home, change, record: records.get(nameOf({ ...home, key: change.secretKey })), index };
    });
    const isMissing = items.map(({ record }) => record === undefined);
    const missing = items.filter(({ record }) => record === undefined);
    // A missing secret cannot be created with a new key.
    if (mode === 'fail' || missing.some(({ change }) => change.newSecretKey !== undefined))
      refuseMissing(isMissing, pathOf);
    const present = items.flatMap(({ record, ...item }) => (record === undefined ? [] : [{ ...item, record }]));
    authorizeChanges(project, present, tags);
    refuseRotated(
      present.flatMap(({ record, change, index }) =>
        violationsOfChange(record, change, (field) => pathOf(index, field)),
      ),
    );
    const added = mode === 'upsert' ? missing.map(({ home, change }) => ({ home, secret: toNew(change) })) : [];
    authorizeNew(project, added, tags);
    await refuseTakenNames(tx, target, { changes, isFreed: (name) => records.has(name) });
    const sealer = await sealerFor(tx, project, present.length + added.length);
    const opener = await openerFor(tx, project, [...records.values()]);
    authorizeReferences(project, newValuesOf(target, items, opener));
    const renamings = renamesOf(present);
    const visibility = new Visibility(project.ability);
    const renameIn = renamings.length === 0 ? null : renamer(renamings);
    const changed = await mapYielding(present, ({ home, record, change }) => {
      const isShown = change.secretValue !== undefined || visibility.readsValue(record);
      return nextRow(sealer, opener, {
        record,
        change,
        isShown,
        rename: renameIn?.(referenceLocation(home), isShown) ?? null,
      });
    });
    const made = await mapYielding(added, ({ home, secret }) =>
      newRow(sealer, home, { secret, rename: renameIn?.(referenceLocation(home), true) ?? null }),
    );
    const byName = new Map([...changed, ...made].map((row) => [nameOf(row), row]));
    const write = async () => {
      const updated = updateSecrets(tx, project, changed, { place: placeToCheck(target) });
      return (await atOnce(updated, insertSecrets(tx, project, made))).flat();
    };
    const early = renamings.length === 0 ? null : await write();
    const except = new Set([...byName.values()].map(({ id }) => id));
    await rewriteReferencesTo(tx, project, renamings, { except });
    const known = new Map([...tags, ...tagsOf(records.values())]);
    const rows = items.flatMap(
      ({ home, change }) => byName.get(nameOf({ ...home, key: keyAfterChange(change) })) ?? [],
    );
    const writeNow = early === null ? write : async () => early;
    const { ending } = await this.#finish(tx, target, {
      action,
      facts,
      isShown,
      rows,
      write: writeNow,
      tags: known,
      requests,
    });
    return { ending, isWhole: changes.length === 1 && early === null };
  }

  async #delete(ctx: Context, at: Batch, keys: readonly string[]): Promise<SecretView[]> {
    refuseViolations(repeatedKeys(namesIn(at, keys), at.pathOf, 'secretKey'));
    return this.targets.at(ctx, at, 'secrets:delete', (target) =>
      inTransaction(ctx, async (tx) => {
        if (target.homes !== undefined) await lockTargetFolders(tx, foldersOfBatch(target));
        else await lockFolderOfSeveral(tx, target, keys);
        const wanted = keys.map((key, index) => ({ index, key }));
        const found = await lockBatch(tx, target, wanted);
        const named = wanted.map(({ index, key }) => found.get(nameOf({ ...folderAt(target, index), key })));
        refuseMissing(
          named.map((record) => record === undefined),
          at.pathOf,
        );
        const records = named.filter((record) => record !== undefined);
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
      requests,
    }: {
      action: string;
      facts?: WriteFacts | undefined;
      isShown?: boolean;
      requests?: readonly RequestInfo[] | undefined;
      rows: readonly SecretRow[];
      write: () => Promise<readonly Written[]>;
      tags: ReadonlyMap<string, TagRow>;
    },
  ): Promise<Ending> {
    const { project } = target;
    const homes = new Map(foldersOfBatch(target).map((home) => [home.folderId, referenceLocation(home)]));
    const records = rows.map((row) =>
      writtenRecord(tx, row, NO_TIMES, {
        project,
        ...(homes.get(row.folderId) as ReturnType<typeof referenceLocation>),
        tags: tagsByIds(tags, row.tagIds),
      }),
    );
    const views = await mapYielding(records, writtenView(new Visibility(project.ability)));
    const ending = atOnce(write(), recordBatch(tx, target, { action, facts, views, isShown, requests }));
    return { ending: ending.then(([written]) => withStoredTimes(views, written)) };
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
  await deleteSecrets(tx, ids, placeToCheck(target));
  await recordBatch(tx, target, { action: 'secret:delete', views, isShown: true });
  return views;
}

/** The place that a statement has to find unchanged: several ones are held before. */
const placeToCheck = ({ homes, place }: WriteTarget): SecretLocation | undefined =>
  homes === undefined ? place : undefined;

/** The audit records of a batch: one for each folder, or for each of the requests that wrote a secret each. */
const recordBatch = (
  tx: Transaction,
  target: WriteTarget,
  {
    action,
    facts,
    views,
    isShown,
    requests,
  }: {
    action: string;
    facts?: WriteFacts | undefined;
    views: readonly SecretView[];
    isShown: boolean;
    requests?: readonly RequestInfo[] | undefined;
  },
): Promise<void> => {
  const event = (home: ExistingFolder, of: readonly SecretView[]): AuditEvent =>
    writeEvent(
      { ...home, project: target.project },
      { action, ids: of.map(({ id }) => id), facts, shown: isShown ? of : [] },
    );
  if (requests !== undefined)
    return tx.auditTrail.recordChange(
      tx,
      ...views.map((view, at) => ({ ...event(target, [view]), request: requests[at] })),
    );
  const written = Map.groupBy(views, ({ folderId }) => folderId);
  const events = foldersOfBatch(target).flatMap((home): AuditEvent[] => {
    const of = written.get(home.folderId) ?? [];
    // A batch of one folder is recorded also if it changed nothing.
    if (of.length === 0 && target.homes !== undefined) return [];
    return [event(home, of)];
  });
  return tx.auditTrail.recordChange(tx, ...events);
};

/** A secret of a batch as its input has it. */
interface OfBatch {
  readonly secretKey: string;
  readonly secretPath?: string | undefined;
  readonly type: SecretKind;
}
/** The same without where it is. */
type Contents<T extends OfBatch> = Omit<T, 'secretPath' | 'type'>;

/** Keys by which a batch tells its secrets apart, before their folders are known. */
const namesIn = ({ secretPaths }: Batch, keys: readonly string[]): string[] =>
  keys.map((key, index) => (secretPaths === undefined ? key : `${secretPaths[index]} ${key}`));

/** What is wrong with personal secrets of a batch by themselves. */
function refusedPersonal(
  ctx: Context,
  personal: readonly {
    readonly index: number;
    readonly at: SecretLocation;
    readonly secret: { readonly secretKey: string };
  }[],
): ErrorDetail[] {
  const pathOf: PathOf = (at, field) => inBatch((personal[at] as (typeof personal)[number]).index, field);
  const names = personal.map(({ at, secret }) => `${at.secretPath} ${secret.secretKey}`);
  const extra = personal.slice(MAX_PERSONAL).length;
  return [
    ...(extra === 0
      ? []
      : [
          { path: 'secrets', code: 'TOO_MANY', message: `must have at most ${MAX_PERSONAL} personal secrets` } as const,
        ]),
    ...personal.flatMap(({ secret }, at) =>
      personalViolations(ctx, secret).map(({ path, ...rest }) => ({ path: pathOf(at, path), ...rest })),
    ),
    ...repeatedKeys(names, pathOf, 'secretKey'),
  ];
}

/** What errors of one personal secret say in a batch. */
const OF_PERSONAL: Partial<Record<ErrorCode, readonly [field: string, message: string]>> = {
  SECRET_NOT_FOUND: ['secretKey', 'is not a secret of the folder, or has no personal value'],
  SECRET_KEY_TAKEN: ['secretKey', 'already has a personal value'],
  FOLDER_NOT_FOUND: ['secretPath', 'is not a folder of the environment'],
};

/** Writes one secret of a batch, which its errors name. */
async function ofItem<T>(index: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error instanceof PermissionDenied) throw error;
    const { code, message } = error;
    const [field = '', said = ''] = OF_PERSONAL[code] ?? [];
    const details = error.details ?? (field === '' ? [] : [{ path: field, code, message: said }]);
    if (details.length === 0) throw error;
    throw new AppError(code, message, { details: details.map((it) => ({ ...it, path: inBatch(index, it.path) })) });
  }
}

const keysOf = (secrets: readonly { readonly secretKey: string }[]): string[] =>
  secrets.map(({ secretKey }) => secretKey);

const first = <T>(items: readonly T[]): T => items[0] as T;

const tagsOf = (records: Iterable<SecretRecord>): [string, TagRow][] =>
  [...records].flatMap(({ tags }) => tags.map((tag): [string, TagRow] => [tag.id, tag]));

const newValueOf = (target: WriteTarget, value: string, index: number): NewValue => ({
  ...referenceLocation(folderAt(target, index)),
  value: new SealedText(value),
  at: target.pathOf(index, 'secretValue'),
});

/** Also for missing ones that are skipped: whether the rights suffice must not depend on what exists. */
const newValuesOf = (
  target: WriteTarget,
  items: readonly { readonly change: SecretChange; readonly record: SecretRecord | undefined }[],
  opener: Sealer,
): NewValue[] =>
  items.flatMap(({ change: { secretValue }, record }, index): NewValue[] => {
    const earlier = () => readableValue(opener, target.project, record);
    return secretValue === undefined ? [] : [{ ...newValueOf(target, secretValue, index), earlier }];
  });
