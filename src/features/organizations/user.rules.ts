import { z } from 'zod';
import { orderRules } from '../../kernel/list-order.js';
import { pageRules } from '../../kernel/paging.js';
import { organizationRole } from './organization.rules.js';

/** Trimmed and lower-cased; 1 to 255 letters, digits, `.`, `_`, `@`, `+`, `-`. An email address is valid. */
export const username = z
  .string()
  .trim()
  .toLowerCase()
  .min(1)
  .max(255)
  .regex(/^[a-z0-9._@+-]+$/, 'must be letters, digits and . _ @ + -');

/** Input of `createUser`. */
export const CreateUser = z.strictObject({ username, roleSlug: organizationRole.default('member') });

/** Input of `updateUser`: absent keeps. */
export const UpdateUser = z.strictObject({
  id: z.string(),
  username: username.optional(),
  roleSlug: organizationRole.optional(),
});

/** Names one user. */
export const OneUser = z.strictObject({ id: z.string() });

/** Arguments of `users`. */
export const ListUsers = z.strictObject({ ...pageRules, ...orderRules });
