import { z } from 'zod';
import { orderRules } from '../../kernel/list-order.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf, slugFor, slugText } from '../../kernel/text-rules.js';
import { displayName, organizationRole } from '../organizations/public.js';

const name = displayName.meta({ description: 'What people call it, 1 to 64 characters.' });
const slug = slugText(1, 64).meta({
  description: 'Lower-case words joined by hyphens, as `web-team`, 1 to 64 characters, unique in the organization.',
});
const roleSlug = organizationRole.meta({
  description: 'Slug of the role that its members have in your organization by it.',
});
const id = idOf('group');

/** Input of `createGroup`. Source: interface of clients (Groups). */
export const CreateGroup = z
  .strictObject({
    name,
    slug: slug
      .nullish()
      .meta({ description: 'Unique in the organization; made from the name and four random characters when absent.' }),
    roleSlug: roleSlug.default('no-access'),
  })
  .meta({ description: 'A new group of your organization.' });

/** Input of `updateGroup`. */
export const UpdateGroup = z
  .strictObject({
    id,
    name: name.optional(),
    slug: slug.optional(),
    roleSlug: roleSlug.optional(),
  })
  .meta({ description: 'Changes of a group. What is absent stays.' });

/** Input of `deleteGroup`, and arguments of `group`. */
export const OneGroup = z.strictObject({ id }).meta({ description: 'Which group.' });

/** Arguments of `groups`. */
export const ListGroups = z.strictObject({ ...pageRules, ...orderRules });

const groupId = id;
const organizationId = idOf('The sub-organization; any other is not found.');

/** Input of `linkGroup`. */
export const LinkGroup = z
  .strictObject({
    groupId,
    organizationId,
    roleSlug: organizationRole
      .default('no-access')
      .meta({ description: 'Slug of the role that its members have there by it, of that organization.' }),
  })
  .meta({ description: 'Which group shall be what in which sub-organization.' });

/** Input of `unlinkGroup`. */
export const UnlinkGroup = z
  .strictObject({ groupId, organizationId })
  .meta({ description: 'Which group leaves which sub-organization.' });

/** A slug for a group that was given none. @param suffix 4 random letters or digits */
export const groupSlugFor = (text: string, suffix: string): string =>
  slugFor(text, suffix, { fallback: 'group', max: 64 });
