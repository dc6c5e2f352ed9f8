import * as z from 'zod';
import { orderRules } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { EVEN_IF_INVALID, textsOfField } from '../../../kernel/validation.js';
import { idOf, personText } from '../../../kernel/value-rules.js';
import { displayName, organizationRole } from '../organizations/public.js';
import { MAX_METADATA_KEY } from '../permissions/public.js';

const name = displayName.meta({ description: 'Display name, 1 to 64 characters.' });
const roleSlug = organizationRole.meta({
  description: 'Slug of the role of the identity in the organization, for example `member`.',
});
const id = idOf('machine identity');
const MAX_METADATA = 50;
/** What rules of roles can name: `{{identity.metadata.team}}`. */
export const Metadata = z
  .strictObject({
    key: z
      .string()
      .regex(new RegExp(`^[A-Za-z0-9_-]{1,${MAX_METADATA_KEY}}$`), 'must be letters, digits, _ and -')
      .meta({
        description: `Key: letters, digits, \`_\` and \`-\`, 1 to ${MAX_METADATA_KEY} characters, for example \`team\`.`,
      }),
    value: personText(0, 255).meta({ description: 'Value, up to 255 characters.' }),
  })
  .meta({ description: 'A key and a value in the metadata of a machine identity.' });
const metadata = z
  .array(Metadata)
  .max(MAX_METADATA)
  .refine(
    (entries) => {
      const keys = textsOfField(entries, 'key');
      return new Set(keys).size === keys.length;
    },
    {
      ...EVEN_IF_INVALID,
      error: 'must have each key only once',
    },
  )
  .meta({
    description:
      'Metadata of the identity, up to 50 items, each key once. Permission rules can refer to it, so you also need GRANT_PRIVILEGES, and you cannot grant permissions that you do not have.',
  });

const hasDeleteProtection = z.boolean().meta({
  description:
    'Whether deleting the identity is refused until this is set to false. It is still deleted with the project or organization that owns it.',
});

/** Its role in the organization gives it nothing. */
export const OWNED_BY_PROJECT =
  'must be no-access for an identity of a project; it gets its roles as a member of the project';

/** Input of `createIdentity`; without an organization it is that of the caller. */
export const CreateIdentity = z
  .strictObject({
    name,
    organizationId: idOf(
      'ID of your organization, which will own the identity. Default: the organization of your token.',
    ).nullish(),
    projectId: idOf(
      'ID of the project that will own the identity and have it as a member, at first with the role `no-access`. Omit it for an identity of the organization.',
    ).nullish(),
    roleSlug: roleSlug.default('no-access'),
    hasDeleteProtection: hasDeleteProtection.default(false),
    metadata: metadata.optional(),
  })
  .refine(({ projectId, roleSlug: role }) => projectId == null || role === 'no-access', {
    path: ['roleSlug'],
    error: OWNED_BY_PROJECT,
    params: { code: 'OWNED_BY_PROJECT' },
  })
  .meta({ description: 'Fields of the new machine identity.' });

/** Input of `updateIdentity`. */
export const UpdateIdentity = z
  .strictObject({
    id,
    name: name.optional(),
    roleSlug: roleSlug.optional(),
    hasDeleteProtection: hasDeleteProtection.optional(),
    metadata: metadata.optional(),
  })
  .meta({ description: 'Fields to change. Omitted fields keep their values.' });

/** Input of `deleteIdentity`, and arguments of `identity`. */
export const OneIdentity = z.strictObject({ id }).meta({ description: 'The machine identity to delete, by ID.' });

/** Arguments of `identities`. */
export const ListIdentities = z.strictObject({
  organizationId: idOf('ID of your organization. Default: the organization of your token.').nullish(),
  ...pageRules,
  ...orderRules,
});

/** Arguments of `projectIdentities`. */
export const ListProjectIdentities = z.strictObject({
  projectId: idOf('project'),
  ...pageRules,
  ...orderRules,
});
