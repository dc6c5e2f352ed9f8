import { z } from 'zod';
import { orderRules } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, personText, slugText } from '../../../kernel/text-rules.js';
import { expectedVersion } from '../../../kernel/version.js';
import { PasswordRequirements } from './requirements.rules.js';

/** What rotations call a rule by. */
export const ruleName = slugText(1, 64);

const id = idOf('password rule');
const description = personText(0, 256)
  .nullish()
  .meta({ description: 'What it is for, up to 256 characters; null for nothing.' });

export const CreatePasswordRule = z
  .strictObject({
    name: ruleName.meta({
      description:
        'Lower-case words joined by hyphens, 1 to 64 characters, unique in the organization. It cannot change, since rotations use it.',
    }),
    description,
    requirements: PasswordRequirements,
  })
  .meta({ description: 'A new password rule.' });

export const UpdatePasswordRule = z
  .strictObject({ id, expectedVersion, description, requirements: PasswordRequirements.optional() })
  .meta({ description: 'Changes of a password rule. What is absent stays.' });

export const OnePasswordRule = z.strictObject({ id }).meta({ description: 'Which password rule.' });

/** Arguments of `passwordRules`. */
export const ListPasswordRules = z.strictObject({ ...pageRules, ...orderRules });
