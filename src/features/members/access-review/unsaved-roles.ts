import type { Context } from '../../../kernel/context.js';
import {
  attributesWith,
  type HeldRoles,
  namesAttributes,
  type PermissionsGiven,
  rulesAsText,
  toRules,
} from '../../identity/permissions/public.js';
import { listMembersNow } from './held.queries.js';

/** A check, possibly about rules of a role that is not saved yet. */
interface Asked {
  readonly permissions?: PermissionsGiven | null | undefined;
  /** Who would have the role. */
  readonly memberId: string;
  /** Whether it is a member. Of others nothing is known but the ID that the caller gave. */
  readonly isMember: boolean;
}

/**
 * What roles that are not saved yet would grant the member, with its attributes, in order; null for checks without such
 * rules. One statement for all checks, and none where no rule names attributes.
 */
export async function unsavedRoles(ctx: Context, asked: readonly Asked[]): Promise<(HeldRoles | null)[]> {
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
          attributes: isMember ? (known.get(memberId) ?? null) : JSON.stringify({ id: memberId }),
        },
  );
}
