import type { Ability, Access, Action } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { type BatchLoad, batched } from '../../../kernel/database/batched.js';
import { query } from '../../../kernel/database/database.js';
import { orderedText } from '../../../kernel/database/ordered-page.js';
import { AppError } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { LIST_ORDERS, type ListOrder, type OrderedBounds, orderName } from '../../../kernel/list-order.js';
import {
  attributesOf,
  type EffectiveRule,
  type Explanation,
  effectiveRules,
  explain,
  findProjectRights,
  type HeldOrigins,
  type HeldRoles,
  PROJECT_ROLES,
  projectRights,
  type Rights,
  storedRulesOf,
} from '../../permissions/public.js';
import type { ProjectKind } from './project.rules.js';

/** A project as one caller sees it: the attributes for rules, and the caller's rights there. */
export interface ProjectAccess extends Access {
  readonly projectId: string;
  readonly organizationId: string;
  readonly type: ProjectKind;
  readonly name: string;
  readonly slug: string;
  /** Slugs of the caller's roles. */
  readonly roles: readonly string[];
  readonly ability: Ability;
  /** Equal for callers whose rules in the project are equal. */
  readonly rulesFingerprint: string;
  readonly enforceEncryptedSecretMetadata: boolean;
  /** Increments with every change in the project. What was read at an earlier revision is stale. */
  readonly revision: number;
  /** ID of the caller's membership. */
  readonly membershipId: string;
}

/** An environment row. */
export interface EnvironmentRecord {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  readonly position: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A whole project with its environments, as one caller sees it. */
export interface ProjectRecord {
  readonly access: ProjectAccess;
  readonly description: string | null;
  readonly defaultProduct: ProjectKind | null;
  readonly autoCapitalization: boolean;
  readonly version: number;
  readonly upgradeStatus: 'IN_PROGRESS' | 'FAILED' | null;
  readonly pitVersionLimit: number;
  readonly kmsCertificateKeyId: string | null;
  readonly kmsSecretManagerKeyId: string;
  readonly auditLogsRetentionDays: number | null;
  readonly hasDeleteProtection: boolean;
  readonly secretSharing: boolean;
  readonly showSnapshotsLegacy: boolean;
  readonly secretDetectionIgnoreValuesSealed: Uint8Array | null;
  /** Counts their writes. They are sealed for this number. */
  readonly secretDetectionIgnoreValuesVersion: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** By position. */
  readonly environments: readonly EnvironmentRecord[];
}

interface AccessRow extends HeldRoles {
  readonly id: string;
  readonly organizationId: string;
  readonly type: ProjectKind;
  readonly name: string;
  readonly slug: string;
  readonly enforceEncryptedSecretMetadata: boolean;
  readonly revision: number;
  readonly membershipId: string;
}

type RecordRow = AccessRow & Omit<ProjectRecord, 'access'>;

/** Callers who have only these roles need no query for other roles. */
const BUILT_IN = `array[${PROJECT_ROLES.map((slug) => `'${slug}'`).join(', ')}]`;

/** @param member SQL of its ID */
const accessColumns = (member: string): string => `p.id, p.organization_id as "organizationId", p.type, p.name, p.slug,
  p.enforce_encrypted_secret_metadata as "enforceEncryptedSecretMetadata", p.revision::float8 as revision,
  m.id as "membershipId", m.roles, m."storedRules", m.privileges,
  case when m."storedRules" is not null or m.privileges is not null then ${attributesOf(member)} end as attributes`;
const ACCESS_COLUMNS = accessColumns('$1');

const RECORD_COLUMNS = `${ACCESS_COLUMNS}, p.description, p.default_product as "defaultProduct", p.auto_capitalization as "autoCapitalization",
  p.version, p.upgrade_status as "upgradeStatus", p.pit_version_limit as "pitVersionLimit",
  p.kms_certificate_key_id as "kmsCertificateKeyId", p.kms_secret_manager_key_id as "kmsSecretManagerKeyId",
  p.audit_logs_retention_days as "auditLogsRetentionDays", p.has_delete_protection as "hasDeleteProtection",
  p.secret_sharing as "secretSharing", p.show_snapshots_legacy as "showSnapshotsLegacy",
  p.secret_detection_ignore_values_sealed as "secretDetectionIgnoreValuesSealed",
  p.secret_detection_ignore_values_version as "secretDetectionIgnoreValuesVersion",
  p.created_at as "createdAt", p.updated_at as "updatedAt",
  (select coalesce(json_agg(json_build_object('id', e.id, 'projectId', e.project_id, 'name', e.name, 'slug', e.slug,
      'position', e.position, 'createdAt', e.created_at, 'updatedAt', e.updated_at) order by e.position), '[]')
   from environment e where e.project_id = p.id) as environments`;

/** The custom roles `r` of a project that a member has. One that is assigned twice counts at its last position. */
const OWN_ROLES = `(select listed.slug, max(listed.at) as at from unnest(held.roles) with ordinality as listed(slug, at) group by listed.slug) place
         join project_role r on r.project_id = p.id and r.slug = place.slug`;
/**
 * Privileges `v` of a member that are active now, also while no role of its own membership is; but not once that
 * membership has ended with the membership of the organization, although groups may keep the member in both.
 */
const privilegesOf = (
  member: string,
): string => `additional_privilege v join project_membership d on d.id = v.membership_id
       where d.project_id = p.id and coalesce(d.user_id, d.identity_id) = ${member}
         and (v.ends_at is null or (v.starts_at <= now() and now() < v.ends_at))
         and not exists (select from organization_membership o
           where o.organization_id = d.organization_id and coalesce(o.user_id, o.identity_id) = ${member} and o.ends_at <= now())`;

/**
 * Projects `p` with the roles that a member has in them: those of its own membership, then those of its groups, oldest
 * first; and its privileges. Projects where it has no active role are left out. `$3` requests the text of their rules.
 *
 * @param member SQL of its ID
 * @param origins further columns of it: where the roles and privileges come from
 */
const heldBy = (member: string, origins = { roles: '', rules: '' }): string => `project p cross join lateral (
    select held.*,
      case when not held.roles <@ ${BUILT_IN} then
        (select jsonb_agg(${storedRulesOf('r', '$3')} order by place.at) from ${OWN_ROLES}) end as "storedRules",
      (select jsonb_agg(${storedRulesOf('v', '$3')} order by v.created_at, v.id) from ${privilegesOf(member)}) as privileges${origins.rules}
    from (
      select (array_agg(n.id order by n.group_id is not null, n.created_at, n.id))[1] as id,
        array_agg(role.slug order by n.group_id is not null, n.created_at, n.id, role.at) as roles${origins.roles}
      from project_member_now n cross join unnest(n.roles) with ordinality as role(slug, at)
      where n.project_id = p.id and n.member_id = ${member}) held
    where held.id is not null offset 0) m`;
const FROM = heldBy('$1');
/** The same with the origin of each rule, in the orders of what it explains. */
const EXPLAINED = heldBy('$1', {
  roles: `,
        json_agg(json_build_object('role', role.slug, 'membershipId', n.id, 'groupId', n.group_id)
          order by n.group_id is not null, n.created_at, n.id, role.at) as memberships`,
  rules: `,
      (select coalesce(json_agg(json_build_object('id', r.id, 'slug', r.slug) order by place.at), '[]') from ${OWN_ROLES}) as "ownRoles",
      (select coalesce(json_agg(json_build_object('id', v.id, 'slug', v.slug, 'membershipId', v.membership_id)
         order by v.created_at, v.id), '[]') from ${privilegesOf('$1')}) as "ownPrivileges"`,
});
/** The projects of a member, so that the projects of others are not scanned. */
const OF_MEMBER = 'p.organization_id = $2 and p.id in (select project_id from project_member_now where member_id = $1)';

const LOAD = `select ${ACCESS_COLUMNS} from ${FROM} where p.organization_id = $2 and p.id = any($4::uuid[])`;
/** Also in sub-organizations of the organization of the token: as the member could have a token for them. */
const LOAD_BELOW = `select ${ACCESS_COLUMNS} from ${FROM}
  where p.id in (select project_id from project_member_now where member_id = $1) and ($4::uuid[] is null or p.id = any($4))
    and p.organization_id in (select o.id from organization o where o.id = $2 or o.parent_id = $2)
    and exists (select from organization_member_now own where own.organization_id = p.organization_id and own.member_id = $1)`;
const EXPLAIN = `select ${ACCESS_COLUMNS}, m.memberships, m."ownRoles", m."ownPrivileges" from ${EXPLAINED}
  where p.organization_id = $2 and p.id = $4
    and exists (select from organization_member_now own where own.organization_id = $2 and own.member_id = $1)`;
/** For other members: the check of the caller's own token already ensures that it is a member of the organization. */
const LOAD_OTHERS = `select asked.member_id as "memberId", ${accessColumns('asked.member_id')}
  from unnest($1::uuid[], $4::uuid[]) asked(member_id, project_id), ${heldBy('asked.member_id')}
  where p.id = asked.project_id and p.organization_id = $2 and exists (
    select from organization_member_now own where own.organization_id = $2 and own.member_id = asked.member_id)`;
const LIST_ACCESS = `select ${ACCESS_COLUMNS} from ${FROM} where ${OF_MEMBER}`;
const BY_ID = `select ${RECORD_COLUMNS} from ${FROM} where p.organization_id = $2 and p.id = $4`;
const BY_SLUG = `select ${RECORD_COLUMNS} from ${FROM} where p.organization_id = $2 and p.slug = $4`;
const BY_IDS = `select ${RECORD_COLUMNS} from ${FROM} where p.organization_id = $2 and p.id = any($4::uuid[])`;
const LISTS = new Map(
  LIST_ORDERS.map((order) => {
    const columns = { id: 'p.id', name: 'p.name', createdAt: 'p.created_at', updatedAt: 'p.updated_at' };
    const { condition, rest } = orderedText(columns, order, { value: '$5', id: '$6', since: '$7', limit: '$8' });
    const text = `select ${RECORD_COLUMNS} from ${FROM}
      where ${OF_MEMBER} and ($4::text is null or p.type = $4) and ${condition} ${rest}`;
    return [orderName(order), text];
  }),
);

/** In the form of `LISTS`. */
const COUNT = `select p.type, count(*)::integer as count from project p
  where p.organization_id = $2 and p.id in (
    select n.project_id from project_member_now n where n.member_id = $1 and cardinality(n.roles) > 0) group by p.type`;

/** Membership makes a project visible; the service itself is not a member of any. */
const run = <R extends HeldRoles>(ctx: Context, text: string, ...params: readonly unknown[]) =>
  runFor<R>(ctx, ctx.actor.id, text, ...params);

/**
 * Rows with the rights of one or several members. The text of rules is read where this node does not have it by its
 * digest: then the statement is sent again, and its second result counts.
 */
async function runFor<R extends HeldRoles>(
  ctx: Context,
  memberId: string | readonly string[],
  text: string,
  ...params: readonly unknown[]
): Promise<(R & { readonly rights: Rights })[]> {
  const ask = (withRules: boolean) => query<R>(ctx, text, [memberId, ctx.organizationId, withRules, ...params]);
  const rows = (await ask(false)).map((row) => ({ ...row, rights: findProjectRights(row) }));
  if (rows.every((row) => row.rights !== undefined)) return rows as (R & { rights: Rights })[];
  return (await ask(true)).map((row) => ({ ...row, rights: projectRights(row) }));
}

/**
 * The caller's rights in projects, by ID in lower case, in one statement. Unknown projects, and those that the caller
 * is not a member of, are left out.
 */
export async function findAccess(
  ctx: Context,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, ProjectAccess>> {
  const ids = projectIds.filter(isId);
  const rows = ids.length === 0 ? [] : await run<AccessRow>(ctx, LOAD, ids);
  return new Map(rows.map((row) => [row.id, toAccess(row)]));
}

/**
 * Why a member of a project of the caller's organization may or may not perform an action there; undefined for one that
 * is not a member now. Does not check whether the caller may ask.
 *
 * @param asked `projectId` and `memberId` in lower case
 */
export async function findExplanation(
  ctx: Context,
  asked: { readonly projectId: string; readonly memberId: string; readonly action: Action; readonly fields?: Fields },
): Promise<Explanation | undefined> {
  const { projectId, memberId, action, fields } = asked;
  if (!isId(projectId) || !isId(memberId)) return undefined;
  const [row] = await runFor<AccessRow & HeldOrigins>(ctx, memberId, EXPLAIN, projectId);
  return row && explain(row.rights, row, action, fields);
}

/** All rules that apply to a member of a project, as `findExplanation` finds one of them. */
export async function findEffectiveRules(
  ctx: Context,
  { projectId, memberId }: { readonly projectId: string; readonly memberId: string },
): Promise<readonly EffectiveRule[] | undefined> {
  if (!isId(projectId) || !isId(memberId)) return undefined;
  const [row] = await runFor<AccessRow & HeldOrigins>(ctx, memberId, EXPLAIN, projectId);
  return row && effectiveRules(row.rights, row);
}

/**
 * The rights of other members in projects, in one statement, as `findAccess`. Does not check whether the caller may
 * ask.
 *
 * @param places members, and projects that they may be in; in lower case
 */
export async function findAccessOf(
  ctx: Context,
  places: readonly { readonly memberId: string; readonly projectId: string }[],
): Promise<(ProjectAccess & { readonly memberId: string })[]> {
  const known = places.filter(({ memberId, projectId }) => isId(memberId) && isId(projectId));
  if (known.length === 0) return [];
  const memberIds = known.map(({ memberId }) => memberId);
  const projectIds = known.map(({ projectId }) => projectId);
  const rows = await runFor<AccessRow & { readonly memberId: string }>(ctx, memberIds, LOAD_OTHERS, projectIds);
  return rows.map((row) => ({ ...toAccess(row), memberId: row.memberId }));
}

/** As `AccessesOf` says. */
export const listAccessBelow = async (
  ctx: Context,
  memberId: string,
  projectIds: readonly string[] | null,
): Promise<ProjectAccess[]> => (await runFor<AccessRow>(ctx, memberId, LOAD_BELOW, projectIds)).map(toAccess);

/** The caller's rights in all projects that it is a member of, in one statement. */
export const listAccess = async (ctx: Context): Promise<ProjectAccess[]> =>
  (await run<AccessRow>(ctx, LIST_ACCESS)).map(toAccess);

/** A whole project by ID, with its environments, in one statement. */
export async function findById(ctx: Context, projectId: string): Promise<ProjectRecord | undefined> {
  if (!isId(projectId)) return undefined;
  const [row] = await run<RecordRow>(ctx, BY_ID, projectId);
  return row && toRecord(row);
}

/** Whole projects by ID, in one statement: those that the caller is a member of, in no order. */
export const listByIds = async (ctx: Context, projectIds: readonly string[]): Promise<ProjectRecord[]> =>
  (await run<RecordRow>(ctx, BY_IDS, projectIds)).map(toRecord);

/** A whole project by its slug in the organization of the caller's token. */
export async function findBySlug(ctx: Context, slug: string): Promise<ProjectRecord | undefined> {
  const [row] = await run<RecordRow>(ctx, BY_SLUG, slug);
  return row && toRecord(row);
}

/**
 * The caller's projects in an order, then by ID, in one statement.
 *
 * @param type null: all types
 */
export async function listRecords(
  ctx: Context,
  type: ProjectKind | null,
  { order, value, id, since, limit }: OrderedBounds & { order: ListOrder },
): Promise<ProjectRecord[]> {
  const rows = await run<RecordRow>(ctx, LISTS.get(orderName(order)) as string, type, value, id, since, limit);
  return rows.map(toRecord);
}

/** How many projects the caller is a member of, of one type or of all. One statement for a whole request. */
export async function countProjects(ctx: Context, type: ProjectKind | null): Promise<number> {
  const counts = await batched(ctx, countsByType, '');
  return counts?.get(type ?? '') ?? 0;
}

/** The number of each type, and of all under an empty name: every request of the count is the same batch. */
const countsByType: BatchLoad<ReadonlyMap<string, number>> = async (ctx) => {
  const rows = await query<{ type: string; count: number }>(ctx, COUNT, [ctx.actor.id, ctx.organizationId]);
  const all = rows.reduce((sum, { count }) => sum + count, 0);
  return new Map([['', new Map([['', all], ...rows.map(({ type, count }) => [type, count] as const)])]]);
};

/**
 * Blocks other changes of a project's members and of the order of its environments until the commit. Inserts of rows
 * that belong to the project do not wait.
 *
 * @throws PROJECT_NOT_FOUND when it was deleted meanwhile
 */
export async function lockProject(tx: Transaction, { projectId }: ProjectAccess): Promise<void> {
  const [project] = await query(tx, 'select 1 from project where id = $1 for no key update', [projectId]);
  if (project === undefined) throw new AppError('PROJECT_NOT_FOUND');
}

/** The given key, or the default one, which nobody rotates or disables meanwhile. @throws KEY_NOT_FOUND, KEY_DISABLED */
export async function organizationKey(tx: Transaction, keyId: string | null): Promise<string> {
  if (keyId !== null && !isId(keyId)) throw new AppError('KEY_NOT_FOUND');
  const [key] = await query<{ id: string; isDisabled: boolean }>(
    tx,
    `select id, disabled_at is not null as "isDisabled" from organization_key
     where organization_id = $1 and case when $2::uuid is null then is_default else id = $2 end for share`,
    [tx.organizationId, keyId],
  );
  if (key === undefined) throw new AppError('KEY_NOT_FOUND');
  if (key.isDisabled) throw new AppError('KEY_DISABLED');
  return key.id;
}

function toAccess({
  rights: { ability, fingerprint },
  ...row
}: AccessRow & { readonly rights: Rights }): ProjectAccess {
  return {
    projectId: row.id,
    organizationId: row.organizationId,
    type: row.type,
    name: row.name,
    slug: row.slug,
    roles: [...new Set(row.roles)],
    ability,
    rulesFingerprint: fingerprint,
    enforceEncryptedSecretMetadata: row.enforceEncryptedSecretMetadata,
    revision: row.revision,
    membershipId: row.membershipId,
  };
}

const toRecord = (row: RecordRow & { readonly rights: Rights }): ProjectRecord => ({
  access: toAccess(row),
  description: row.description,
  defaultProduct: row.defaultProduct,
  autoCapitalization: row.autoCapitalization,
  version: row.version,
  upgradeStatus: row.upgradeStatus,
  pitVersionLimit: row.pitVersionLimit,
  kmsCertificateKeyId: row.kmsCertificateKeyId,
  kmsSecretManagerKeyId: row.kmsSecretManagerKeyId,
  auditLogsRetentionDays: row.auditLogsRetentionDays,
  hasDeleteProtection: row.hasDeleteProtection,
  secretSharing: row.secretSharing,
  showSnapshotsLegacy: row.showSnapshotsLegacy,
  secretDetectionIgnoreValuesSealed: row.secretDetectionIgnoreValuesSealed,
  secretDetectionIgnoreValuesVersion: row.secretDetectionIgnoreValuesVersion,
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
  environments: row.environments.map(toEnvironmentRecord),
});

/** The driver returns times as text. */
export const toEnvironmentRecord = (row: EnvironmentRecord): EnvironmentRecord => ({
  ...row,
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
});
