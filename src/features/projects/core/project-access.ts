import type { Ability, Access, Action } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';
import type { Context } from '../../../kernel/context.js';
import type { RowFrom } from '../../../kernel/database/statement.js';
import { isId } from '../../../kernel/ids.js';
import {
  type EffectiveRule,
  type Explanation,
  effectiveRules,
  explain,
  findProjectRights,
  projectRights,
  type Rights,
  type StoredRights,
  withSession,
} from '../../identity/permissions/public.js';
import type { ProjectKind } from './project.rules.js';
import { findAccesses, findAccessesOfOthers, findExplained, listAccesses, listAccessesBelow } from './project.sql.js';

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
  /** ID of the caller's membership of the project itself; null for one of all projects, and for none. */
  readonly membershipId: string | null;
}

/** Whether the caller has a role in the project: a list of all projects of the organization has others, too. */
export const isAccessible = ({ roles }: ProjectAccess): boolean => roles.length > 0;

type AccessRow = RowFrom<typeof listAccesses>;

/** Whose rights are read, in the organization of the caller's scope. */
interface Scope {
  readonly organizationId: string;
  readonly withRules: boolean;
}

/** A row with rights of a member, to which its session adds attributes. @param session absent: of the caller, those of its own */
const inSession = <R extends StoredRights>(
  { actor }: Context,
  row: R,
  memberId: unknown,
  session: string | null = memberId === actor.id ? (actor.sessionAttributes ?? null) : null,
): R => (session === null ? row : { ...row, attributes: withSession(row.attributes ?? null, session) });

/**
 * Rows with the rights of one or several members. The text of rules is read where this node does not have it by its
 * digest: then the statement is sent again, and its second result counts.
 *
 * @param session as for `inSession`
 */
export async function withRights<P extends object, R extends StoredRights & { readonly memberId?: string }>(
  ctx: Context,
  find: (ctx: Context, params: P & Scope) => Promise<R[]>,
  params: P,
  session?: string,
): Promise<(R & { readonly rights: Rights })[]> {
  const one = 'memberId' in params ? params.memberId : undefined;
  const ask = async (withRules: boolean) =>
    (await find(ctx, { ...params, organizationId: ctx.organizationId, withRules })).map((row) =>
      inSession(ctx, row, row.memberId ?? one, session),
    );
  const rows = (await ask(false)).map((row) => ({ ...row, rights: findProjectRights(row) }));
  if (rows.every((row) => row.rights !== undefined)) return rows as (R & { rights: Rights })[];
  return (await ask(true)).map((row) => ({ ...row, rights: projectRights(row) }));
}

/** Membership makes a project visible; the service itself is not a member of any. */
export const callerMembership = ({ actor }: Context) => ({ memberId: actor.id });

/**
 * The caller's rights in projects, by ID in lower case, in one statement. Unknown projects, and those that the caller
 * is not a member of, are left out.
 */
export async function findAccess(
  ctx: Context,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, ProjectAccess>> {
  const ids = projectIds.filter(isId);
  const rows =
    ids.length === 0 ? [] : await withRights(ctx, findAccesses, { ...callerMembership(ctx), projectIds: ids });
  return new Map(rows.map((row) => [row.id, toAccess(row)]));
}

/**
 * As `findAccess`, outside of transactions: one project without a statement of its own, as long as nothing of it has changed since this
 * node read it.
 */
export async function findCurrentAccess(
  ctx: Context,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, ProjectAccess>> {
  const [id = '', ...others] = projectIds;
  if (others.length > 0 || !isId(id)) return findAccess(ctx, projectIds);
  const own = { ...callerMembership(ctx), projectIds };
  const read = async () => {
    const [row] = await findAccesses(ctx, { ...own, organizationId: ctx.organizationId, withRules: false });
    return row === undefined ? null : { value: row, until: row.until, size: row.attributes?.length ?? 0 };
  };
  const { value: known, state } = await ctx.accessCache.find(nameIn(ctx, id), read, id);
  if (known === null) return new Map();
  const find = async (from: Context, asked: typeof own & Scope) =>
    asked.withRules ? findAccesses(from, asked) : [known];
  const [row] = await withRights(ctx, find, own);
  return new Map(row && [[id, { ...toAccess(row), revision: state?.revisions[id] ?? row.revision }]]);
}

const nameIn = ({ organizationId, actor }: Context, id: string): string =>
  `project ${organizationId} ${actor.id} ${id}`;

/** The same without a statement, where the look at the caller has just seen the project too. @param projectId in lower case */
export function accessFromSnapshot(ctx: Context, projectId: string): ProjectAccess | undefined {
  const state = ctx.accessSnapshot?.state;
  const revision = state?.revisions[projectId];
  if (state == null || revision === undefined) return undefined;
  const row = ctx.accessCache.current<AccessRow>(nameIn(ctx, projectId), state);
  const rights = row && findProjectRights(inSession(ctx, row, ctx.actor.id));
  return row && rights && { ...toAccess({ ...row, rights }), revision };
}

/**
 * Why a member of a project of the caller's organization may or may not perform an action there; undefined for one that
 * is not a member now. Does not check whether the caller may ask.
 *
 * @param asked `projectId` and `memberId` in lower case; `session` as in `withRights`
 */
export async function findExplanation(
  ctx: Context,
  asked: {
    readonly projectId: string;
    readonly memberId: string;
    readonly action: Action;
    readonly fields?: Fields;
    readonly session?: string;
  },
): Promise<Explanation | undefined> {
  const { projectId, memberId, action, fields, session } = asked;
  if (!isId(projectId) || !isId(memberId)) return undefined;
  const [row] = await withRights(ctx, findExplained, { memberId, projectId }, session);
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

/**
 * What a member may do right now in projects of the caller's organization and of those below it, in one statement. Whether the
 * caller may know that is not judged here.
 *
 * @param projectIds null: in all that it is a member of
 */
export const listAccessBelow = async (
  ctx: Context,
  memberId: string,
  projectIds: readonly string[] | null,
): Promise<ProjectAccess[]> => (await withRights(ctx, listAccessesBelow, { memberId, projectIds })).map(toAccess);

/** The caller's rights in all projects that it is a member of, in one statement. */
export const listAccess = async (ctx: Context): Promise<ProjectAccess[]> =>
  (await withRights(ctx, listAccesses, callerMembership(ctx))).map(toAccess);

/** A row with rights, as the access of the caller. */
export function toAccess({
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
