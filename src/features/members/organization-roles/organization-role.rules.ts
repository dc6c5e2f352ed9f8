import * as z from 'zod';
import { orderRulesOf } from '../../../kernel/list-order.js';
import { type CursorKey, decodeCursor, type PageRequest, pageRules } from '../../../kernel/paging.js';
import { idOf, personText, slugText } from '../../../kernel/value-rules.js';
import {
  isBuiltInOfOrganization,
  ORGANIZATION_ROLES,
  OrganizationPermissions,
} from '../../identity/permissions/public.js';

/** Slugs that no role of an organization's own can have. */
const RESERVED: readonly string[] = [...ORGANIZATION_ROLES, 'custom'];

const anySlug = slugText(1, 64);
const id = idOf('role');
const slug = anySlug
  .refine((given) => !RESERVED.includes(given), {
    error: `must not be one of ${RESERVED.join(', ')}`,
    params: { code: 'RESERVED' },
  })
  .meta({
    description:
      'Lowercase letters and digits, with single hyphens between words, for example `web-shop`. 1 to 64 characters, unique in the organization, and not the slug of a built-in role. If you change it, members keep the role.',
  });
const name = personText(1, 64).meta({ description: 'Display name, 1 to 64 characters.' });
const description = personText(0, 1024)
  .nullish()
  .meta({ description: 'Description of the role, up to 1,024 characters. Null: none.' });
const permissions = OrganizationPermissions.meta({
  description:
    'Permission rules of the role, up to 100. A later rule overrides an earlier one. The list replaces the current rules.',
});

export const ListOrganizationRoles = z.strictObject({
  ...pageRules,
  ...orderRulesOf('by slug, built-in roles last'),
});

export const OneOrganizationRole = z
  .strictObject({ id })
  .meta({ description: 'The role to delete, by ID. It must not be in use.' });

export const OrganizationRoleBySlug = z.strictObject({
  slug: anySlug.meta({ description: 'Slug of the role, for example `admin`.' }),
});

export const CreateOrganizationRole = z
  .strictObject({ slug, name, description, permissions })
  .meta({ description: 'Fields of the new role.' });

export const UpdateOrganizationRole = z
  .strictObject({
    id,
    slug: slug.optional(),
    name: name.optional(),
    description,
    permissions: permissions.optional(),
  })
  .meta({ description: 'Fields to change. Omitted fields keep their values.' });

const OWN = 'own';
const BUILT_IN = 'built-in';

/** Position of a role in the list, where the built-in ones come last. */
export const roleKey = ({ slug }: { readonly slug: string }): CursorKey => [
  isBuiltInOfOrganization(slug) ? BUILT_IN : OWN,
  slug,
];

/** What follows on a role that may have been deleted meanwhile. @param slug null: all */
export function rolesAfterSlug<R extends { readonly slug: string }>(
  roles: readonly R[],
  slug: string | null,
): readonly R[] {
  if (slug === null) return roles;
  if (isBuiltInOfOrganization(slug)) return roles.slice(roles.findIndex((role) => role.slug === slug) + 1);
  return roles.filter((role) => isBuiltInOfOrganization(role.slug) || role.slug > slug);
}

/** The slug that a page continues after. Null: the first page. @throws VALIDATION_FAILED for a cursor of another list */
export function slugOfCursor({ after }: PageRequest): string | null {
  if (after == null) return null;
  const [, slug = ''] = decodeCursor(after, 2);
  return slug;
}
