import { type Action, authorize, can, PermissionDenied } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import type { Found } from '../../kernel/database/batched.js';
import { AppError, type ErrorCode } from '../../kernel/errors.js';
import { NO_ID } from '../../kernel/ids.js';

export type IdentityAction = Action & `identity:${string}`;

/** Whose an identity is: of the organization, or of one of its projects. */
interface Owned {
  readonly id: string;
  readonly projectId: string | null;
}

/**
 * Rights on an identity are those of its owner: of the organization, or of the project that owns it, with `identityId` for
 * conditions. One that is nobody's, and one of a project that the caller does not know of, are the same; so are they for who
 * has no such right in the organization.
 *
 * @param owned undefined: there is none
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
  // Looked for in any case, so that an id that nobody has takes the same statements as one that is hidden.
  const project = await ctx.accessTo(ctx, owned?.projectId ?? NO_ID);
  if (owned === undefined || project === undefined) {
    for (const action of actions) authorize(ctx, action);
    throw new AppError(notFound);
  }
  for (const action of actions) authorize(project, action, { identityId: owned.id });
  return owned;
}

/** Something of an identity that a response leads to. */
interface OfOwned {
  /** By which it is looked for. */
  readonly key: string;
  readonly identityId: string;
  readonly projectId: string | null;
}

/**
 * What responses lead to, for who has the right on its identity: as `authorizeOwned`, for many keys at once. An error in the
 * place of each that is denied, and of each that nobody has where it would be.
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
