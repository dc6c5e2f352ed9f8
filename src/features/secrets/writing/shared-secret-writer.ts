import {
  RefusedTogether,
  type SharedRequest,
  SharedTransactions,
} from '../../../kernel/access-cache/shared-transactions.js';
import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { authorize } from '../../../kernel/authz/ability.js';
import { type Context, isTransaction, type RequestInfo, type Transaction } from '../../../kernel/context.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { atOnce, inTransaction, WholeTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { refuseViolations } from '../../../kernel/validation.js';
import type { SecretRecord } from '../core/find-secrets.js';
import { lockBatch } from '../core/locked-secrets.js';
import { NO_TIMES, newRow, nextRow, withStoredTimes, writtenRecord } from '../core/next-version.js';
import { refuseRotated, violationsOfChange, violationsOfRemoval } from '../core/rotated-guard.js';
import { lockStructure } from '../core/secret.queries.js';
import {
  keyAfterChange,
  type NewSecret,
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
  type WriteTargets,
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
import type { UpdateMode } from './secret-writing.rules.js';

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
export interface Change extends Update {
  readonly lock: (
    tx: Transaction,
    target: WriteTarget,
    changes: readonly SecretChange[],
  ) => Promise<ReadonlyMap<string, SecretRecord>>;
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

/** Writes shared secrets: their rows, what refers to them, and their audit records. */
export class SharedSecretWriter {
  readonly #writes = new SharedTransactions<SharedWrite<unknown>, SecretView>(MAX_TOGETHER);

  constructor(private readonly targets: WriteTargets) {}

  /** Creates secrets. @throws as `SecretService.create`, with every violation */
  async create(ctx: Context, at: Batch, secrets: readonly NewSecret[]): Promise<SecretView[]> {
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

  /** Changes secrets, and creates others by the mode. @throws as `SecretService.updateBatch` */
  async update(ctx: Context, at: Batch, update: Update): Promise<SecretView[]> {
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
    return this.targets.at(ctx, at, action, (target) => this.change(ctx, target, { ...update, lock }));
  }

  /**
   * Updates existing secrets, and creates others.
   *
   * @param update `lock`: the existing ones, locked, by `nameOf`
   */
  async change(ctx: Context, target: WriteTarget, update: Change): Promise<SecretView[]> {
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
      const readsValue = visibility.readsValue(record);
      const isShown = change.secretValue !== undefined || readsValue;
      return nextRow(sealer, opener, {
        record,
        change,
        readsValue,
        isShown,
        rename: renameIn?.(referenceLocation(home), isShown) ?? null,
      });
    });
    const made = await mapYielding(added, ({ home, secret }) =>
      newRow(sealer, home, { secret, rename: renameIn?.(referenceLocation(home), true) ?? null }),
    );
    const byName = new Map([...changed, ...made].map((row) => [nameOf(row), row]));
    const write = async () => {
      const keepsTags = changes.every(({ tagIds }) => tagIds === undefined);
      const updated = updateSecrets(tx, project, changed, { place: placeToCheck(target), keepsTags });
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

  /** Deletes secrets. @throws as `SecretService.delete` */
  async delete(ctx: Context, at: Batch, keys: readonly string[]): Promise<SecretView[]> {
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
export async function deleteLocked(
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

/** Keys by which a batch tells its secrets apart, before their folders are known. */
const namesIn = ({ secretPaths }: Batch, keys: readonly string[]): string[] =>
  keys.map((key, index) => (secretPaths === undefined ? key : `${secretPaths[index]} ${key}`));

export const keysOf = (secrets: readonly { readonly secretKey: string }[]): string[] =>
  secrets.map(({ secretKey }) => secretKey);

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
