import { z } from 'zod';
import { orderRules } from '../../kernel/list-order.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf, personText } from '../../kernel/text-rules.js';
import { EVEN_IF_FAULTY, looseTexts } from '../../kernel/validation.js';
import { displayName, organizationRole } from '../organizations/public.js';
import { MAX_METADATA_KEY } from '../permissions/public.js';

const name = displayName.meta({ description: 'What people call it, 1 to 64 characters.' });
const roleSlug = organizationRole.meta({ description: 'Slug of the role that it has in the organization.' });
const id = idOf('machine identity');
const MAX_METADATA = 50;
/** What rules of roles can name: `{{identity.metadata.team}}`. */
export const Metadata = z
  .strictObject({
    key: z
      .string()
      .regex(new RegExp(`^[A-Za-z0-9_-]{1,${MAX_METADATA_KEY}}$`), 'must be letters, digits, _ and -')
      .meta({ description: `Letters, digits, \`_\` and \`-\`, 1 to ${MAX_METADATA_KEY} characters.` }),
    value: personText(0, 255).meta({ description: 'Up to 255 characters.' }),
  })
  .meta({ description: 'An entry of the metadata of a machine identity.' });
const metadata = z
  .array(Metadata)
  .max(MAX_METADATA)
  .refine(
    (entries) => {
      const keys = looseTexts(entries, 'key');
      return new Set(keys).size === keys.length;
    },
    {
      ...EVEN_IF_FAULTY,
      error: 'must name each key once',
    },
  )
  .meta({
    description:
      'Up to 50 entries, each key once. Rules of roles can name them: needs GRANT_PRIVILEGES too, and a change cannot give rights that you do not have.',
  });

/** Its role in the organization gives it nothing. */
export const OWNED_BY_PROJECT =
  'must be no-access for an identity of a project, which gets its roles as a member of that';

/** Input of `createIdentity`; without an organization it is that of the caller. Source: behaviour 10 (Identities). */
export const CreateIdentity = z
  .strictObject({
    name,
    organizationId: idOf(
      'Your organization, which shall own it; any other is not found. That of your token when absent.',
    ).nullish(),
    projectId: idOf(
      'The project that shall own it, and of which it is a member with the role `no-access` until it gets others; absent for an identity of the organization.',
    ).nullish(),
    roleSlug: roleSlug.default('no-access'),
    metadata: metadata.optional(),
  })
  .refine(({ projectId, roleSlug: role }) => projectId == null || role === 'no-access', {
    path: ['roleSlug'],
    error: OWNED_BY_PROJECT,
    params: { code: 'OWNED_BY_PROJECT' },
  })
  .meta({ description: 'A new machine identity.' });

/** Input of `updateIdentity`. */
export const UpdateIdentity = z
  .strictObject({ id, name: name.optional(), roleSlug: roleSlug.optional(), metadata: metadata.optional() })
  .meta({ description: 'Changes of a machine identity. What is absent stays.' });

/** Input of `deleteIdentity`, and arguments of `identity`. */
export const OneIdentity = z.strictObject({ id }).meta({ description: 'Which machine identity.' });

/** Arguments of `identities`. */
export const ListIdentities = z.strictObject({
  organizationId: idOf('Your organization; any other is not found.').nullish(),
  ...pageRules,
  ...orderRules,
});

/** Arguments of `projectIdentities`. */
export const ListProjectIdentities = z.strictObject({
  projectId: idOf('project'),
  ...pageRules,
  ...orderRules,
});
