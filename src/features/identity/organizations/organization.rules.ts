import { domainToASCII } from 'node:url';
import * as z from 'zod';
import { HOLDS_NOW } from '../../../kernel/graphql/creation.js';
import { orderRules } from '../../../kernel/list-order.js';
import { decodeCursor, type PageRequest, pageRules, rowLimit } from '../../../kernel/paging.js';
import { HAS_NO_CONTROL_CHARACTERS, idOf, personText, slugFor, slugText } from '../../../kernel/value-rules.js';

/** Lowercase words joined by single hyphens, 1 to 64 characters. */
export const organizationSlug = slugText(1, 64);

/** Slug of any role of an organization. */
export const organizationRole = slugText(1, 64);

/** How creations compare the role of an account in its organization: that of a membership that has ended differs. */
export const comparedRole = {
  of: ({ roleSlug, isMember }: { readonly roleSlug: string; readonly isMember: boolean }) => ({
    roleSlug,
    isActive: isMember,
  }),
  as: (roleSlug: string) => ({ roleSlug, ...HOLDS_NOW }),
  otherwise: HOLDS_NOW,
};

/** Rules of a body from those of an input: REST calls the slug of a role `role`. */
export const withRole = <S extends z.core.$ZodLooseShape & { roleSlug: z.ZodType }>(rules: z.ZodObject<S>) => {
  const { roleSlug, ...rest } = rules.shape;
  return z.strictObject({ ...rest, role: roleSlug }).meta(rules.meta() ?? {});
};

/** An input from such a body. */
export const roleToInput = ({ role, ...rest }: { readonly role?: unknown }): object => ({
  ...rest,
  ...(role === undefined ? {} : { roleSlug: role }),
});

/** A name for people: 1 to 64 characters after trimming, without control characters. */
export const displayName = personText(1, 64).regex(HAS_NO_CONTROL_CHARACTERS, 'must not contain control characters');

/** Input of `createOrganization`. */
export const CreateOrganization = z
  .strictObject({
    name: displayName.meta({ description: 'Display name, 1 to 64 characters.' }),
    slug: organizationSlug.nullish().meta({
      description:
        'Lowercase letters and digits, with single hyphens between words, for example `web-shop`. Default: derived from the name, with four random characters.',
    }),
  })
  .meta({ description: 'Fields of the new organization.' });

/** Input of `createSubOrganization`. */
export const CreateSubOrganization = CreateOrganization.meta({ description: 'Fields of the new sub-organization.' });

const MAX_DOMAIN = 253;
const MAX_DOMAINS = 50;
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** The parser of addresses leaves out what follows a slash, and decodes. */
const MAY_BE_DOMAIN = /^[\p{L}\p{N}\p{M}\p{Join_Control}.-]+$/u;

/** `Bücher.Example` -> `xn--bcher-kva.example`: its form in email addresses. A string that is not a domain stays unchanged. */
const asciiDomain = (text: string): string =>
  text.length <= MAX_DOMAIN && MAY_BE_DOMAIN.test(text) ? domainToASCII(text) || text : text;

const emailDomain = z
  .string()
  .max(MAX_DOMAIN)
  .overwrite(asciiDomain)
  .regex(DOMAIN, 'must be a domain, for example example.com')
  .meta({ description: 'A domain, for example `example.com`.' });

const allowedEmailDomains = z
  .array(emailDomain)
  .max(MAX_DOMAINS)
  .overwrite((domains) => [...new Set(domains)])
  .meta({
    description: `Domains that the organization may send email to, up to ${MAX_DOMAINS}. Subdomains are not included. Empty: a sub-organization uses the list of its root organization, and a root organization allows all domains.`,
  });

/** Input of `updateOrganization`: absent keeps. */
export const UpdateOrganization = z
  .strictObject({
    id: idOf('organization'),
    name: displayName.optional().meta({ description: 'New name, 1 to 64 characters.' }),
    slug: organizationSlug.optional().meta({ description: 'New slug.' }),
    allowedEmailDomains: allowedEmailDomains.optional(),
  })
  .meta({ description: 'Fields to change. Omitted fields keep their values.' });

/** Arguments of `organization`. */
export const GetOrganization = z.strictObject({
  id: idOf('ID of the organization. Default: the organization of your token.').nullish(),
});

/** Arguments of `organizations`. */
export const ListOrganizations = z.strictObject(pageRules);

/** Position of an organization in the list, where the root comes first. */
export const organizationKey = ({ parentId, name, id }: { parentId: string | null; name: string; id: string }) => [
  parentId === null ? '0' : '1',
  name,
  id,
];

/** Bounds of the list: the position to start after (nulls: from the top), and the row limit. @throws VALIDATION_FAILED */
export function organizationBounds(
  request: PageRequest,
): Readonly<Record<'level' | 'name' | 'id', string | null>> & { readonly limit: number | null } {
  const limit = rowLimit(request);
  if (request.after == null) return { level: null, name: null, id: null, limit };
  const [level = '', name = '', id = ''] = decodeCursor(request.after, 3);
  return { level, name, id, limit };
}

/** Input of `deleteOrganization`. */
export const DeleteOrganization = z
  .strictObject({ id: idOf('ID of the organization. It must not have projects or sub-organizations.') })
  .meta({ description: 'The organization to delete, by ID.' });

/** A slug for an organization that was given none. @param suffix 4 random letters or digits */
export const organizationSlugFor = (name: string, suffix: string): string =>
  slugFor(name, suffix, { fallback: 'organization', max: 64 });

/** Trimmed and lower-cased; 1 to 255 letters, digits, `.`, `_`, `@`, `+`, `-`. An email address is valid. */
export const username = z
  .string()
  .trim()
  .toLowerCase()
  .min(1)
  .max(255)
  .regex(/^[a-z0-9._@+-]+$/, 'must be letters, digits and . _ @ + -');

const id = idOf('user');

/** Input of `createUser`. */
export const CreateUser = z
  .strictObject({
    username: username.meta({
      description:
        'Letters, digits and `. _ @ + -`, 1 to 255 characters, for example `jane@example.com`. Stored in lowercase.',
    }),
    roleSlug: organizationRole
      .optional()
      .meta({ description: 'Slug of the role of the user in the organization. Default: `member`.' }),
  })
  .meta({ description: 'Fields of the new user.' });

/** Input of `updateUser`: absent keeps. */
export const UpdateUser = z
  .strictObject({
    id,
    username: username.optional().meta({ description: 'New username.' }),
    roleSlug: organizationRole.optional().meta({ description: 'Slug of the new role in the organization.' }),
  })
  .meta({ description: 'Fields to change. Omitted fields keep their values.' });

/** Names one user. */
export const OneUser = z.strictObject({ id }).meta({ description: 'The user to delete, by ID.' });

/** Arguments of `users`. */
export const ListUsers = z.strictObject({ ...pageRules, ...orderRules });

const organizationId = idOf('ID of the organization. Default: the organization of your token.').nullish();
const who = {
  organizationId,
  userId: idOf('ID of the user. Set this or `identityId`.').nullish(),
  identityId: idOf('ID of the machine identity. Set this or `userId`.').nullish(),
};
const roleSlug = organizationRole.meta({ description: 'Slug of the role of the member, for example `member`.' });
/** The end of a membership. */
export const futureTime = z
  .date()
  .refine((time) => time.getTime() > Date.now(), { error: 'must be in the future', params: { code: 'NOT_IN_FUTURE' } });
const endsAt = futureTime.nullish().meta({
  description:
    'When the membership ends; must be in the future. Null: it does not end. If omitted, a current membership keeps its end.',
});

const isOne = ({ userId, identityId }: { userId?: unknown; identityId?: unknown }): boolean =>
  (userId == null) !== (identityId == null);
const ONE = { path: ['userId'], error: 'required if `identityId` is omitted, and not allowed otherwise' };

/** Input of `setOrganizationMember`. */
export const SetMember = z
  .strictObject({ ...who, roleSlug, endsAt })
  .refine(isOne, ONE)
  .meta({ description: 'The member and its role. Set `userId` or `identityId`.' });

/** Input of `updateOrganizationMember`. */
export const UpdateMember = z
  .strictObject({ id: idOf('membership'), roleSlug: roleSlug.optional(), endsAt })
  .meta({ description: 'Fields to change. Omitted fields keep their values.' });

/** Input of `removeOrganizationMember`. */
export const RemoveMember = z
  .strictObject(who)
  .refine(isOne, ONE)
  .meta({ description: 'The member to remove. Set `userId` or `identityId`.' });

/** Arguments of `organizationMembers`. */
export const ListMembers = z.strictObject({ organizationId, ...pageRules, ...orderRules });
