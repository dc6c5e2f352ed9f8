import type { Ability, Access, Action } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { type BatchLoad, batched } from '../../../kernel/database/batched.js';
import { loadRow } from '../../../kernel/database/rows.js';
import type { RowFrom } from '../../../kernel/database/statement.js';
import { AppError } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import type { ListOrder, OrderedBounds } from '../../../kernel/list-order.js';
import {
  type EffectiveRule,
  type Explanation,
  effectiveRules,
  explain,
  findProjectRights,
  type HeldRoles,
  projectRights,
  type Rights,
} from '../../permissions/public.js';
import { lockProjectRow } from './project.queries.js';
import type { ProjectKind } from './project.rules.js';
import {
  countProjectsByType,
  type EnvironmentRecord,
  findAccesses,
  findAccessesOfOthers,
  findExplained,
  findProject,
  findProjectBySlug,
  findProjects,
  holdKey,
  listAccesses,
  listAccessesBelow,
  listProjects,
} from './project.sql.js';

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

type AccessRow = RowFrom<typeof findAccesses>;
type ProjectRow = RowFrom<typeof findProject>;

/** Whose rights are read, in the organization of the caller's scope. */
interface Scope {
  readonly organizationId: string;
  readonly withRules: boolean;
}

/**
 * Rows with the rights of one or several members. The text of rules is read where this node does not have it by its
 * digest: then the statement is sent again, and its second result counts.
 */
async function withRights<P extends object, R extends HeldRoles>(
  ctx: Context,
  find: (ctx: Context, params: P & Scope) => Promise<R[]>,
  params: P,
): Promise<(R & { readonly rights: Rights })[]> {
  const ask = (withRules: boolean) => find(ctx, { ...params, organizationId: ctx.organizationId, withRules });
  const rows = (await ask(false)).map((row) => ({ ...row, rights: findProjectRights(row) }));
  if (rows.every((row) => row.rights !== undefined)) return rows as (R & { rights: Rights })[];
  return (await ask(true)).map((row) => ({ ...row, rights: projectRights(row) }));
}

/** Membership makes a project visible; the service itself is not a member of any. */
const ownIn = ({ actor }: Context) => ({ memberId: actor.id });

/**
 * The caller's rights in projects, by ID in lower case, in one statement. Unknown projects, and those that the caller
 * is not a member of, are left out.
 */
export async function findAccess(
  ctx: Context,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, ProjectAccess>> {
  const ids = projectIds.filter(isId);
  const rows = ids.length === 0 ? [] : await withRights(ctx, findAccesses, { ...ownIn(ctx), projectIds: ids });
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
  const [row] = await withRights(ctx, findExplained, { memberId, projectId });
  return row && explain(row.rights, row, action, fields);
}

/** All rules that apply to a member of a project, as `findExplanation` finds one of them. */
export async function findEffectiveRules(
  ctx: Context,
  { projectId, memberId }: { readonly projectId: string; readonly memberId: string },
): Promise<readonly EffectiveRule[] | undefined> {
  if (!isId(projectId) || !isId(memberId)) return undefined;
  const [row] = await withRights(ctx, findExplained, { memberId, projectId });
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
  const rows = await withRights(ctx, findAccessesOfOthers, { memberIds, projectIds });
  return rows.map((row) => ({ ...toAccess(row), memberId: row.memberId }));
}

/** As `AccessesOf` says. */
export const listAccessBelow = async (
  ctx: Context,
  memberId: string,
  projectIds: readonly string[] | null,
): Promise<ProjectAccess[]> => (await withRights(ctx, listAccessesBelow, { memberId, projectIds })).map(toAccess);

/** The caller's rights in all projects that it is a member of, in one statement. */
export const listAccess = async (ctx: Context): Promise<ProjectAccess[]> =>
  (await withRights(ctx, listAccesses, ownIn(ctx))).map(toAccess);

/** A whole project by ID, with its environments, in one statement. */
export async function findById(ctx: Context, projectId: string): Promise<ProjectRecord | undefined> {
  if (!isId(projectId)) return undefined;
  const [row] = await withRights(ctx, findProject, { ...ownIn(ctx), projectId });
  return row && toRecord(row);
}

/** Whole projects by ID, in one statement: those that the caller is a member of, in no order. */
export const listByIds = async (ctx: Context, projectIds: readonly string[]): Promise<ProjectRecord[]> =>
  (await withRights(ctx, findProjects, { ...ownIn(ctx), projectIds })).map(toRecord);

/** A whole project by its slug in the organization of the caller's token. */
export async function findBySlug(ctx: Context, slug: string): Promise<ProjectRecord | undefined> {
  const [row] = await withRights(ctx, findProjectBySlug, { ...ownIn(ctx), slug });
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
  { order, ...bounds }: OrderedBounds & { order: ListOrder },
): Promise<ProjectRecord[]> {
  const inOrder = (from: Context, asked: Parameters<typeof listProjects>[2]) => listProjects(from, order, asked);
  const rows = await withRights(ctx, inOrder, { ...ownIn(ctx), type, ...bounds });
  return rows.map(toRecord);
}

/** How many projects the caller is a member of, of one type or of all. One statement for a whole request. */
export async function countProjects(ctx: Context, type: ProjectKind | null): Promise<number> {
  const counts = await batched(ctx, countsByType, '');
  return counts?.get(type ?? '') ?? 0;
}

/** The number of each type, and of all under an empty name: every request of the count is the same batch. */
const countsByType: BatchLoad<ReadonlyMap<string, number>> = async (ctx) => {
  const rows = await countProjectsByType(ctx, { ...ownIn(ctx), organizationId: ctx.organizationId });
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
  await loadRow(tx, lockProjectRow, { id: projectId }, 'PROJECT_NOT_FOUND');
}

/** The given key, or the default one, which nobody rotates or disables meanwhile. @throws KEY_NOT_FOUND, KEY_DISABLED */
export async function organizationKey(tx: Transaction, keyId: string | null): Promise<string> {
  if (keyId !== null && !isId(keyId)) throw new AppError('KEY_NOT_FOUND');
  const [key] = await holdKey(tx, { organizationId: tx.organizationId, keyId });
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

const toRecord = (row: ProjectRow & { readonly rights: Rights }): ProjectRecord => ({
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
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  environments: row.environments.map((environment) => ({
    ...environment,
    createdAt: new Date(environment.createdAt),
    updatedAt: new Date(environment.updatedAt),
  })),
});
