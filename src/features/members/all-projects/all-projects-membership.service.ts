import { raw as sql } from '@mikro-orm/core';
import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import { authorize, PermissionDenied, type Rule } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { lockRow } from '../../../kernel/database/rows.js';
import { countIn } from '../../../kernel/database/tables.js';
import { AppError } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { type CountedConnectionOf, counted, Page, timeCursorKey, timePageBounds } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { type PermissionRuleType, readStoredRules, toRules, toShownRules } from '../../identity/permissions/public.js';
import { AllProjectsMembership, rightsBeyondOwnInAllProjects, rulesInAllProjects } from '../../projects/public.js';
import {
  countMemberships,
  findMemberships,
  listMemberships,
  type MembershipRow,
} from './all-projects-membership.queries.js';
import {
  CreateAllProjectsMembership,
  ListAllProjectsMemberships,
  OneAllProjectsMembership,
  UpdateAllProjectsMembership,
} from './all-projects-membership.rules.js';

const CONSTRAINTS = {
  all_projects_membership_user_unique: 'ALREADY_A_MEMBER',
  all_projects_membership_identity_unique: 'ALREADY_A_MEMBER',
  all_projects_membership_group_unique: 'ALREADY_A_MEMBER',
  all_projects_membership_user_fk: 'USER_NOT_FOUND',
  all_projects_membership_identity_fk: 'IDENTITY_NOT_FOUND',
  all_projects_membership_group_fk: 'GROUP_NOT_FOUND',
  all_projects_membership_organization_id_fkey: 'ORGANIZATION_NOT_FOUND',
} as const;
const NOT_FOUND = { user: 'USER_NOT_FOUND', identity: 'IDENTITY_NOT_FOUND', group: 'GROUP_NOT_FOUND' } as const;

/** What a change of a membership is judged by. */
interface Change {
  readonly action: 'create' | 'update' | 'delete';
  readonly membership: AllProjectsMembership;
  /** What it granted before, and is to grant. */
  readonly rules: readonly Rule[];
}

/**
 * Members of all projects of the caller's organization, also of those that are made later. Whoever may assign such roles
 * grants and revokes what it has itself in all projects, or anything if it may also rescue projects.
 *
 * Every method throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE; every change PERMISSION_BOUNDARY.
 */
export class AllProjectsMembershipService {
  /**
   * Makes a user, an identity or a group a member of all projects.
   *
   * @throws USER_NOT_FOUND, IDENTITY_NOT_FOUND, GROUP_NOT_FOUND for one that is not in the organization, also for an
   * identity of a project; ALREADY_A_MEMBER also if the membership has ended
   */
  create(ctx: Context, raw: unknown): Promise<MembershipView> {
    const { memberKind, memberId, roleSlug, permissions = [], endsAt } = parse(CreateAllProjectsMembership, raw);
    authorize(ctx, 'workspace:assign-role');
    return inTransaction(ctx, async (tx) => {
      if (!isId(memberId)) throw new AppError(NOT_FOUND[memberKind]);
      const membership = tx.em.create(AllProjectsMembership, {
        organizationId: tx.organizationId,
        userId: memberKind === 'user' ? memberId.toLowerCase() : null,
        identityId: memberKind === 'identity' ? memberId.toLowerCase() : null,
        groupId: memberKind === 'group' ? memberId.toLowerCase() : null,
        role: roleSlug,
        permissions: storedOf(permissions),
        endsAt: endsAt ?? null,
      });
      await authorizeChange(tx, { action: 'create', membership, rules: rulesInAllProjects(membership) });
      await flush(tx, CONSTRAINTS);
      return recorded(tx, 'create', membership);
    });
  }

  /** Changes what a member may do in all projects, and until when. @throws MEMBERSHIP_NOT_FOUND */
  update(ctx: Context, raw: unknown): Promise<MembershipView> {
    const { id, roleSlug, permissions, endsAt } = parse(UpdateAllProjectsMembership, raw);
    authorize(ctx, 'workspace:assign-role');
    return inTransaction(ctx, async (tx) => {
      const membership = await lock(tx, id);
      const before = rulesInAllProjects(membership);
      tx.em.assign(membership, {
        role: roleSlug ?? membership.role,
        permissions: permissions === undefined ? membership.permissions : storedOf(permissions),
        endsAt: endsAt === undefined ? membership.endsAt : endsAt,
        updatedAt: sql('now()'),
      });
      const rules = isOwn(tx, membership) ? [] : before;
      await authorizeChange(tx, { action: 'update', membership, rules: [...rules, ...rulesInAllProjects(membership)] });
      await flush(tx, CONSTRAINTS);
      return recorded(tx, 'update', membership);
    });
  }

  /** Ends a membership at once, on every node. Roles in single projects stay. @throws MEMBERSHIP_NOT_FOUND */
  delete(ctx: Context, raw: unknown): Promise<MembershipView> {
    const { id } = parse(OneAllProjectsMembership, raw);
    authorize(ctx, 'workspace:assign-role');
    return inTransaction(ctx, async (tx) => {
      const membership = await lock(tx, id);
      const rules = isOwn(tx, membership) ? [] : rulesInAllProjects(membership);
      await authorizeChange(tx, { action: 'delete', membership, rules });
      const deleted = await recorded(tx, 'delete', membership);
      tx.em.remove(membership);
      await flush(tx);
      return deleted;
    });
  }

  /** One membership. @throws MEMBERSHIP_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<MembershipView> {
    const { id } = parse(OneAllProjectsMembership, raw);
    authorize(ctx, 'workspace:list');
    const membership = await load(ctx, id);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'all-projects-membership:get',
      facts: { membershipId: membership.id },
    });
    return membership;
  }

  /** The members of all projects, newest first, then by ID; also those whose membership has ended. */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<MembershipView>> {
    const { memberKind, ...request } = parse(ListAllProjectsMemberships, raw);
    const bounds = timePageBounds(request);
    authorize(ctx, 'workspace:list');
    const wanted = { organizationId: ctx.organizationId, kind: memberKind ?? null };
    const rows = await listMemberships(ctx, { ...wanted, ...bounds });
    const page = new Page(rows.map(toView), request, ({ createdAt, id }) => timeCursorKey(createdAt, id));
    await ctx.auditTrail.recordRead(ctx, {
      action: 'all-projects-membership:list',
      facts: { count: page.nodes.length },
    });
    return counted(page, async () => countIn(await countMemberships(ctx, wanted)));
  }
}

/** Null for none: without own rules a membership counts for nothing but its role. */
const storedOf = (permissions: Parameters<typeof toRules>[0]): readonly Rule[] | null =>
  permissions.length === 0 ? null : toRules(permissions);

/** A membership as services pass it on. */
interface MembershipView extends Omit<MembershipRow, 'permissions'> {
  readonly permissions: PermissionRuleType[];
}

const toView = ({ permissions, ...row }: MembershipRow): MembershipView => ({
  ...row,
  permissions: permissions === null ? [] : toShownRules(readStoredRules(permissions)),
});

const isOwn = ({ actor }: Transaction, { userId, identityId }: AllProjectsMembership): boolean =>
  actor.id === (userId ?? identityId);

async function authorizeChange(tx: Transaction, { action, membership, rules }: Change): Promise<void> {
  // Nobody extends its own term.
  const end = isOwn(tx, membership) ? (membership.endsAt ?? null) : undefined;
  const beyond = await rightsBeyondOwnInAllProjects(tx, rules, action === 'delete' ? undefined : end);
  if (beyond.length > 0) throw new PermissionDenied({ action: 'workspace:assign-role', projectId: null }, beyond);
}

const lock = (tx: Transaction, id: string): Promise<AllProjectsMembership> =>
  lockRow(tx, AllProjectsMembership, { id, organizationId: tx.organizationId }, 'MEMBERSHIP_NOT_FOUND');

async function recorded(
  tx: Transaction,
  action: Change['action'],
  membership: AllProjectsMembership,
): Promise<MembershipView> {
  const row = await load(tx, membership.id);
  const { permissions, memberKind, memberId, roleSlug: role, endsAt } = row;
  const facts: AuditFacts = {
    membershipId: row.id,
    memberKind,
    memberId,
    role,
    rules: permissions.length,
    endsAt: endsAt?.toISOString() ?? null,
  };
  await tx.auditTrail.recordChange(tx, { action: `all-projects-membership:${action}`, showsInProjects: true, facts });
  return row;
}

async function load(ctx: Context, id: string): Promise<MembershipView> {
  const [row] = isId(id) ? await findMemberships(ctx, { ids: [id], organizationId: ctx.organizationId }) : [];
  if (row === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
  return toView(row);
}

/** Memberships by ID, for callers who may list all projects. @throws PERMISSION_DENIED */
export const allProjectsMembershipsByIds: BatchLoad<MembershipView> = async (ctx, ids) => {
  authorize(ctx, 'workspace:list');
  const rows = await findMemberships(ctx, { ids, organizationId: ctx.organizationId });
  return new Map(rows.map((row) => [row.id, toView(row)]));
};
