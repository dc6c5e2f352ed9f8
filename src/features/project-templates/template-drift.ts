import { type Action, authorize, can } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { fieldsOf, type ProjectAccess, subjectOf } from '../projects/public.js';
import { findStored, findTemplate } from './template.queries.js';
import { type TemplateView, toTemplateView } from './template.view.js';
import { joiningOf, type MemberKind } from './template-application.js';
import {
  type Differences,
  differencesOf,
  type MemberDifference,
  type Part,
  type ProjectState,
} from './template-drift.rules.js';
import {
  FIND_ENVIRONMENTS,
  FIND_OWN_IDENTITIES,
  FIND_PROJECT_MEMBERS,
  FIND_ROLES,
  FIND_TEMPLATE_OF,
} from './template-drift.sql.js';

/** How a project differs from the template that it was made from. */
export interface Drift extends Differences {
  readonly template: TemplateView;
  /** The version that the project was made from, or brought up to date with. */
  readonly version: number;
}

/** A project beside its template. */
export interface Compared {
  readonly drift: Drift;
  readonly state: ProjectState;
}

const READING: Readonly<Record<Part, readonly Action[]>> = {
  environments: ['environments:read'],
  roles: ['role:read'],
  members: ['member:read', 'identity:read', 'groups:read'],
};

/** @throws PERMISSION_DENIED for who may not read the template, or these parts of the project */
export function authorizeReading(ctx: Context, project: ProjectAccess, parts: readonly Part[]): void {
  authorize(ctx, 'project-templates:read');
  for (const part of parts) for (const action of READING[part]) authorize(project, action);
}

/** Whether the caller may read this part of the project. */
export const mayRead = ({ ability }: ProjectAccess, part: Part): boolean =>
  READING[part].every((action) => can(ability, action));

/**
 * Compares a project with its template; null where it has none. In a transaction that holds the project it stays so.
 *
 * @param hold is called with the ids of those whom the template names, before they are looked up
 */
export async function compare(
  ctx: Context,
  { projectId }: ProjectAccess,
  hold: (ids: readonly string[]) => Promise<unknown> = async () => undefined,
): Promise<Compared | null> {
  const { organizationId } = ctx;
  const [origin] = await FIND_TEMPLATE_OF(ctx, { projectId });
  if (origin === undefined || origin.templateId === null || origin.version === null) return null;
  const key = { organizationId, id: origin.templateId };
  const [stored] = await findStored(ctx, key);
  if (stored === undefined) return null;
  const named = joiningOf(stored).map(({ id }) => id);
  if (named.length > 0) await hold(named);
  const [row] = await findTemplate(ctx, key);
  if (row === undefined) return null;
  const state = {
    environments: await FIND_ENVIRONMENTS(ctx, { projectId }),
    roles: await FIND_ROLES(ctx, { projectId }),
    members: await FIND_PROJECT_MEMBERS(ctx, { projectId }),
    ownIdentities: await FIND_OWN_IDENTITIES(ctx, { projectId }),
  };
  const template = toTemplateView(row);
  const differences = differencesOf({ ...template, namedIds: new Set(named) }, state);
  return { drift: { template, version: origin.version, ...differences }, state };
}

/** What a member of a project is to rules about members. */
export const kindOf = ({ memberKind }: Pick<MemberDifference, 'memberKind'>): MemberKind =>
  memberKind === 'project-identity' ? 'identity' : memberKind;

/** What conditions of rules look at of a member. */
export const namesOf = ({ memberId, name, groupSlug }: MemberDifference) =>
  memberId === null ? undefined : { memberId, name, groupSlug };

/** Members whom the caller may read. What the template names it may read anyway. */
export const readable = <D extends Differences>({ ability }: ProjectAccess, differences: D): D => ({
  ...differences,
  members: differences.members.filter(
    (member) =>
      member.difference === 'missing' ||
      can(ability, `${subjectOf(kindOf(member))}:read`, fieldsOf(kindOf(member), namesOf(member))),
  ),
});
