import * as z from 'zod';
import { orderRules } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/text-rules.js';
import { organizationRole } from './organization.rules.js';

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
