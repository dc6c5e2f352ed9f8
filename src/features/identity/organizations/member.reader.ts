import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import { countMembersOfOrganizations, findMembers } from './member.queries.js';
import type { Member } from './memberships/memberships.js';

/** A member of an organization as services pass it on. */
export interface MemberView {
  readonly id: string;
  readonly memberKind: Member['kind'];
  readonly memberId: string;
  readonly name: string;
  readonly organizationId: string;
  readonly roleSlug: string;
  readonly endsAt: Date | null;
}

/** How many members organizations have, by their ids. */
export const countMembers: BatchLoad<number> = async (ctx, organizationIds) => {
  const rows = await countMembersOfOrganizations(ctx, { organizationIds });
  return new Map(rows.map(({ organizationId, count }) => [organizationId, count]));
};

/** Memberships by id, for who may read members. @throws PERMISSION_DENIED */
export const membersByIds: BatchLoad<MemberView> = async (ctx, ids) => {
  authorize(ctx, 'member:read');
  return membersInScope(ctx, ids);
};

/** Memberships by id: of the caller's organization and, for who may edit them, of its sub-organizations. */
export async function membersInScope(ctx: Context, ids: readonly string[]): Promise<Map<string, MemberView>> {
  const isBelowToo = can(ctx.ability, 'sub-organization:edit');
  const rows = await findMembers(ctx, { ids, organizationId: ctx.organizationId, isBelowToo });
  return new Map(rows.map((row) => [row.id, row]));
}
