import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Query } from '../database/database.js';
import { AppError } from '../errors.js';
import { insertDefaultKey, listProjectKeys, succeedKey } from './data-key.sql.js';
import type { DisabledKeys } from './disabled-keys.js';
import {
  insertKey,
  type KeyScope,
  loadKeys,
  type NewKey,
  parentScopeOf,
  reserveSeals,
  type StoredKey,
  storeDestroyed,
} from './key-store.js';
import { OpenedValues } from './opened-values.js';
import type { InstallationKeys } from './root-keys.js';
import { type KeyVersion, ScopeKeys } from './scope-keys.js';
import { type DataKey, sealBytes } from './seal.js';
import { Sealer } from './sealer.js';
import { SigningKey } from './stable-keys.js';
import { destroyedKey, makeKey, rewrapKeys, unwrapKey } from './wrapping.js';

const BLOCK = 1_000;
const BLOCK_SECONDS = 3_600;
const MAX_SCOPES = 1_000;
const PATIENCE_MS = 250;

const nameOf = ({ organizationId, projectId, organizationKeyId }: KeyScope): string =>
  `${organizationId}/${projectId ?? ''}/${organizationKeyId ?? ''}`.toLowerCase();

interface KeyringSettings {
  readonly maxScopes?: number;
  /** How long a caller waits for the block of seals that all share, before it takes its own few. */
  readonly patienceMs?: number;
  /** How many values stay open for a short while. */
  readonly openedValuesBytes?: number;
}

/**
 * The data keys of this node: root key, then organization key, then project key, then value. Keys are opened once and kept
 * for the scopes used last.
 */
export class Keyring {
  /** Those that leave it are not cleared: requests that are under way still seal with these keys. */
  readonly #scopes: LRUCache<string, ScopeKeys>;
  readonly #refills = new Map<string, Promise<boolean>>();
  readonly #opened: OpenedValues;
  readonly #patienceMs: number;
  #unreadable = 0;

  /**
   * @param keys open organization keys
   * @param autocommit a statement outside of any transaction: a count of seals, and a key that others seal with already,
   *   must survive the rollback of the request that asked for them
   * @param disabled which keys are
   */
  constructor(
    private readonly keys: InstallationKeys,
    private readonly autocommit: Query,
    private readonly disabled: DisabledKeys,
    { maxScopes = MAX_SCOPES, patienceMs = PATIENCE_MS, openedValuesBytes = 0 }: KeyringSettings = {},
  ) {
    this.#scopes = new LRUCache({ max: maxScopes });
    this.#patienceMs = patienceMs;
    this.#opened = new OpenedValues(openedValuesBytes);
  }

  /** As `InstallationKeys.cursorKey`: the same on each node and after each start, without a statement. */
  cursorKey(organizationId: string, kind: string): DataKey {
    return this.keys.cursorKey(organizationId, kind);
  }

  /** Signs what others verify without the service: the same key on each node and after each start. @param label another key for each */
  signingKey(label: string): SigningKey {
    return new SigningKey(this.keys.macKey(label));
  }

  /** Makes the default key of an organization. @returns its id */
  async createOrganizationKey(query: Query, organizationId: string): Promise<string> {
    const id = await this.#createUnderRoot(query, { organizationId, projectId: null });
    await insertDefaultKey(query, { organizationId, id });
    return id;
  }

  /** Makes the first version of a further key of an organization, which has the id of the key. */
  async createFurtherKey(query: Query, organizationId: string, organizationKeyId: string): Promise<void> {
    await this.#createUnderRoot(query, { organizationId, projectId: null, organizationKeyId }, organizationKeyId);
  }

  async #createUnderRoot(query: Query, scope: KeyScope, id?: string): Promise<string> {
    for (const key of this.#keysUnderRoot(scope, id)) if (await insertKey(query, scope, key)) return key.id;
    throw new AppError('SEALED_VALUE_INVALID');
  }

  /**
   * Makes the first key of a project.
   *
   * @param ids `parentKeyId`: the organization's key to wrap it with, by its current version
   * @returns its id
   * @throws KEY_NOT_FOUND when the parent is no key of the organization, SEALED_VALUE_INVALID when it does not open
   */
  async createProjectKey(
    query: Query,
    { organizationId, projectId, parentKeyId }: { organizationId: string; projectId: string; parentKeyId: string },
  ): Promise<string> {
    const parent = await this.#claim(query, await this.#versionsOf(query, organizationId, parentKeyId), 1);
    const scope = { organizationId, projectId };
    const { id, wrappedKeySealed } = makeKey(scope, (key, place) => sealBytes(parent, place, key));
    await insertKey(query, scope, { id, parentKeyId: parent.id, wrappedKeySealed, checkValue: null });
    return id;
  }

  /**
   * Makes a new version of an organization's key, and wraps the keys of all its projects with it, retired ones too. Values stay as
   * they are.
   *
   * @param query in a transaction in which nobody else makes a key for a project with it
   * @returns the number of keys that were wrapped anew
   */
  async rotateOrganizationKey(query: Query, scope: KeyScope): Promise<number> {
    const [current] = (await loadKeys(query, scope)).filter(({ isRetired }) => !isRetired);
    if (current === undefined) throw new AppError('SEALED_VALUE_INVALID');
    for (const next of this.#keysUnderRoot(scope)) await succeedKey(query, { ...next, retiredKeyId: current.id });
    const keys = new ScopeKeys(scope);
    await this.#reload(query, keys);
    // Other nodes learn of it when they ask for their next seals; what they wrap until then opens all the same.
    return rewrapKeys(query, { rootKeys: this.keys, scope, parent: keys.current() });
  }

  /**
   * Wraps the keys of a project, retired ones too, with the current version of another key of its organization.
   *
   * @param query in a transaction in which nobody else changes them
   * @returns the number of keys that were wrapped anew
   */
  async moveProject(
    query: Query,
    { organizationId, projectId, toKeyId }: { organizationId: string; projectId: string; toKeyId: string },
  ): Promise<number> {
    const parent = (await this.#versionsOf(query, organizationId, toKeyId)).current();
    return rewrapKeys(query, { rootKeys: this.keys, scope: { organizationId, projectId }, parent });
  }

  /**
   * Makes a new version of the key of a project, which seals from now on; other versions still open what they sealed. Every node
   * seals with it once it has seen that (`untilSeen`).
   *
   * @param query in a transaction in which nobody else changes the organization key that wraps it
   */
  async renewProjectKey(query: Query, scope: KeyScope): Promise<void> {
    const [current] = (await loadKeys(query, scope)).filter(({ isRetired }) => !isRetired);
    if (current === undefined) throw new AppError('SEALED_VALUE_INVALID');
    for (const next of await this.#successors(query, scope))
      await succeedKey(query, { ...next, retiredKeyId: current.id });
  }

  /**
   * Destroys the retired keys of a project: what they sealed never opens again. Keys of digests are derived from the first key of a
   * project and are left of it.
   *
   * @param query in a transaction in which nobody else changes the keys
   * @param ids of those that seal nothing any more; others stay
   * @returns the number of keys
   */
  async destroyRetiredKeys(query: Query, scope: KeyScope, ids: ReadonlySet<string>): Promise<number> {
    const rows = (await loadKeys(query, scope)).filter(
      ({ id, isRetired, isDestroyed }) => isRetired && !isDestroyed && ids.has(id),
    );
    if (rows.length === 0) return 0;
    const parent = await this.#claim(query, await this.#load(query, await parentScopeOf(query, scope)), rows.length);
    const parts = { rootKeys: this.keys, scope, parent };
    await storeDestroyed(
      query,
      parent.id,
      rows.map((row) => destroyedKey(row, parts)),
    );
    return rows.length;
  }

  /** Waits until every node has seen that a key was disabled, enabled or renewed. */
  untilSeen(): Promise<void> {
    return this.disabled.untilSeen();
  }

  /** The versions of a key of an organization, by its id. @throws KEY_NOT_FOUND */
  async #versionsOf(query: Query, organizationId: string, keyId: string): Promise<ScopeKeys> {
    const organization = { organizationId, projectId: null };
    await this.ensureKeys(query, organization, [keyId]);
    const ofDefault = await this.#load(query, organization);
    if (ofDefault.find(keyId) !== undefined) return ofDefault;
    const versions = await this.#load(query, { ...organization, organizationKeyId: keyId });
    if (versions.find(keyId) === undefined) throw new AppError('KEY_NOT_FOUND');
    return versions;
  }

  /**
   * What seals and opens the values of a scope. One statement when the scope is not at hand, none otherwise.
   *
   * @param query in the transaction of the caller, where there is one
   * @throws KEY_DISABLED
   */
  async sealer(query: Query, scope: KeyScope): Promise<Sealer> {
    if (await this.#isDisabled(query, scope.projectId)) throw new AppError('KEY_DISABLED');
    const keys = await this.#load(query, scope);
    return this.#sealerOf(query, keys);
  }

  /**
   * Asks the database once more when one of the keys is not at hand: another node may have made it. For lists, before
   * their records are opened; sealers made earlier see the result.
   *
   * @param keyIds as `keyIdOf` read them from the records
   */
  async ensureKeys(query: Query, scope: KeyScope, keyIds: Iterable<string | null>): Promise<void> {
    const keys = await this.#load(query, scope);
    for (const id of keyIds) {
      if (id !== null && keys.find(id) === undefined) return this.#reload(query, keys);
    }
  }

  /**
   * What seals and opens the values of many projects of one organization: one statement at most, however many they are, and one more
   * for the organization itself.
   *
   * @param keyIds by project, null for the organization itself, as `keyIdOf` read them from the records that are to be opened
   * @returns by project; one whose key is disabled throws KEY_DISABLED when it is used
   */
  async sealers<P extends string | null>(
    query: Query,
    organizationId: string,
    keyIds: ReadonlyMap<P, Iterable<string | null>>,
  ): Promise<ReadonlyMap<P, Sealer>> {
    const disabled = new Set<P>();
    for (const id of keyIds.keys()) if (await this.#isDisabled(query, id)) disabled.add(id);
    const wanted = [...keyIds].map(([projectId, ids]) => {
      const cached = this.#scopes.get(nameOf({ organizationId, projectId }));
      const keys = cached ?? new ScopeKeys({ organizationId, projectId });
      const isCurrent = cached !== undefined && !keys.isBehind(this.disabled.renewed);
      const isAtHand = isCurrent && [...ids].every((id) => id === null || keys.find(id));
      return { projectId, keys, isAtHand };
    });
    const missing = wanted.filter(({ isAtHand }) => !isAtHand).map(({ projectId }) => projectId);
    const loaded = await loadKeysOf(query, organizationId, missing);
    return new Map(
      wanted.map(({ projectId, keys: own, isAtHand }) => {
        const keys = this.#keep(own);
        if (!isAtHand) keys.absorb(loaded.get(projectId) ?? [], (row) => unwrapKey(this.keys, row, keys.scope));
        return [projectId, this.#sealerOf(query, keys, disabled.has(projectId))];
      }),
    );
  }

  /** True when the key of the project is disabled. @param projectId null: the organization, whose own key always works */
  async #isDisabled(query: Query, projectId: string | null): Promise<boolean> {
    return projectId !== null && this.disabled.has(query, projectId);
  }

  /** For what was made of values before. @throws KEY_DISABLED when the key of the project is disabled */
  async refuseDisabled(query: Query, projectId: string): Promise<void> {
    if (await this.disabled.has(query, projectId)) throw new AppError('KEY_DISABLED');
  }

  /** How often a value did not open on this node. */
  get unreadable(): number {
    return this.#unreadable;
  }

  /** Drops the values that are open. */
  close(): void {
    this.#opened.close();
  }

  #sealerOf(query: Query, keys: ScopeKeys, isDisabled = false): Sealer {
    return new Sealer(
      keys,
      this.#opened,
      (seals) => this.#claim(query, keys, seals),
      () => {
        this.#unreadable += 1;
      },
      isDisabled,
    );
  }

  async #load(query: Query, scope: KeyScope): Promise<ScopeKeys> {
    const cached = this.#scopes.get(nameOf(scope));
    const keys = cached ?? new ScopeKeys(scope);
    if (cached === undefined || keys.isBehind(this.disabled.renewed)) await this.#reload(query, keys);
    return this.#keep(keys);
  }

  /** Keeps keys as the ones used last. While they were loaded another may have put its own in; all must share one count of seals. */
  #keep(keys: ScopeKeys): ScopeKeys {
    const name = nameOf(keys.scope);
    const shared = this.#scopes.get(name) ?? keys;
    this.#scopes.set(name, shared);
    return shared;
  }

  async #reload(query: Query, keys: ScopeKeys): Promise<void> {
    keys.absorb(await loadKeys(query, keys.scope), (row) => unwrapKey(this.keys, row, keys.scope));
  }

  /** Takes seals out of this node's block, and gets the next block, or the next key version, when it is used up. */
  async #claim(query: Query, keys: ScopeKeys, seals: number): Promise<DataKey> {
    for (;;) {
      const key = keys.current();
      if (keys.take(key.id, seals)) return key;
      const refill = this.#refill(keys, key, seals);
      // The caller may hold the last connection of the pool, and the refill wait for it: the caller's own helps then.
      const isVisible = await Promise.race([refill, delay(this.#patienceMs, null, { ref: false })]);
      if (isVisible === true) continue;
      // A key of the caller's own transaction is not seen outside of it. These seals are the caller's alone: they go
      // with its rollback, like what was sealed.
      if ((await reserveSeals(query, key.id, seals)) !== null) return key;
      if (!(await refill)) throw new AppError('SEALED_VALUE_INVALID');
    }
  }

  /** One at a time for each key. @returns false when the database does not show the key outside of a transaction */
  #refill(keys: ScopeKeys, key: KeyVersion, seals: number): Promise<boolean> {
    const running = this.#refills.get(key.id);
    if (running !== undefined) return running;
    const refill = this.#reserveBlock(keys, key, seals).finally(() => this.#refills.delete(key.id));
    // Its caller may have stopped waiting; those who wait get the error all the same.
    refill.catch(() => undefined);
    this.#refills.set(key.id, refill);
    return refill;
  }

  async #reserveBlock(keys: ScopeKeys, key: KeyVersion, seals: number): Promise<boolean> {
    const block = Math.ceil(seals / BLOCK) * BLOCK;
    const secondsLeft = await reserveSeals(this.autocommit, key.id, block);
    if (secondsLeft !== null) {
      // Asked again within the hour, so that a version retired elsewhere does not seal for long.
      keys.grant(key.id, block, performance.now() + Math.min(secondsLeft, BLOCK_SECONDS) * 1_000);
      return true;
    }
    const rows = await loadKeys(this.autocommit, keys.scope);
    const stored = rows.find(({ id }) => id === key.id);
    if (stored === undefined) return false;
    if (!stored.isRetired) {
      for (const next of await this.#successors(this.autocommit, keys.scope))
        await succeedKey(this.autocommit, { ...next, retiredKeyId: key.id });
    }
    await this.#reload(this.autocommit, keys);
    return true;
  }

  /** Of those that the root key wraps, one for each root key of this node: the database takes that of its own root key. */
  #keysUnderRoot(scope: KeyScope, id?: string): NewKey[] {
    return this.keys.all.map((rootKey) => ({
      ...makeKey(scope, (key, place) => rootKey.wrap(key, place), id),
      parentKeyId: null,
      checkValue: rootKey.checkValue(),
    }));
  }

  async #successors(query: Query, scope: KeyScope): Promise<NewKey[]> {
    if (scope.projectId === null) return this.#keysUnderRoot(scope);
    const organization = await this.#load(query, await parentScopeOf(query, scope));
    const parent = await this.#claim(query, organization, 1);
    const made = makeKey(scope, (key, place) => sealBytes(parent, place, key));
    return [{ ...made, parentKeyId: parent.id, checkValue: null }];
  }
}

/** Key versions by their project; null: those of the organization itself. */
async function loadKeysOf(
  query: Query,
  organizationId: string,
  projectIds: readonly (string | null)[],
): Promise<ReadonlyMap<string | null, readonly StoredKey[]>> {
  const ids = projectIds.filter((id) => id !== null);
  const rows = ids.length === 0 ? [] : await listProjectKeys(query, { organizationId, projectIds: ids });
  const loaded = new Map<string | null, readonly StoredKey[]>(Map.groupBy(rows, ({ projectId }) => projectId));
  if (ids.length < projectIds.length) loaded.set(null, await loadKeys(query, { organizationId, projectId: null }));
  return loaded;
}
