import * as z from 'zod';
import { orderRules } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, slugFor, slugText } from '../../../kernel/value-rules.js';
import { displayName, organizationRole } from '../../identity/organizations/public.js';

const name = displayName.meta({ description: 'Display name, 1 to 64 characters.' });
const slug = slugText(1, 64).meta({
  description:
    'Lowercase letters and digits, with single hyphens between words, for example `web-team`. 1 to 64 characters, unique in the organization.',
});
const roleSlug = organizationRole.meta({
  description: 'Slug of the role that the group gives its members in your organization, for example `member`.',
});
const id = idOf('group');

/** Input of `createGroup`. */
export const CreateGroup = z
  .strictObject({
    name,
    slug: slug.nullish().meta({
      description:
        'Lowercase letters and digits, with single hyphens between words, for example `web-team`. Unique in the organization. Default: derived from the name, with four random characters.',
    }),
    roleSlug: roleSlug.default('no-access'),
  })
  .meta({ description: 'Fields of the new group.' });

/** Input of `updateGroup`. */
export const UpdateGroup = z
  .strictObject({
    id,
    name: name.optional(),
    slug: slug.optional(),
    roleSlug: roleSlug.optional(),
  })
  .meta({ description: 'Fields to change. Omitted fields keep their values.' });

/** Input of `deleteGroup`, and arguments of `group`. */
export const OneGroup = z.strictObject({ id }).meta({ description: 'The group to delete, by ID.' });

/** Arguments of `groups`. */
export const ListGroups = z.strictObject({ ...pageRules, ...orderRules });

const groupId = id;
const organizationId = idOf('sub-organization');

/** Input of `linkGroup`. */
export const LinkGroup = z
  .strictObject({
    groupId,
    organizationId,
    roleSlug: organizationRole
      .default('no-access')
      .meta({ description: 'Slug of the role that the group gives its members in the sub-organization.' }),
  })
  .meta({ description: 'The group, the sub-organization and the role.' });

/** Input of `unlinkGroup`. */
export const UnlinkGroup = z
  .strictObject({ groupId, organizationId })
  .meta({ description: 'The group and the sub-organization.' });

/** A slug for a group that was given none. @param suffix 4 random letters or digits */
export const groupSlugFor = (text: string, suffix: string): string =>
  slugFor(text, suffix, { fallback: 'group', max: 64 });
