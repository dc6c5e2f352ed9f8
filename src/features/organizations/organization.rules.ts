import { z } from 'zod';
import { ORGANIZATION_ROLES } from '../../kernel/authz/roles.js';
import { newId } from '../../kernel/ids.js';

/** Lower-case words joined by single hyphens, 1 to 64. Source: decisions 4.1, behaviour 1.3. */
export const organizationSlug = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case words joined by single hyphens');

/** The built-in roles of an organization. */
export const organizationRole = z.enum(ORGANIZATION_ROLES);

/** A name for people: 1 to 64 characters after trimming, without control characters. */
export const displayName = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters');

/** Input of `createOrganization` and `createSubOrganization`. */
export const CreateOrganization = z.strictObject({ name: displayName, slug: organizationSlug.nullish() });

/** Input of `updateOrganization`: absent keeps. */
export const UpdateOrganization = z.strictObject({
  id: z.string(),
  name: displayName.optional(),
  slug: organizationSlug.optional(),
});

/** Arguments of `organization`. */
export const GetOrganization = z.strictObject({ id: z.string().nullish() });

/** Input of `deleteOrganization`. */
export const DeleteOrganization = z.strictObject({ id: z.string() });

/** A slug for a name that came without one: its ASCII words and four characters of a random id. */
export function slugFor(organizationName: string, random: string = newId()): string {
  const words = organizationName
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const stem = words.join('-').slice(0, 59).replace(/-$/, '');
  return `${stem === '' ? 'organization' : stem}-${random.slice(0, 4)}`;
}
