import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { parseYielding } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { refuse } from '../core/write-checks.js';
import { inBatch, repeatedIds, type SecretChangeById, UpdateSecretsById } from './batch.rules.js';
import { type Held, planBatch } from './batch-plan.js';
import { authorizeEach, refuseWith } from './batch-violations.js';
import { type Outcome, previewBatch, writeBatch } from './batch-writes.js';
import { type Found, findSecrets, lockSecrets } from './held-secrets.js';

/** Updates secrets of any folders, environments and projects by ID. All or none. */
export class UpdateByIdService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Updates up to 500 shared secrets as `updateSecret` does, in one transaction, or previews the changes.
   *
   * @param raw `{ secrets, dryRun }`; the rules are `UpdateSecretsById`
   * @throws VALIDATION_FAILED, SECRET_NOT_FOUND, PERMISSION_DENIED, TAG_NOT_FOUND, USER_NOT_FOUND, ROTATED_SECRET,
   * SECRET_VERSION_DIFFERS, SECRET_KEY_TAKEN, SECRET_REFERENCED, REFERENCES_TOO_LONG, CONCURRENT_CHANGE,
   * SEALED_VALUE_INVALID, ANSWER_TOO_LARGE, AUDIT_UNAVAILABLE, with every violation
   */
  async update(ctx: Context, raw: unknown): Promise<Outcome> {
    const { secrets, dryRun } = await parseYielding(UpdateSecretsById, raw);
    const changes = secrets.map(({ id, ...change }) => ({ ...change, id: id.toLowerCase() }));
    refuse(repeatedIds(changes.map(({ id }) => id)));
    const plan = async (tx: Transaction) => planBatch(tx, await this.#hold(tx, changes), inBatch);
    if (!dryRun) return inTransaction(ctx, async (tx) => writeBatch(tx, await plan(tx), { action: 'secret:update' }));
    const { reads, ...outcome } = await inTransaction(ctx, async (tx) =>
      previewBatch(tx, await plan(tx), { action: 'secret:preview-update' }),
    );
    await ctx.auditTrail.recordRead(ctx, ...reads);
    return outcome;
  }

  /** The secrets of a batch, locked. @throws SECRET_NOT_FOUND, PERMISSION_DENIED, CONCURRENT_CHANGE, ANSWER_TOO_LARGE */
  async #hold(tx: Transaction, changes: readonly SecretChangeById[]): Promise<Held[]> {
    const ids = changes.map(({ id }) => id);
    const found = await findSecrets(tx, this.projects, ids);
    refuseUnknown(ids, found);
    // A caller who may change nothing in a project makes nobody wait.
    authorizeEach(
      [...ids.entries()],
      ([index]) => inBatch(index),
      ([, id]) => authorize((found.get(id) as Found).project, 'secrets:edit'),
    );
    const renamed = changes.filter(({ newSecretKey }) => newSecretKey !== undefined);
    const locked = await lockSecrets(tx, [...found.values()], new Set(renamed.map(({ id }) => id)));
    // They may have been changed, moved, hidden and deleted meanwhile.
    refuseUnknown(ids, locked);
    return changes.map(({ id, ...change }, index) => ({ ...(locked.get(id) as Found), index, change }));
  }
}

function refuseUnknown(ids: readonly string[], found: ReadonlyMap<string, Found>): void {
  const details = ids.flatMap((id, index): ErrorDetail[] =>
    found.has(id)
      ? []
      : [
          {
            path: inBatch(index, 'id'),
            code: 'SECRET_NOT_FOUND',
            message: 'does not exist, or you cannot see it',
          },
        ],
  );
  refuseWith('SECRET_NOT_FOUND', details);
}
