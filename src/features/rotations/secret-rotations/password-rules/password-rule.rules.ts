import * as z from 'zod';
import { orderRules } from '../../../../kernel/list-order.js';
import { expectedVersion } from '../../../../kernel/number-rules.js';
import { pageRules } from '../../../../kernel/paging.js';
import { idOf, personText, slugText } from '../../../../kernel/text-rules.js';
import { PasswordRequirements } from './requirements.rules.js';

/** The name that rotations refer to. */
export const ruleName = slugText(1, 64);

const id = idOf('password rule');
const description = personText(0, 256)
  .nullish()
  .meta({ description: 'Description of the rule, up to 256 characters; null for none.' });

export const CreatePasswordRule = z
  .strictObject({
    name: ruleName.meta({
      description:
        'Name of the rule, 1 to 64 characters: lower-case words separated by hyphens. Unique in the organization. It cannot change, because rotations refer to it.',
    }),
    description,
    requirements: PasswordRequirements,
  })
  .meta({ description: 'Fields of the new password rule.' });

export const UpdatePasswordRule = z
  .strictObject({ id, expectedVersion, description, requirements: PasswordRequirements.optional() })
  .meta({ description: 'Fields of the password rule to change. Absent fields keep their value.' });

export const OnePasswordRule = z.strictObject({ id }).meta({ description: 'The password rule, by ID.' });

/** Arguments of `passwordRules`. */
export const ListPasswordRules = z.strictObject({ ...pageRules, ...orderRules });
