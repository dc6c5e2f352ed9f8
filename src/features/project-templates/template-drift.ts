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

/** A comparison of a project with the template that it was created from. */
export interface Drift extends Differences {
  readonly template: TemplateView;
  /** The version that the project was created from or last updated to. */
  readonly version: number;
}

/** A project and its template. */
export interface Compared {
  readonly drift: Drift;
  readonly state: ProjectState;
}

const READING: Readonly<Record<Part, readonly Action[]>> = {
  environments: ['environments:read'],
  roles: ['role:read'],
  members: ['member:read', 'identity:read', 'groups:read'],
};

/** @throws PERMISSION_DENIED if the caller cannot read the template or these parts of the project */
export function authorizeReading(ctx: Context, project: ProjectAccess, parts: readonly Part[]): void {
  authorize(ctx, 'project-templates:read');
  for (const part of parts) for (const action of READING[part]) authorize(project, action);
}

/** Whether the caller can read this part of the project. */
export const mayRead = ({ ability }: ProjectAccess, part: Part): boolean =>
  READING[part].every((action) => can(ability, action));

/**
 * Compares a project with its template; null if it has none. The result is stable in a transaction that locks the project.
 *
 * @param hold called with the IDs of the template's members before they are looked up
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

/** The subject of a project member in rules. */
export const kindOf = ({ memberKind }: Pick<MemberDifference, 'memberKind'>): MemberKind =>
  memberKind === 'project-identity' ? 'identity' : memberKind;

/** The member fields that conditions of rules compare. */
export const namesOf = ({ memberId, name, groupSlug }: MemberDifference) =>
  memberId === null ? undefined : { memberId, name, groupSlug };

/** Members that the caller can read. Members named by the template are readable with it. */
export const readable = <D extends Differences>({ ability }: ProjectAccess, differences: D): D => ({
  ...differences,
  members: differences.members.filter(
    (member) =>
      member.difference === 'missing' ||
      can(ability, `${subjectOf(kindOf(member))}:read`, fieldsOf(kindOf(member), namesOf(member))),
  ),
});
