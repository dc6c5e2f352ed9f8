import * as z from 'zod';
import { orderRules } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, personText, slugText } from '../../../kernel/value-rules.js';

const id = idOf('key');

export const CreateOrganizationKey = z
  .strictObject({
    name: slugText(1, 64).meta({
      description:
        'Name of the key, 1 to 64 characters: lowercase words separated by hyphens. Unique in the organization.',
    }),
    description: personText(0, 500)
      .nullish()
      .meta({ description: 'Description of the key, up to 500 characters. Null for none.' }),
  })
  .meta({ description: 'Fields of the new key.' });

export const OneOrganizationKey = z.strictObject({ id }).meta({ description: 'The key, by ID.' });

/** Arguments of `organizationKeys`. */
export const ListOrganizationKeys = z.strictObject({ ...pageRules, ...orderRules });

export const SetProjectKey = z
  .strictObject({
    projectId: idOf('project'),
    organizationKeyId: idOf('key that encrypts the key of the project from now on'),
  })
  .meta({ description: 'The project and its new key.' });
