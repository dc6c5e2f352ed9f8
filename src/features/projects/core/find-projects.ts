import { LockMode } from '@mikro-orm/core';
import type { Context, Transaction } from '../../../kernel/context.js';
import { OrganizationKey } from '../../../kernel/crypto/keys.entity.js';
import { type BatchLoad, batched } from '../../../kernel/database/batched.js';
import { loadRow } from '../../../kernel/database/rows.js';
import type { RowFrom } from '../../../kernel/database/statement.js';
import { AppError } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import type { ListOrder, OrderedBounds } from '../../../kernel/list-order.js';
import type { Rights } from '../../identity/permissions/public.js';
import type { EnvironmentRecord } from './environment.entity.js';
import type { ProjectKind, ProjectScope } from './project.rules.js';
import {
  countMemberProjects,
  countProjectsByType,
  countProjectsOfOrganization,
  findProjectBySlug,
  findProjects,
  listProjects,
  listProjectsOfOrganization,
  lockProjectRow,
} from './project.sql.js';
import { callerMembership, isAccessible, type ProjectAccess, toAccess, withRights } from './project-access.js';

type ProjectRow = RowFrom<typeof findProjects>;

/** A whole project with its environments, as one caller sees it: its row, and the caller's access. */
export interface ProjectRecord extends Omit<ProjectRow, 'environments'> {
  readonly access: ProjectAccess;
  /** By position. */
  readonly environments: readonly EnvironmentRecord[];
}

/** A whole project by ID, with its environments, in one statement. */
export async function findById(ctx: Context, projectId: string): Promise<ProjectRecord | undefined> {
  const [record] = isId(projectId) ? await listByIds(ctx, [projectId]) : [];
  return record;
}

/** Whole projects by ID, in one statement: those that the caller is a member of, in no order. */
export const listByIds = async (ctx: Context, projectIds: readonly string[]): Promise<ProjectRecord[]> =>
  (await withRights(ctx, findProjects, { ...callerMembership(ctx), projectIds })).map(toRecord);

/** A whole project by its slug in the organization of the caller's token. */
export async function findBySlug(ctx: Context, slug: string): Promise<ProjectRecord | undefined> {
  const [row] = await withRights(ctx, findProjectBySlug, { ...callerMembership(ctx), slug });
  return row && toRecord(row);
}

/** Of which projects a list is. */
interface ListedIn {
  readonly scope: ProjectScope;
  /** Null: all types. */
  readonly type: ProjectKind | null;
}

/**
 * The caller's projects, or all of its organization, in an order, then by ID, in one statement. Whether the caller may
 * see all is not judged here.
 */
export async function listRecords(
  ctx: Context,
  { scope, type }: ListedIn,
  { order, ...bounds }: OrderedBounds & { order: ListOrder },
): Promise<ProjectRecord[]> {
  const list = scope === 'accessible' ? listProjects : listProjectsOfOrganization;
  const inOrder = (from: Context, asked: Parameters<typeof list>[2]) => list(from, order, asked);
  const rows = await withRights(ctx, inOrder, { ...callerMembership(ctx), type, ...bounds });
  return rows.map(toRecord).map((record) => (isAccessible(record.access) ? record : withoutContents(record)));
}

/** What describes the contents of a project is for those who have access to it. */
const withoutContents = (record: ProjectRecord): ProjectRecord => ({ ...record, description: null, environments: [] });

/** How many projects such a list has. One statement of each kind for a whole request. */
export async function countProjects(ctx: Context, { scope, type }: ListedIn): Promise<number> {
  if (scope === 'accessible' && type === null) return (await batched(ctx, countOfAll, '')) ?? 0;
  const counts = await batched(ctx, scope === 'accessible' ? countsByType : countsInOrganization, '');
  return [...(counts ?? [])].reduce((sum, [each, count]) => (type === null || each === type ? sum + count : sum), 0);
}

const callerInOrganization = (ctx: Context): { memberId: string; organizationId: string } => ({
  ...callerMembership(ctx),
  organizationId: ctx.organizationId,
});

/** Every request of the count is the same batch. */
const countOfAll: BatchLoad<number> = async (ctx) => {
  const [row] = await countMemberProjects(ctx, callerInOrganization(ctx));
  return new Map([['', row?.count ?? 0]]);
};

type Counts = ReadonlyMap<string, number>;

const countsByType: BatchLoad<Counts> = async (ctx) =>
  toCounts(await countProjectsByType(ctx, callerInOrganization(ctx)));

const countsInOrganization: BatchLoad<Counts> = async (ctx) => toCounts(await countProjectsOfOrganization(ctx, ctx));

const toCounts = (rows: readonly { readonly type: string; readonly count: number }[]): Map<string, Counts> =>
  new Map([['', new Map(rows.map(({ type, count }) => [type, count]))]]);

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
  const wanted = keyId === null ? { isDefault: true } : { id: keyId };
  const key = await tx.em.findOne(
    OrganizationKey,
    { organizationId: tx.organizationId, ...wanted },
    { lockMode: LockMode.PESSIMISTIC_READ },
  );
  if (key === null) throw new AppError('KEY_NOT_FOUND');
  if (key.disabledAt != null) throw new AppError('KEY_DISABLED');
  return key.id;
}

/** Adds to the row, which nobody else has: a copy of each row of a list would cost more than all else here. */
const toRecord = (row: ProjectRow & { readonly rights: Rights }): ProjectRecord =>
  Object.assign(row, {
    access: toAccess(row),
    environments: row.environments.map((environment) => ({
      ...environment,
      createdAt: new Date(environment.createdAt),
      updatedAt: new Date(environment.updatedAt),
    })),
  });
