import { LockMode, raw as sql } from '@mikro-orm/core';
import {
  type Ability,
  type Access,
  type Action,
  authorize,
  can,
  PermissionDenied,
  rulesOf,
} from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { batched, batchOfCounts } from '../../../kernel/database/batched.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { isId, newId } from '../../../kernel/ids.js';
import { orderedCursorKey, orderedPageBounds, orderedPageOf, requestedOrder } from '../../../kernel/list-order.js';
import { type CountedConnectionOf, counted, Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import {
  addMember,
  authorizeRoleChange,
  authorizeRoleGrant,
  boundaryOfCaller,
  changeRole,
  deleteAccount,
  Identity,
  lockMembership,
  protectInstallationAdmin,
} from '../organizations/public.js';
import {
  ANY_SESSION,
  attributesWith,
  NO_RIGHTS,
  organizationRights,
  projectRights,
  rightsBeyond,
  rulesAsText,
  withSession,
} from '../permissions/public.js';
import { type Attribute, type IdentityReader, type IdentityView, toIdentityView } from './identity.reader.js';
import {
  CreateIdentity,
  ListIdentities,
  ListProjectIdentities,
  OneIdentity,
  OWNED_BY_PROJECT,
  UpdateIdentity,
} from './identity.rules.js';
import { joinProject, listIdentities, listProjectIdentities, listRulesWithAttributes } from './identity.sql.js';
import { authorizeOwned, type IdentityAction } from './identity-rights.js';

/** The verbs of machine identities. An identity belongs to the organization that made it. */
export class IdentityService {
  constructor(private readonly identities: IdentityReader) {}

  /**
   * Makes an identity of the caller's organization, or of a project, of which it is a member without rights then.
   *
   * @param raw `{ name, organizationId?, projectId?, roleSlug?, hasDeleteProtection?, metadata? }`; only the caller's own organization can be named
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, ORGANIZATION_NOT_FOUND, PROJECT_NOT_FOUND,
   *   ROLE_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async create(ctx: Context, raw: unknown): Promise<IdentityView> {
    const { organizationId, projectId = null, roleSlug: role, ...input } = parse(CreateIdentity, raw);
    refuseOtherOrganization(ctx, organizationId);
    return inTransaction(ctx, async (tx) => {
      const owner = projectId === null ? null : await loadProject(tx, projectId);
      for (const action of actionsOf('identity:create', input)) authorize(owner ?? tx, action);
      if (owner === null)
        await authorizeRoleChange(tx, {
          organizationId: tx.organizationId,
          action: 'identity:create',
          after: role,
        });
      const id = await insertIdentity(tx, {
        ...input,
        role,
        organizationId: tx.organizationId,
        projectId: owner?.projectId ?? null,
        isInstallationAdmin: false,
      });
      if (owner?.projectId !== undefined)
        await joinProject(tx, { id: newId(), projectId: owner.projectId, identityId: id });
      await tx.auditTrail.recordChange(tx, {
        action: 'identity:create',
        projectId: owner?.projectId ?? null,
        facts: { identityId: id, role },
      });
      return this.identities.load(tx, id);
    });
  }

  /**
   * One identity of the caller's organization.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async get(ctx: Context, raw: unknown): Promise<IdentityView> {
    const { id } = parse(OneIdentity, raw);
    const identity = await this.identities.authorized(ctx, id, 'identity:read');
    await ctx.auditTrail.recordRead(ctx, {
      action: 'identity:get',
      projectId: identity.projectId,
      facts: { identityId: identity.id },
    });
    return identity;
  }

  /**
   * The identities of the caller's organization, by name, then id.
   *
   * @param raw `{ organizationId?, first?, after? }`; only the caller's own organization can be named
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, ORGANIZATION_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<IdentityView>> {
    const { organizationId, ...request } = parse(ListIdentities, raw);
    refuseOtherOrganization(ctx, organizationId);
    authorize(ctx, 'identity:read');
    const bounds = orderedPageBounds(request);
    const rows = await listIdentities(ctx, requestedOrder(request), { organizationId: ctx.organizationId, ...bounds });
    const page = new Page(rows.map(toIdentityView), request, (row) => orderedCursorKey(request, row));
    await ctx.auditTrail.recordRead(ctx, { action: 'identity:list', facts: { count: page.nodes.length } });
    return counted(page, async () => (await batched(ctx, countsOf, ctx.organizationId)) ?? 0);
  }

  /**
   * The identities that a project owns, by name, then id, or in another order.
   *
   * @param raw `{ projectId, first?, after?, orderBy?, updatedSince? }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async listOfProject(ctx: Context, raw: unknown): Promise<CountedConnectionOf<IdentityView>> {
    const { projectId, ...request } = parse(ListProjectIdentities, raw);
    const project = await loadProject(ctx, projectId);
    authorize(project, 'identity:read');
    // All of them: conditions may leave out some.
    const rows = await listProjectIdentities(ctx, { projectId: project.projectId });
    const readable = rows.filter(({ id }) => can(project.ability, 'identity:read', { identityId: id }));
    const page = orderedPageOf(readable.map(toIdentityView), request, { orderable: (identity) => identity });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'identity:list',
      projectId: project.projectId,
      facts: { count: page.nodes.length },
    });
    return counted(page, async () => readable.length);
  }

  /**
   * Renames an identity, gives it another role in the owning organization, or other metadata. What rules of roles then give
   * by the metadata has to be the caller's in the same organization or project.
   *
   * @param raw `{ id, name?, roleSlug?, hasDeleteProtection?, metadata? }`; absent keeps
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, IDENTITY_NOT_FOUND and MEMBERSHIP_NOT_FOUND (deleted at the same moment),
   *   ROLE_NOT_FOUND, LAST_ADMIN, AUDIT_UNAVAILABLE
   */
  async update(ctx: Context, raw: unknown): Promise<IdentityView> {
    const { id, roleSlug, ...changes } = parse(UpdateIdentity, raw);
    return inTransaction(ctx, async (tx) => {
      const given = Object.entries(changes).filter(([, value]) => value !== undefined);
      const isChanged = roleSlug === undefined || given.length > 0;
      const actions = ['identity:read', ...(isChanged ? actionsOf('identity:edit', changes) : [])] as const;
      const identity = await this.identities.authorized(tx, id, actions);
      protectInstallationAdmin(tx, identity);
      const metadata = changes.metadata === undefined ? null : await lockMetadata(tx, identity);
      const role = roleSlug === undefined ? identity.roleSlug : await giveRole(tx, identity, roleSlug);
      // After the role is given, which is compared whatever the metadata is: here it counts with both.
      if (metadata !== null)
        await authorizeMetadata(tx, identity, { before: metadata, after: changes.metadata ?? metadata });
      tx.em.assign(tx.em.getReference(Identity, identity.id), {
        ...Object.fromEntries(given),
        updatedAt: sql('now()'),
      });
      await flush(tx);
      await tx.auditTrail.recordChange(tx, {
        action: 'identity:update',
        projectId: identity.projectId,
        showsInProjects: given.length > 0,
        facts: { identityId: identity.id, role },
      });
      return this.identities.load(tx, identity.id);
    });
  }

  /**
   * Deletes an identity with all memberships and tokens. The installation, organizations and projects keep an admin.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, IDENTITY_NOT_FOUND, DELETE_PROTECTED, LAST_ADMIN,
   *   AUDIT_UNAVAILABLE
   */
  async delete(ctx: Context, raw: unknown): Promise<IdentityView> {
    const { id } = parse(OneIdentity, raw);
    return inTransaction(ctx, async (tx) => {
      const identity = await this.identities.authorized(tx, id, ['identity:read', 'identity:delete']);
      protectInstallationAdmin(tx, identity);
      // Of the locked row: the protection may have been switched on since the first was read.
      const { hasDeleteProtection } = await lockRow(tx, Identity, { id: identity.id }, 'IDENTITY_NOT_FOUND');
      if (hasDeleteProtection) throw new AppError('DELETE_PROTECTED');
      if (identity.isInstallationAdmin && (await lockInstallationAdmins(tx)).length === 1)
        throw new AppError('LAST_ADMIN');
      await deleteAccount(tx, { kind: 'identity', id: identity.id }, 'identity:delete');
      await tx.auditTrail.recordChange(tx, {
        action: 'identity:delete',
        projectId: identity.projectId,
        showsInProjects: true,
        facts: { identityId: identity.id },
      });
      return identity;
    });
  }
}

/** The admins of the installation, locked until the transaction ends: two that delete each other wait. */
const lockInstallationAdmins = (tx: Transaction): Promise<Identity[]> =>
  tx.em.find(Identity, { isInstallationAdmin: true }, { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE });

interface NewIdentity {
  readonly name: string;
  readonly organizationId: string;
  readonly projectId?: string | null;
  readonly metadata?: IdentityView['metadata'];
  readonly hasDeleteProtection?: boolean;
  readonly role: string;
  readonly isInstallationAdmin: boolean;
}

/** Rules of roles can name metadata: whoever writes it gives rights. */
const actionsOf = (
  action: 'identity:create' | 'identity:edit',
  { metadata }: { readonly metadata?: unknown },
): IdentityAction[] => [action, ...(metadata === undefined ? [] : (['identity:grant-privileges'] as const))];

/** @throws PROJECT_NOT_FOUND */
async function loadProject(ctx: Context, projectId: string): Promise<Access & { readonly projectId: string }> {
  const access = isId(projectId) ? await ctx.accessTo(ctx, projectId) : undefined;
  if (access === undefined) throw new AppError('PROJECT_NOT_FOUND');
  return { ...access, projectId: projectId.toLowerCase() };
}

const ownedByProject = (): AppError =>
  new AppError('VALIDATION_FAILED', undefined, {
    details: [{ path: 'roleSlug', code: 'OWNED_BY_PROJECT', message: OWNED_BY_PROJECT }],
  });

/** How many identities organizations have, but those of their projects. */
const countsOf = batchOfCounts(Identity, 'organizationId', { projectId: null });

/** @returns the role that the identity has then */
async function giveRole(
  tx: Transaction,
  { id, organizationId, projectId, roleSlug }: IdentityView,
  role: string,
): Promise<string> {
  if (projectId !== null) {
    await authorizeOwned(tx, { id, projectId }, ['identity:edit']);
    if (role === roleSlug) return role;
    throw ownedByProject();
  }
  const handedTo = authorizeRoleGrant(tx, 'identity:edit', { subject: 'identity', fields: { identityId: id } });
  const member = { kind: 'identity', id } as const;
  const before = (await lockMembership(tx, organizationId, member))?.role ?? null;
  if (before === role && handedTo === null) return role;
  await authorizeRoleChange(tx, { organizationId, action: 'identity:edit', before, after: role, handedTo });
  await changeRole(tx, organizationId, member, role);
  return role;
}

/** The metadata of an identity, which nobody else changes until the transaction ends. @throws IDENTITY_NOT_FOUND */
const lockMetadata = async (tx: Transaction, { id }: IdentityView): Promise<IdentityView['metadata']> =>
  (await lockRow(tx, Identity, { id }, 'IDENTITY_NOT_FOUND')).metadata;

/** Stores a new identity and its membership. Who may do so, and the audit row, are the caller's business. */
export async function insertIdentity(tx: Transaction, input: NewIdentity): Promise<string> {
  const { role, ...columns } = input;
  const identity = tx.em.create(Identity, { projectId: null, metadata: [], ...columns });
  await flush(tx, { identity_organization_id_fkey: 'ORGANIZATION_NOT_FOUND' });
  await addMember(tx, input.organizationId, { kind: 'identity', id: identity.id }, role);
  return identity.id;
}

/** Another organization, and one that is none, are the same to the caller. */
function refuseOtherOrganization(ctx: Context, organizationId: string | null | undefined): void {
  if (organizationId != null && organizationId.toLowerCase() !== ctx.organizationId)
    throw new AppError('ORGANIZATION_NOT_FOUND');
}

/** A role or, without one, a privilege. */
interface GrantedRules {
  readonly role: string | null;
  /** JSON text; null for a built-in role. */
  readonly rules: string | null;
  /** Seconds from now. */
  readonly begins: number;
  /** Null: never. */
  readonly ends: number | null;
}

/** What an identity holds in an organization, or in a project of it. */
interface HeldRights {
  readonly organizationId: string;
  readonly projectId: string | null;
  /** In the order of their rules, whenever they hold. */
  readonly held: readonly GrantedRules[];
}

interface MetadataChange {
  readonly before: readonly Attribute[];
  readonly after: readonly Attribute[];
}

/**
 * Nobody gives by metadata, which rules of roles name, what he does not have himself in the same organization or project, nor
 * lifts by it what they forbid. All organizations and projects of the identity are compared, also projects that the caller is no
 * member of, and so has no right in. What holds later counts, too. A refusal names the rights that are missing, not where.
 *
 * @param identity its row is locked
 * @throws PERMISSION_BOUNDARY
 */
async function authorizeMetadata(
  tx: Transaction,
  identity: { readonly id: string; readonly projectId: string | null },
  { before, after }: MetadataChange,
): Promise<void> {
  const inAnySession = (metadata: readonly Attribute[]) =>
    withSession(attributesWith(identity.id, metadata), ANY_SESSION) as string;
  const [old, changed] = [inAnySession(before), inAnySession(after)];
  if (old === changed) return;
  const places = (await listRulesWithAttributes(tx, { identityId: identity.id })) as readonly HeldRights[];
  const beyondIn = await boundaryAt(tx, places);
  const points = places.flatMap((place) => timesOf(place).map((time) => ({ place, time })));
  const beyondEach = await mapYielding(points, ({ place, time }) =>
    beyondIn(place, (own) =>
      rightsBeyond(
        own,
        rulesOf(abilityAt(place, { time, attributes: changed })),
        abilityAt(place, { time, attributes: old }),
      ),
    ),
  );
  const beyond = [...new Set(beyondEach.flat())];
  if (beyond.length > 0) throw new PermissionDenied({ action: 'identity:edit', projectId: identity.projectId }, beyond);
}

/** Now, and whenever something begins or ends: in between nothing changes. */
const timesOf = ({ held }: HeldRights): number[] => [
  ...new Set([0, ...held.flatMap(({ begins, ends }) => (ends === null ? [begins] : [begins, ends]))]),
];

function abilityAt(
  { projectId, held }: HeldRights,
  { time, attributes }: { readonly time: number; readonly attributes: string },
): Ability {
  const holding = held.filter(({ begins, ends }) => begins <= time && (ends === null || time < ends));
  const [roles, privileges] = [
    holding.filter(({ role }) => role !== null),
    holding.filter(({ role }) => role === null),
  ];
  const rulesIn = (list: readonly GrantedRules[]) =>
    list.flatMap(({ rules }) => (rules === null ? [] : [rulesAsText(rules)]));
  const rights = projectId === null ? organizationRights : projectRights;
  return rights({
    roles: roles.flatMap(({ role }) => role ?? []),
    storedRules: rulesIn(roles),
    privileges: rulesIn(privileges),
    attributes,
  }).ability;
}

/** What goes beyond the caller's rights in an organization or a project, in two statements. */
async function boundaryAt(
  tx: Transaction,
  places: readonly HeldRights[],
): Promise<(place: HeldRights, compare: (own: Ability) => readonly Action[]) => readonly Action[]> {
  const projectIds = places.flatMap(({ projectId }) => projectId ?? []);
  const projects = projectIds.length === 0 ? [] : await tx.providers.listAccessBelow(tx, tx.actor.id, projectIds);
  const own = new Map(projects.map(({ projectId, ability }) => [projectId, ability]));
  const beyondIn = await boundaryOfCaller(tx);
  return ({ organizationId, projectId }, compare) =>
    projectId === null ? beyondIn(organizationId, compare) : compare(own.get(projectId) ?? NO_RIGHTS);
}
