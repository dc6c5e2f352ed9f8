import { z } from 'zod';
import { pageRules } from '../../kernel/paging.js';
import { idOf } from '../../kernel/text-rules.js';
import { displayName, organizationRole } from '../organizations/public.js';

const name = displayName.meta({ description: 'What people call it, 1 to 64 characters.' });
const roleSlug = organizationRole.meta({ description: 'Slug of the role that it has in the organization.' });
const id = idOf('The machine identity.');

/** Input of `createIdentity`; without an organization it is that of the caller. Source: behaviour 10 (Identities). */
export const CreateIdentity = z
  .strictObject({
    name,
    organizationId: idOf(
      'Your organization, which shall own it; any other is not found. That of your token when absent.',
    ).nullish(),
    roleSlug: roleSlug.default('no-access'),
  })
  .meta({ description: 'A new machine identity.' });

/** Input of `updateIdentity`. */
export const UpdateIdentity = z
  .strictObject({ id, name: name.optional(), roleSlug: roleSlug.optional() })
  .meta({ description: 'Changes of a machine identity. What is absent stays.' });

/** Input of `deleteIdentity`, and arguments of `identity`. */
export const OneIdentity = z.strictObject({ id }).meta({ description: 'Which machine identity.' });

/** Arguments of `identities`. */
export const ListIdentities = z.strictObject({
  organizationId: idOf('Your organization; any other is not found.').nullish(),
  ...pageRules,
});
