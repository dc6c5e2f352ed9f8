import { PermissionDenied } from '../../../kernel/authz/ability.js';
import { type Context, isTransaction, type Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorCode, type ErrorDetail } from '../../../kernel/errors.js';
import { parse, parseYielding, refuseViolations } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import type { SecretRecord } from '../core/find-secrets.js';
import { holdSecret } from '../core/locked-secrets.js';
import { type PathOf, repeatedKeys, type SecretChange, type SecretKind } from '../core/secret.rules.js';
import type { SecretView } from '../core/secret.view.js';
import { type Batch, nameOf, type WriteTarget, WriteTargets } from '../core/write-target.js';
import type { SecretLocation } from '../scope/location.rules.js';
import { type PersonalSecretService, personalViolations } from './personal.service.js';
import {
  CreateSecret,
  CreateSecrets,
  DeleteSecret,
  DeleteSecretByKey,
  DeleteSecrets,
  MAX_PERSONAL,
  UpdateSecret,
  UpdateSecretByKey,
  UpdateSecrets,
} from './secret-writing.rules.js';
import { type Change, deleteLocked, keysOf, SharedSecretWriter } from './shared-secret-writer.js';

const alone: PathOf = (_index, field) => field;
const inBatch: PathOf = (index, field) => `secrets[${index}].${field}`;

/** Maximum number of retries of an upsert that found a secret to be missing which another caller then created. */
const UPSERT_ATTEMPTS = 3;

/** A write for another operation. */
interface Put extends Pick<Required<Change>, 'action' | 'facts'> {
  readonly secrets: readonly SecretChange[];
  /** Those of them that exist, locked: the others are created. */
  readonly records: Iterable<SecretRecord>;
}

/** Creates, updates and deletes secrets: one, or many with all or nothing. */
export class SecretService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly personal: PersonalSecretService,
    private readonly shared = new SharedSecretWriter(new WriteTargets(projects)),
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
    return first(await this.shared.create(ctx, { place, pathOf: alone }, [secret]));
  }

  /** Creates up to 1,000 secrets in folders of an environment, all or nothing. @throws as `create`, with every violation */
  async createBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets, ...place } = await parseYielding(CreateSecrets, raw);
    return this.#together(ctx, place, secrets, {
      shared: (tx, at, given) => this.shared.create(tx, at, given),
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
        return first(await this.shared.change(tx, target, { changes, mode: 'fail', lock: async () => held }));
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
    return first(await this.shared.update(ctx, { place, pathOf: alone }, { changes: [change], mode: 'fail' }));
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
          shared: (tx, at, given) => this.shared.update(tx, at, { changes: given, mode }),
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
    await this.shared.change(tx, target, {
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
    return first(await this.shared.delete(ctx, { place, pathOf: alone }, [secretKey]));
  }

  /** Deletes up to 1,000 secrets in folders of an environment, all or nothing. @throws as `delete`, with every violation */
  async deleteBatch(ctx: Context, raw: unknown): Promise<SecretView[]> {
    const { secrets, ...place } = parse(DeleteSecrets, raw);
    return this.#together(ctx, place, secrets, {
      shared: (tx, at, given) => this.shared.delete(tx, at, keysOf(given)),
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
}

/** A secret of a batch as its input has it. */
interface OfBatch {
  readonly secretKey: string;
  readonly secretPath?: string | undefined;
  readonly type: SecretKind;
}
/** The same without where it is. */
type Contents<T extends OfBatch> = Omit<T, 'secretPath' | 'type'>;

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

const first = <T>(items: readonly T[]): T => items[0] as T;
