import { type Action, authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { Identity } from '../../identity/organizations/public.js';
import { fieldsOf, Project, type ProjectAccess, ProjectRole, subjectOf } from '../../projects/public.js';
import { ProjectTemplate } from './template.entity.js';
import { findTemplates } from './template.queries.js';
import { type TemplateView, toTemplateView } from './template.view.js';
import { type MemberKind, membersOfTemplate } from './template-application.js';
import { listEnvironments, listMembers } from './template-drift.queries.js';
import {
  type Differences,
  differencesOf,
  type MemberDifference,
  type ProjectState,
  type TemplatePart,
} from './template-drift.rules.js';

/** A comparison of a project with the template that it was created from. */
export interface Drift extends Differences {
  readonly template: TemplateView;
  /** The version that the project was created from or last updated to. */
  readonly version: number;
}

/** A project and its template. */
interface Compared {
  readonly drift: Drift;
  readonly state: ProjectState;
}

const READING: Readonly<Record<TemplatePart, readonly Action[]>> = {
  environments: ['environments:read'],
  roles: ['role:read'],
  members: ['member:read', 'identity:read', 'groups:read'],
};

/** @throws PERMISSION_DENIED if the caller cannot read the template or these parts of the project */
export function authorizeReading(ctx: Context, project: ProjectAccess, parts: readonly TemplatePart[]): void {
  authorize(ctx, 'project-templates:read');
  for (const part of parts) for (const action of READING[part]) authorize(project, action);
}

/** Whether the caller can read this part of the project. */
export const mayRead = ({ ability }: ProjectAccess, part: TemplatePart): boolean =>
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
  const em = emOf(ctx);
  const origin = await em.findOne(Project, { id: projectId }, { fields: ['templateId', 'templateVersion'] });
  const { templateId: id, templateVersion: version } = origin ?? {};
  if (id == null || version == null) return null;
  const stored = await em.findOne(ProjectTemplate, { organizationId, id });
  if (stored === null) return null;
  const named = membersOfTemplate(stored).map((member) => member.id);
  if (named.length > 0) await hold(named);
  const [row] = await findTemplates(ctx, { organizationId, ids: [id] });
  if (row === undefined) return null;
  const roles = await em.find(ProjectRole, { projectId }, { fields: ['slug', 'name', 'permissions'] });
  const state = {
    environments: await listEnvironments(ctx, { projectId }),
    roles: roles.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)),
    members: await listMembers(ctx, { projectId }),
    ownIdentities: await em.find(
      Identity,
      { projectId },
      { fields: ['name'], orderBy: { createdAt: 'asc', id: 'asc' } },
    ),
  };
  const template = toTemplateView(row);
  const differences = differencesOf({ ...template, namedIds: new Set(named) }, state);
  return { drift: { template, version, ...differences }, state };
}

/** The subject of a project member in rules. */
export const subjectKindOf = ({ memberKind }: Pick<MemberDifference, 'memberKind'>): MemberKind =>
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
      can(ability, `${subjectOf(subjectKindOf(member))}:read`, fieldsOf(subjectKindOf(member), namesOf(member))),
  ),
});
