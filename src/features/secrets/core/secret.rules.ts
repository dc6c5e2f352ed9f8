import { z } from 'zod';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { integer } from '../../../kernel/int.js';
import { orderRules } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, isStorable, NOT_STORABLE, storedText } from '../../../kernel/text-rules.js';
import { MAX_VERSION } from '../../../kernel/version.js';
import { tagSlug } from '../../tags/public.js';
import { metadataPairs } from '../scope/metadata-filter.rules.js';
import { place } from '../scope/place.rules.js';

/** Maximum size of a value, in bytes of UTF-8. */
export const MAX_VALUE_BYTES = 512 * 1024;
const MAX_BATCH = 1_000;
const MAX_TAGS = 100;
const MAX_RECIPIENTS = 50;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the rule refuses
const FORBIDDEN_IN_KEY = /[/:=\u0000-\u001f\u007f-\u009f]/;

/** Name of a secret. */
export const secretKey = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .refine((key) => !FORBIDDEN_IN_KEY.test(key) && key.isWellFormed(), {
    error: 'must not contain /, :, = or control characters',
  });

/** Value of a secret: stored unchanged, to the byte. */
export const secretValue = z
  .string()
  .max(MAX_VALUE_BYTES)
  .refine((value) => value.isWellFormed(), { error: 'must be well-formed Unicode' })
  .refine((value) => Buffer.byteLength(value) <= MAX_VALUE_BYTES, { error: 'must be at most 512 KiB of UTF-8' });

const secretComment = z
  .string()
  .max(10_000)
  .refine((comment) => comment.isWellFormed(), { error: 'must be well-formed Unicode' });

const metadataEntry = z.strictObject({
  key: z.string().trim().min(1).max(255).refine(isStorable, NOT_STORABLE),
  value: storedText(1_020).nullish(),
  isEncrypted: z.boolean().nullish(),
});

const attributes = {
  secretComment: secretComment.nullish(),
  secretMetadata: z.array(metadataEntry).max(50).nullish(),
  tagIds: z.array(z.string()).max(MAX_TAGS).nullish(),
  skipMultilineEncoding: z.boolean().nullish(),
  secretReminderNote: storedText(1_024).nullish(),
  secretReminderRepeatDays: integer(1, 365).nullish(),
  secretReminderRecipients: z.array(z.string()).max(MAX_RECIPIENTS).nullish(),
};

/** Type of a secret: shared by all who may read it, or the personal value of one user instead of the shared one. */
export const SECRET_KINDS = ['shared', 'personal'] as const;
export type SecretKind = (typeof SECRET_KINDS)[number];
const type = z.enum(SECRET_KINDS).default('shared');

/** What a batch does when a secret to change does not exist. */
export const UPDATE_MODES = ['fail', 'upsert', 'ignore'] as const;
export type UpdateMode = (typeof UPDATE_MODES)[number];

/** A new secret. The value defaults to the empty string. */
export const NewSecret = z.strictObject({ secretKey, secretValue: secretValue.default(''), ...attributes });
export type NewSecret = z.infer<typeof NewSecret>;

/** What may change of a secret. Absent keeps, null clears. */
export const SecretChange = z.strictObject({
  secretKey,
  newSecretKey: secretKey.optional(),
  secretValue: secretValue.optional(),
  ...attributes,
});
export type SecretChange = z.infer<typeof SecretChange>;

/** Input of `createSecret`. */
export const CreateSecret = NewSecret.extend({ ...place, type });

/** Input of `createSecrets`: all or nothing, 1 to 1,000, no key twice. */
export const CreateSecrets = z.strictObject({ ...place, secrets: z.array(NewSecret).min(1).max(MAX_BATCH) });

const id = idOf('secret');

/** Input of `updateSecret`: the shared secret. */
export const UpdateSecret = SecretChange.omit({ secretKey: true }).extend({ id });

/** Input of `updateSecretByKey`. */
export const UpdateSecretByKey = SecretChange.extend({ ...place, type });

/** Input of `updateSecrets`. */
export const UpdateSecrets = z.strictObject({
  ...place,
  mode: z.enum(UPDATE_MODES).default('fail'),
  secrets: z.array(SecretChange).min(1).max(MAX_BATCH),
});

/** Input of `deleteSecret`: the shared secret. */
export const DeleteSecret = z.strictObject({ id }).meta({ description: 'The secret to delete, by ID.' });

/** Input of `deleteSecretByKey`. */
export const DeleteSecretByKey = z.strictObject({ ...place, type, secretKey });

/** Input of `deleteSecrets`. */
export const DeleteSecrets = z.strictObject({
  ...place,
  secrets: z.array(z.strictObject({ secretKey })).min(1).max(MAX_BATCH),
});

const folder = z.strictObject({ environment: place.environment, secretPath: place.secretPath });

/** Input of `moveSecrets` and `copySecrets`: secrets of one folder, to another one of the project. */
export const TransferSecrets = z.strictObject({
  projectId: place.projectId,
  source: folder,
  destination: folder,
  secretIds: z.array(z.string()).min(1).max(MAX_BATCH),
  shouldOverwrite: z.boolean().default(false),
});

/** How values are returned. */
const reading = { viewSecretValue: z.boolean().default(true), expandSecretReferences: z.boolean().default(false) };

/** Filters of a list. */
const filters = { tagSlugs: z.array(tagSlug).max(MAX_TAGS).nullish(), metadata: metadataPairs.nullish() };

/** Where a list has the caller's personal values: after the shared ones, instead of them, or nowhere. */
export const OWN_VALUES = ['beside', 'instead', 'none'] as const;
export type OwnValues = (typeof OWN_VALUES)[number];

/** Arguments of `secrets`. */
export const ListSecrets = z.strictObject({
  ...place,
  ...reading,
  ...filters,
  recursive: z.boolean().default(false),
  includeImports: z.boolean().default(false),
  ownValues: z.enum(OWN_VALUES).default('beside'),
  ...pageRules,
  ...orderRules,
});

/** Arguments of the list of one environment, where the location is known. */
export const ListInEnvironment = ListSecrets.omit({
  projectId: true,
  environment: true,
  includeImports: true,
  ownValues: true,
});

/** Arguments of the list of one folder, where the folder is known. */
export const ListInFolder = ListInEnvironment.omit({ secretPath: true, recursive: true });

/** Arguments of `secret`. */
export const GetSecret = z.strictObject({ id: z.string(), ...reading });

/** Arguments of `secretByKey`. */
export const GetSecretByKey = z
  .strictObject({
    ...place,
    ...reading,
    secretKey,
    type,
    includeImports: z.boolean().default(false),
    version: integer(1, MAX_VERSION).nullish(),
  })
  .refine(({ type, version }) => type === 'shared' || version == null, {
    path: ['version'],
    params: { code: 'SHARED_ONLY' },
    error: 'must be absent: personal secrets have no versions',
  });

/** Path of a violation: `secretKey` in a call for one secret, `secrets[3].secretKey` in a batch. */
export type PathOf = (index: number, field: string) => string;

/** Duplicate keys in one batch: each later one is a violation. */
export function repeatedKeys(keys: readonly string[], pathOf: PathOf, field: string): ErrorDetail[] {
  const seen = new Set<string>();
  return keys.flatMap((key, index) => {
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [{ path: pathOf(index, field), code: 'DUPLICATE', message: 'is a duplicate in this batch' }];
  });
}

/** Entries that are not encrypted although the project requires it. */
export const plainMetadata = (secrets: readonly Pick<NewSecret, 'secretMetadata'>[], pathOf: PathOf): ErrorDetail[] =>
  secrets.flatMap(({ secretMetadata }, index) =>
    (secretMetadata ?? []).flatMap((entry, at) =>
      entry.isEncrypted === true
        ? []
        : [
            {
              path: pathOf(index, `secretMetadata[${at}].isEncrypted`),
              code: 'ENCRYPTION_REQUIRED',
              message: 'must be true: the project requires encrypted metadata',
            },
          ],
    ),
  );

/** `"db, ,web,db"` -> `["db", "web"]`: trimmed, no blanks, no repeats, order kept. */
export const parseTagSlugs = (raw: string): string[] => [
  ...new Set(
    raw
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  ),
];
