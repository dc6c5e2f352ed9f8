import { type Action, authorize, can, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import type { Found } from '../../../kernel/database/batched.js';
import { AppError, type ErrorCode } from '../../../kernel/errors.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { AuthMethod } from './auth-method.js';
import { findUnlimitedToken } from './identity.sql.js';

export type IdentityAction = Action & `identity:${string}`;

/** The owner of an identity: a project, or the organization if it is null. */
interface Owned {
  readonly id: string;
  readonly projectId: string | null;
}

/**
 * Authorizes actions on an identity in the organization or project that owns it; conditions match on its `identityId`. An
 * unknown identity and one of a project that the caller cannot see are refused alike: as not found to callers with the right
 * in the organization, as denied to all others.
 *
 * @param owned undefined if the ID is unknown
 * @throws PERMISSION_DENIED, `notFound`
 */
export async function authorizeOwned<Row extends Owned>(
  ctx: Context,
  owned: Row | undefined,
  actions: readonly IdentityAction[],
  notFound: ErrorCode = 'IDENTITY_NOT_FOUND',
): Promise<Row> {
  if (owned?.projectId === null) {
    for (const action of actions) authorize(ctx, action);
    return owned;
  }
  // Always looked up, so that unknown and hidden IDs take the same statements.
  const project = await ctx.accessTo(ctx, owned?.projectId ?? NO_ID);
  if (owned === undefined || project === undefined) {
    for (const action of actions) authorize(ctx, action);
    throw new AppError(notFound);
  }
  for (const action of actions) authorize(project, action, { identityId: owned.id });
  return owned;
}

/** A row of an identity that a response links to. */
interface OfOwned {
  /** The value that it is looked up by. */
  readonly key: string;
  readonly identityId: string;
  readonly projectId: string | null;
}

/**
 * Authorizes rows that a response links to, by key, as `authorizeOwned` does for one identity. A denied row is an error. An
 * unknown key is an error for callers without the right in the organization, and left out for others.
 */
export async function readableOwned<Row extends OfOwned>(
  ctx: Context,
  { keys, rows, action }: { keys: readonly string[]; rows: readonly Row[]; action: IdentityAction },
): Promise<Found<Row>> {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const projectIds = [...new Set(rows.flatMap(({ projectId }) => projectId ?? []))];
  const accesses = await Promise.all(projectIds.map(async (id) => [id, await ctx.accessTo(ctx, id)] as const));
  const projects = new Map(accesses);
  const isForOrganization = can(ctx.ability, action);
  return new Map(
    keys.flatMap((key) => {
      const row = byKey.get(key);
      const project = row?.projectId == null ? undefined : projects.get(row.projectId);
      if (row !== undefined && project !== undefined) {
        const isAllowed = can(project.ability, action, { identityId: row.identityId });
        return [[key, isAllowed ? row : new PermissionDenied({ action, projectId: row.projectId })]];
      }
      if (!isForOrganization) return [[key, new PermissionDenied({ action, projectId: null })]];
      return row?.projectId === null ? [[key, row]] : [];
    }),
  );
}

/**
 * Keeps a limited token from giving its own identity what it does not have itself: with a limit on uses, or with less life than
 * the configuration gives, it may neither change how the identity gets in nor add a way in. The configuration that counts is
 * the one that is stored now. Other identities are a matter of rights.
 *
 * @param method by which the identity would get in
 * @param action what was tried, for the audit trail
 * @throws PERMISSION_DENIED with the detail LIMITED_TOKEN
 */
export async function protectOwnLogins(
  tx: Transaction,
  identity: { readonly id: string },
  { method, action }: { readonly method: AuthMethod; readonly action: Action },
): Promise<void> {
  if (tx.actor.kind !== 'identity' || tx.actor.id !== identity.id) return;
  const [unlimited] = await findUnlimitedToken(tx, { tokenId: tx.actor.tokenId, method });
  if (unlimited !== undefined) return;
  throw new PermissionDenied(
    { action, projectId: null },
    [],
    [
      {
        path: 'header.authorization',
        code: 'LIMITED_TOKEN',
        message:
          'has a limit on uses, or a shorter TTL than the configuration of its identity; use a token without these limits, or ask another admin',
      },
    ],
  );
}
