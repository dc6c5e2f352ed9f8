import { z } from 'zod';
import { pageRules } from '../../kernel/graphql/page.js';
import { displayName, organizationRole } from '../organizations/public.js';

/** Input of `createIdentity`; without an organization it is that of the caller. Source: behaviour 10 (Identities). */
export const CreateIdentity = z.strictObject({
  name: displayName,
  organizationId: z.string().nullish(),
  role: organizationRole.default('no-access'),
});

/** Input of `updateIdentity`: absent keeps. */
export const UpdateIdentity = z.strictObject({
  identityId: z.string(),
  name: displayName.optional(),
  role: organizationRole.optional(),
});

/** Names one identity. */
export const OneIdentity = z.strictObject({ identityId: z.string() });

/** Arguments of `identities`. */
export const ListIdentities = z.strictObject({ organizationId: z.string().nullish(), ...pageRules });
