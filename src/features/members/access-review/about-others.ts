import { type Access, authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { User } from '../../identity/organizations/public.js';
import {
  attributesWith,
  namesAttributes,
  type PermissionsInput,
  rulesAsText,
  type StoredRights,
  toRules,
  withSession,
} from '../../identity/permissions/public.js';
import { listMembersNow } from './rights.sql.js';

/** The subject of a query: a user or an identity. */
export interface ReviewedAccount {
  readonly kind: 'user' | 'identity';
  readonly id: string;
}

/**
 * Queries about others require the right to read them and roles.
 *
 * @param names usernames by ID
 * @returns the ID to look up: an unused ID where it is not of a kind that the caller may read
 * @throws PERMISSION_DENIED
 */
export function authorizeAbout(
  access: Access,
  { kind, id }: ReviewedAccount,
  names: ReadonlyMap<string, string>,
): string {
  authorize(access, 'role:read');
  // Nobody has an empty name: an unknown user is treated as somebody whom no condition names.
  if (kind === 'user') authorize(access, 'member:read', { username: names.get(id) ?? '' });
  else authorize(access, 'identity:read', { identityId: id });
  return isId(id) && names.has(id) === (kind === 'user') ? id : NO_ID;
}

/** Usernames of the users in the query, by ID, whatever the caller may read. */
export async function namesOf(
  ctx: Context,
  whom: readonly (ReviewedAccount | null)[],
): Promise<ReadonlyMap<string, string>> {
  const memberIds = whom.flatMap((each) => (each !== null && isId(each.id) ? [each.id] : []));
  if (memberIds.length === 0) return new Map();
  const owners = [ctx.organizationId, ctx.rootOrganizationId];
  const users = await emOf(ctx).find(User, { id: { $in: memberIds }, organizationId: { $in: owners } });
  return new Map(users.map(({ id, username }) => [id, username]));
}

/** A check, possibly about rules of a role that is not saved yet. */
interface RoleCheck {
  readonly permissions?: PermissionsInput | null | undefined;
  /** Who would have the role. */
  readonly memberId: string;
  /** Whether it is a member. Of others nothing is known but the ID that the caller gave. */
  readonly isMember: boolean;
}

/**
 * What roles that are not saved yet would grant the member, with its attributes, in order; null for checks without such
 * rules. One statement for all checks, and none where no rule names attributes.
 */
export async function unsavedRoles(ctx: Context, asked: readonly RoleCheck[]): Promise<(StoredRights | null)[]> {
  const memberIds = asked.flatMap(({ permissions, memberId, isMember }) =>
    isMember && namesAttributes(permissions) ? [memberId] : [],
  );
  const rows =
    memberIds.length === 0 ? [] : await listMembersNow(ctx, { memberIds: [...new Set(memberIds)], withMetadata: true });
  const known = new Map(rows.map(({ memberId, metadata }) => [memberId, attributesWith(memberId, metadata ?? [])]));
  return asked.map(({ permissions, memberId, isMember }) =>
    permissions == null
      ? null
      : {
          roles: [],
          storedRules: [rulesAsText(JSON.stringify(toRules(permissions)))],
          attributes: withSession(
            isMember ? (known.get(memberId) ?? null) : JSON.stringify({ id: memberId }),
            memberId === ctx.actor.id ? (ctx.actor.sessionAttributes ?? null) : null,
          ),
        },
  );
}
