import type { z } from 'zod';
import type { Transaction } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { validationFailed } from '../../../kernel/validation.js';
import { Identity, OrganizationMembership } from '../../identity/organizations/public.js';
import { type CreateProject, type ProjectContents, ProjectMembership, ProjectRole } from '../../projects/public.js';
import { ProjectTemplate } from './template.entity.js';
import type { TemplateContent, TemplateMember, TemplateRole } from './template.rules.js';
import { lockMemberships } from './template-members.sql.js';

/** Kind of a template member. */
export type MemberKind = 'user' | 'group' | 'identity';

/** A future member of a project. */
export interface FutureMember extends TemplateMember {
  readonly kind: MemberKind;
}

/** The members of a template, users first. */
export const membersOfTemplate = ({
  users,
  groups,
  identities,
}: Pick<TemplateContent, 'users' | 'groups' | 'identities'>): FutureMember[] => [
  ...users.map((member) => ({ kind: 'user' as const, ...member })),
  ...groups.map((member) => ({ kind: 'group' as const, ...member })),
  ...identities.map((member) => ({ kind: 'identity' as const, ...member })),
];

/**
 * The given users, groups and identities whose own organization membership has not ended. Their memberships are locked until the
 * transaction ends.
 */
export async function lockCurrentMembers(tx: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const memberships = await lockMemberships(tx, { organizationId: tx.organizationId, ids });
  return new Set(memberships.filter(({ hasEnded }) => !hasEnded).map(({ id }) => id));
}

/**
 * Applies a template of the organization to a project that is being created. Members who have left the organization are skipped.
 * The number of statements does not depend on the size of the template.
 *
 * @throws PROJECT_TEMPLATE_NOT_FOUND, VALIDATION_FAILED if the template is of another type
 */
export async function applyTemplate(
  tx: Transaction,
  { template: name, type }: Pick<z.output<typeof CreateProject>, 'template' | 'type'>,
): Promise<ProjectContents> {
  const { organizationId, actor } = tx;
  const template = await tx.em.findOne(ProjectTemplate, { organizationId, name });
  if (template === null) throw new AppError('PROJECT_TEMPLATE_NOT_FOUND');
  if (template.type !== type)
    throw validationFailed([
      { path: 'template', code: 'WRONG_PROJECT_TYPE', message: 'must be a template of the same type as the project' },
    ]);
  const named = membersOfTemplate(template);
  const present = await lockCurrentMembers(
    tx,
    named.map(({ id }) => id),
  );
  const joining = named.filter(({ id }) => present.has(id));
  const { id, version } = template;
  return {
    template: { id, version },
    environments: template.environments ?? null,
    creatorRoles: joining.find(({ id }) => id === actor.id)?.roles ?? [],
    facts: {
      templateId: id,
      templateVersion: version,
      skipped: named.filter((member) => !present.has(member.id)).map((member) => member.id),
    },
    fill: async (projectId) => {
      const { roles, projectManagedIdentities } = template;
      await fill(tx, projectId, {
        roles,
        projectManagedIdentities,
        joining: joining.filter((member) => member.id !== actor.id),
      });
      return [];
    },
  };
}

interface Filling extends Pick<TemplateContent, 'roles' | 'projectManagedIdentities'> {
  readonly joining: readonly FutureMember[];
}

async function fill(
  tx: Transaction,
  projectId: string,
  { roles, projectManagedIdentities, joining }: Filling,
): Promise<void> {
  const made = projectManagedIdentities.map((identity) => ({ id: newId(), ...identity }));
  await insertRoles(tx, projectId, roles);
  await insertIdentities(tx, projectId, made);
  await insertMembers(tx, projectId, [
    ...joining,
    ...made.map((identity) => ({ kind: 'identity' as const, ...identity })),
  ]);
}

/** Adds roles to a project. */
export async function insertRoles(tx: Transaction, projectId: string, roles: readonly TemplateRole[]): Promise<void> {
  if (roles.length === 0) return;
  const { organizationId } = tx;
  await tx.em.insertMany(
    ProjectRole,
    roles.map(({ slug, name, rules }) => ({ id: newId(), organizationId, projectId, slug, name, permissions: rules })),
  );
}

/** Creates identities owned by a project, as members of the organization without permissions. */
export async function insertIdentities(
  tx: Transaction,
  projectId: string,
  identities: readonly { readonly id: string; readonly name: string }[],
): Promise<void> {
  if (identities.length === 0) return;
  const { organizationId } = tx;
  await tx.em.insertMany(
    Identity,
    identities.map(({ id, name }) => ({ id, organizationId, projectId, name })),
  );
  await tx.em.insertMany(
    OrganizationMembership,
    identities.map(({ id }) => ({ id: newId(), organizationId, identityId: id, role: 'no-access' })),
  );
}

/** Adds members to a project. */
export async function insertMembers(
  tx: Transaction,
  projectId: string,
  members: readonly FutureMember[],
): Promise<void> {
  if (members.length === 0) return;
  const { organizationId } = tx;
  await tx.em.insertMany(
    ProjectMembership,
    members.map(({ kind, id, roles }) => ({
      id: newId(),
      organizationId,
      projectId,
      userId: kind === 'user' ? id : null,
      groupId: kind === 'group' ? id : null,
      identityId: kind === 'identity' ? id : null,
      roles: [...roles],
    })),
  );
}
