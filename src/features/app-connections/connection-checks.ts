import type { Context, Transaction } from '../../kernel/context.js';
import type { SealedText } from '../../kernel/crypto/sealed-text.js';
import { AppError } from '../../kernel/errors.js';
import type { TargetPolicy } from '../../kernel/outbound/http.js';
import type { ConnectionRow } from './connection.queries.js';
import { storeCheck } from './connection.sql.js';
import { openSecrets } from './connection-sealing.js';
import type { ConnectionUses } from './connection-uses.js';
import { isRefusal, TargetFailure } from './kind/target-failure.js';
import { type AnyKind, kindOf } from './kinds.js';

/** Checks in a row, after which a connection that is out of reach fails. */
const PATIENCE = 3;
/** How long the check of a request may take: less than a request. */
export const REQUEST_LIMIT_MS = 20_000;

/** Credentials of a kind as they are used. */
export interface Credentials {
  readonly publicPart: object;
  readonly secrets: Readonly<Record<string, SealedText>>;
}

/** What came of a check: null when the live system accepts the credentials. */
export type CheckResult = { readonly code: string; readonly isRefusal: boolean } | null;

/** Notifies of a connection that began to fail. @param projectIds null: the organization */
export type NotifyOfFailure = (
  tx: Transaction,
  failure: {
    readonly organizationId: string;
    readonly projectIds: readonly (string | null)[];
    readonly connectionId: string;
    readonly name: string;
    readonly app: string;
    readonly code: string;
    readonly since: Date;
  },
) => Promise<void>;

/** What checks need beside the connection. */
export interface CheckParts {
  readonly policy: TargetPolicy;
  readonly usesOf: ConnectionUses;
  readonly notifyOfFailure: NotifyOfFailure;
}

/** Asks the live system, as long as a request has time. @throws TargetFailure */
export async function checkInRequest(
  ctx: Context,
  kind: AnyKind,
  { publicPart, secrets }: Credentials,
  policy: TargetPolicy,
): Promise<void> {
  await inTime(kind.check(ctx, { ...publicPart, ...secrets }, policy));
}

/** What an outside system does as long as a request has time. @throws TargetFailure TARGET_TIMED_OUT */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const failure = new TargetFailure('TARGET_TIMED_OUT', 'unknown', undefined, null, true);
    timer = setTimeout(reject, REQUEST_LIMIT_MS, failure);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Checks a connection as it is stored. Secrets that cannot be decrypted are a refusal. @param within bounds the time of the call */
export async function checkStored(
  ctx: Context,
  row: ConnectionRow,
  policy: TargetPolicy,
  within: <T>(work: Promise<T>) => Promise<T> = (work) => work,
): Promise<CheckResult> {
  const kind = kindOf(row.app);
  try {
    const secrets = await openSecrets(ctx, kind, row);
    await within(kind.check(ctx, { ...row.publicPart, ...secrets }, policy));
    return null;
  } catch (error) {
    if (error instanceof TargetFailure) return { code: error.code, isRefusal: isRefusal(error) };
    if (error instanceof AppError && error.code === 'SEALED_VALUE_INVALID')
      return { code: error.code, isRefusal: true };
    throw error;
  }
}

/**
 * Stores what came of a check, and notifies whoever uses the connection when it begins to fail: once, until it works again.
 *
 * @returns whether the state changed, or the credentials were other ones by now
 */
export async function store(
  tx: Transaction,
  row: ConnectionRow,
  result: CheckResult,
  { usesOf, notifyOfFailure }: CheckParts,
): Promise<'same' | 'changed' | 'replaced'> {
  const { id, organizationId, credentialsVersion } = row;
  const code = result?.code ?? null;
  const asked = { id, organizationId, credentialsVersion, code, isRefusal: result?.isRefusal ?? false };
  const [stored] = await storeCheck(tx, { ...asked, patience: PATIENCE });
  if (stored === undefined) return 'replaced';
  const { stateBefore, state, failingSince: since } = stored;
  if (state === stateBefore) return 'same';
  if (state === 'failing' && code !== null && since !== null) {
    const projectIds = row.projectId === null ? await usersOf(tx, id, usesOf) : [row.projectId];
    const { name, app } = row;
    await notifyOfFailure(tx, { organizationId, projectIds, connectionId: id, name, app, code, since });
  }
  return 'changed';
}

/** Projects with rotations that use a connection of the organization; without one, the organization itself. */
async function usersOf(tx: Transaction, id: string, usesOf: ConnectionUses): Promise<(string | null)[]> {
  const projectIds = new Set((await usesOf(tx, [id])).map(({ projectId }) => projectId));
  return projectIds.size === 0 ? [null] : [...projectIds];
}
