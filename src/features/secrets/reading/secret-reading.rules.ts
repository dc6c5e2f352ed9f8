import * as z from 'zod';
import { orderRules } from '../../../kernel/list-order.js';
import { DISPLAY_RULES, pageRules } from '../../../kernel/paging.js';
import { idOf, integer, MAX_VERSION } from '../../../kernel/value-rules.js';
import { ownValues, secretKey, secretKind } from '../core/secret.rules.js';
import { secretLocation } from '../scope/location.rules.js';
import { metadataPairs } from '../scope/metadata-filter.rules.js';
import { tagSlug } from '../tags/public.js';

/** How values are returned. */
const reading = {
  viewSecretValue: z
    .boolean()
    .default(true)
    .meta({ description: 'Whether to decrypt and return the values. Without it no value is read.' })
    .register(DISPLAY_RULES, {}),
  expandSecretReferences: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Whether to replace the references `${KEY}`, `${env.KEY}` and `${env.folder.KEY}` by the values that they name.',
    })
    .register(DISPLAY_RULES, {}),
};

/** Arguments of `secrets`. */
export const ListSecrets = z.strictObject({
  ...secretLocation,
  ...reading,
  tagSlugs: z.array(tagSlug).max(100).nullish().meta({
    description: 'Only secrets with at least one of these tags: slugs.',
  }),
  metadata: metadataPairs.nullish().meta({
    description: 'Only secrets with all of these metadata pairs, at most 10.',
  }),
  recursive: z.boolean().default(false).meta({
    description: 'Whether to include the folders below, up to 20 levels deep.',
  }),
  includeImports: z.boolean().default(false).meta({
    description: 'Whether to include secrets that these folders import.',
  }),
  ownValues: ownValues.default('beside').meta({ description: 'Where the list shows your personal values.' }),
  ...pageRules,
  orderBy: orderRules.orderBy.meta({
    description:
      'Order of the list. The default is NAME ascending: by path, then key. A personal value follows the shared ' +
      'secret with the same key, and sorts by its own times. A cursor is only valid for the order that it was created ' +
      'with.',
  }),
  updatedSince: orderRules.updatedSince.meta({
    description: 'Only secrets that changed, or whose personal value changed, at or after this time.',
  }),
});

/** Arguments of `secret`. */
export const GetSecret = z.strictObject({ id: idOf('secret'), ...reading });

/** Arguments of `secretByKey`. */
export const GetSecretByKey = z
  .strictObject({
    ...secretLocation,
    ...reading,
    secretKey: secretKey.meta({ description: 'Key of the secret, for example `DB_PASSWORD`.' }),
    type: secretKind.default('shared').meta({
      description: 'Whether to return the shared secret or your personal value.',
    }),
    includeImports: z.boolean().default(false).meta({
      description:
        'Whether to search the imports of the folder if it has no such key: the last import first, each with its own imports.',
    }),
    version: integer(1, MAX_VERSION).nullish().meta({
      description: 'Version of the secret, at its current location. The latest version when absent.',
    }),
  })
  .refine(({ type, version }) => type === 'shared' || version == null, {
    path: ['version'],
    params: { code: 'SHARED_ONLY' },
    error: 'must be absent: personal secrets have no versions',
  });

/** `"db, ,web,db"` -> `["db", "web"]`: trimmed, no blanks, no repeats, order kept. */
export const parseTagSlugs = (raw: string): string[] => [
  ...new Set(
    raw
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  ),
];

/** Arguments of the list of one environment, where the location is known. */
export const ListInEnvironment = ListSecrets.omit({
  projectId: true,
  environment: true,
  includeImports: true,
  ownValues: true,
}).extend({
  first: pageRules.first.meta({
    description: 'Maximum number of items to return, 1 to 1,000. Without it all items are returned.',
  }),
  after: pageRules.after.meta({ description: 'Only items after this cursor, a value of `pageInfo.endCursor`.' }),
});

/** Arguments of the list of one folder, where the folder is known. */
export const ListInFolder = ListInEnvironment.omit({ secretPath: true, recursive: true });

/** Arguments of `Environment.secrets`, which calls the path as other fields of environments do. */
export const EnvironmentSecrets = ListInEnvironment.omit({ secretPath: true }).extend({
  path: secretLocation.secretPath,
});
