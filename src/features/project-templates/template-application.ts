import type { Transaction } from '../../kernel/context.js';
import { loadRow } from '../../kernel/database/rows.js';
import { newId } from '../../kernel/ids.js';
import { validationFailed } from '../../kernel/validation.js';
import type { ApplyTemplate } from '../projects/public.js';
import { findStoredByName } from './template.queries.js';
import type { TemplateContent, TemplateMember } from './template.rules.js';
import {
  INSERT_IDENTITIES,
  INSERT_MEMBERS,
  INSERT_ORGANIZATION_MEMBERS,
  INSERT_ROLES,
  LOCK_MEMBERSHIPS,
} from './template-application.sql.js';

/** Kind of a template member. */
export type MemberKind = 'user' | 'group' | 'identity';

/** A future member of a project. */
export interface Joining extends TemplateMember {
  readonly kind: MemberKind;
}

/** The members of a template, users first. */
export const joiningOf = ({
  users,
  groups,
  identities,
}: Pick<TemplateContent, 'users' | 'groups' | 'identities'>): Joining[] => [
  ...users.map((member) => ({ kind: 'user' as const, ...member })),
  ...groups.map((member) => ({ kind: 'group' as const, ...member })),
  ...identities.map((member) => ({ kind: 'identity' as const, ...member })),
];

/**
 * The given users, groups and identities whose own organization membership has not ended. Their memberships are locked until the
 * transaction ends.
 */
export async function lockPresent(tx: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const memberships = await LOCK_MEMBERSHIPS(tx, { organizationId: tx.organizationId, ids });
  return new Set(memberships.filter(({ hasEnded }) => !hasEnded).map(({ id }) => id));
}

/**
 * Applies a template of the organization to a project that is being created. Members who have left the organization are skipped.
 * The number of statements does not depend on the size of the template.
 *
 * @throws PROJECT_TEMPLATE_NOT_FOUND, VALIDATION_FAILED if the template is of another type
 */
export const applyTemplate: ApplyTemplate = async (tx, { template: name, type }) => {
  const { organizationId, actor } = tx;
  const template = await loadRow(tx, findStoredByName, { organizationId, name }, 'PROJECT_TEMPLATE_NOT_FOUND');
  if (template.type !== type)
    throw validationFailed([
      { path: 'template', code: 'WRONG_PROJECT_TYPE', message: 'must be a template of the same type as the project' },
    ]);
  const named = joiningOf(template);
  const present = await lockPresent(
    tx,
    named.map(({ id }) => id),
  );
  const joining = named.filter(({ id }) => present.has(id));
  const { id, version } = template;
  return {
    template: { id, version },
    environments: template.environments,
    creatorRoles: joining.find(({ id }) => id === actor.id)?.roles ?? [],
    facts: {
      templateId: id,
      templateVersion: version,
      skipped: named.filter((member) => !present.has(member.id)).map((member) => member.id),
    },
    fill: async (projectId) => {
      await fill(tx, projectId, { ...template, joining: joining.filter((member) => member.id !== actor.id) });
      return [];
    },
  };
};

interface Filling extends Pick<TemplateContent, 'roles' | 'projectManagedIdentities'> {
  readonly joining: readonly Joining[];
}

async function fill(
  tx: Transaction,
  projectId: string,
  { roles, projectManagedIdentities, joining }: Filling,
): Promise<void> {
  const { organizationId } = tx;
  if (roles.length > 0) await INSERT_ROLES(tx, { organizationId, projectId, roles: JSON.stringify(roles) });
  const made = projectManagedIdentities.map((identity) => ({ id: newId(), ...identity }));
  if (made.length > 0) {
    await INSERT_IDENTITIES(tx, { organizationId, projectId, identities: JSON.stringify(made) });
    await INSERT_ORGANIZATION_MEMBERS(tx, { organizationId, identityIds: made.map(({ id }) => id) });
  }
  const members = [
    ...joining.map(({ kind, id, roles: held }) => ({ [`${kind}Id`]: id, roles: held })),
    ...made.map(({ id, roles: held }) => ({ identityId: id, roles: held })),
  ];
  if (members.length > 0) await INSERT_MEMBERS(tx, { organizationId, projectId, members: JSON.stringify(members) });
}
