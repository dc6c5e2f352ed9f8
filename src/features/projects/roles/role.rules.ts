import * as z from 'zod';
import type { Rule } from '../../../kernel/authz/ability.js';
import { orderRulesOf } from '../../../kernel/list-order.js';
import { type CursorKey, decodeCursor, type PageRequest, pageRules } from '../../../kernel/paging.js';
import { idOf, personText, slugText } from '../../../kernel/value-rules.js';
import {
  builtInProjectRoles,
  builtInRoleId,
  isBuiltIn,
  Permissions,
  PROJECT_ROLES,
  RESERVED_ROLE_SLUGS,
} from '../../identity/permissions/public.js';

/** Slug of any role of a project. */
export const roleSlug = slugText(1, 64);

/** A role of a project, custom or built in. */
export interface Role {
  readonly id: string;
  readonly projectId: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  /** In order of evaluation: later ones win. */
  readonly rules: readonly Rule[];
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The built-in roles of a project, admin first. They are not rows: nothing is read. */
export const builtInRolesOf = (project: { id: string; createdAt: Date; updatedAt: Date }): Role[] =>
  builtInProjectRoles().map((role) => ({
    ...role,
    id: builtInRoleId(project.id, role.slug),
    projectId: project.id,
    version: 1,
    createdAt: project.createdAt,
    updatedAt: project.updatedAt,
  }));

/** Whether an ID is that of a built-in role. */
export const isBuiltInId = (projectId: string, id: string): boolean =>
  PROJECT_ROLES.some((slug) => builtInRoleId(projectId, slug) === id.toLowerCase());

const OWN = 'own';
const BUILT_IN = 'built-in';

/** Position of a role in the list of its project, where the built-in ones come last. */
export const roleCursorKey = ({ projectId, id, slug }: Pick<Role, 'projectId' | 'id' | 'slug'>): CursorKey => [
  isBuiltInId(projectId, id) ? BUILT_IN : OWN,
  slug,
];

/** A role after which a list continues. */
export interface RolePosition {
  readonly isBuiltIn: boolean;
  readonly slug: string;
}

/** The role after which a list continues; null: from the top. @throws VALIDATION_FAILED for an invalid cursor */
export function rolePosition({ after }: PageRequest): RolePosition | null {
  if (after == null) return null;
  const [, slug = ''] = decodeCursor(after, 2);
  return { isBuiltIn: isBuiltIn(slug), slug };
}

const ownSlug = roleSlug.refine((slug) => !RESERVED_ROLE_SLUGS.includes(slug), {
  error: `must not be one of ${RESERVED_ROLE_SLUGS.join(', ')}`,
  params: { code: 'RESERVED' },
});

const projectId = idOf('project');
const onlyIn = idOf('ID of the project that the role must belong to. Default: any project.').nullish();
const id = idOf('role');
const slug = ownSlug.meta({
  description:
    'Slug of the role, for example `staging-reader`: lowercase words joined by hyphens, 1 to 64 characters, unique ' +
    'in the project. Slugs of built-in roles are reserved.',
});
const name = personText(1, 64);
const description = personText(0, 1024).nullable();
const RULES = 'Up to 100 permission rules, in order of evaluation: later ones win.';

/** Input of `createProjectRole`. */
export const CreateRole = z
  .strictObject({
    projectId,
    slug,
    name: name.meta({ description: 'Name of the role, for example `Staging reader`: 1 to 64 characters.' }),
    description: description.meta({ description: 'Description of the role, up to 1,024 characters.' }).optional(),
    permissions: Permissions.meta({ description: RULES }),
  })
  .meta({ description: 'Fields of the new role.' });

/** Input of `updateProjectRole`: absent keeps, a null description clears it, a list of permissions replaces the one before. */
export const UpdateRole = z
  .strictObject({
    id,
    projectId: onlyIn,
    slug: ownSlug.meta({ description: 'Slug of the role. Memberships that refer to the role are updated.' }).optional(),
    name: name.meta({ description: 'Name of the role: 1 to 64 characters.' }).optional(),
    description: description.meta({ description: 'Description of the role; null clears it.' }).optional(),
    permissions: Permissions.meta({ description: `${RULES} Replaces the existing rules.` }).optional(),
  })
  .meta({ description: 'The role and its new fields.' });

/** Input of `deleteProjectRole`, and arguments of `projectRole`. */
export const OneRole = z.strictObject({ id, projectId: onlyIn }).meta({ description: 'The role to delete, by ID.' });

/** Arguments of `projectRoleBySlug`. */
export const RoleBySlug = z.strictObject({
  projectId,
  slug: roleSlug.meta({ description: 'Slug of the role, for example `viewer`.' }),
});

/** Arguments of `Project.roles`. */
export const RolePage = z.strictObject({ ...pageRules, ...orderRulesOf('by slug, the built-in ones last') });

/** Arguments of `projectRoles`. */
export const ListRoles = z.strictObject({ projectId, ...RolePage.shape });
