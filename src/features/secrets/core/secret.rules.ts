import * as z from 'zod';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { anyId, integer, storedText } from '../../../kernel/value-rules.js';

/** Maximum size of a value, in bytes of UTF-8. */
export const MAX_VALUE_BYTES = 512 * 1024;
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
  })
  .meta({
    description:
      'Key of the secret, for example `DB_PASSWORD`: 1 to 255 characters, no `/`, `:`, `=` or control characters.',
  });

/** Value of a secret: stored unchanged, to the byte. A file may have escapes of halves of surrogate pairs. */
export const secretValue = z
  .string()
  .max(MAX_VALUE_BYTES)
  .refine((value) => value.isWellFormed(), { error: 'must be well-formed Unicode' })
  .refine((value) => Buffer.byteLength(value) <= MAX_VALUE_BYTES, { error: 'must be at most 512 KiB of UTF-8' });

const secretComment = z.string().max(10_000);

/** A metadata entry of a secret to write. */
export const MetadataEntry = z
  .strictObject({
    key: z
      .string()
      .trim()
      .min(1)
      .max(255)
      .meta({ description: 'Key of the entry, for example `owner`. Never encrypted.' }),
    value: storedText(1_020).nullish().meta({ description: 'Value of the entry; empty when absent.' }),
    isEncrypted: z.boolean().nullish().meta({
      description: 'Whether to store the value encrypted. Filters do not match encrypted values.',
    }),
  })
  .meta({ description: 'A metadata entry of a secret: a key and a value.' });

const attributes = {
  secretComment: secretComment.nullish().meta({ description: 'Comment on the secret.' }),
  secretMetadata: z.array(MetadataEntry).max(50).nullish().meta({
    description: 'Metadata of the secret, up to 50 entries. An update replaces the existing entries.',
  }),
  tagIds: z.array(anyId).max(MAX_TAGS).nullish().meta({
    description: 'IDs of the tags of the secret. An update replaces the existing tags.',
  }),
  skipMultilineEncoding: z.boolean().nullish().meta({
    description: 'Whether clients should leave line breaks of the value unencoded.',
  }),
  secretReminderNote: storedText(1_024).nullish().meta({ description: 'Text of the reminder.' }),
  secretReminderRepeatDays: integer(1, 365).nullish().meta({ description: 'Days between reminders, 1 to 365.' }),
  secretReminderRecipients: z.array(anyId).max(MAX_RECIPIENTS).nullish().meta({
    description: 'IDs of the project members to remind, up to 50. An update replaces the existing recipients.',
  }),
};

/** Type of a secret: shared by all who may read it, or the personal value of one user instead of the shared one. */
const SECRET_KINDS = ['shared', 'personal'] as const;
export type SecretKind = (typeof SECRET_KINDS)[number];
export const secretKind = z.enum(SECRET_KINDS);

/** Where a list has the caller's personal values: after the shared ones, instead of them, or nowhere. */
export const ownValues = z.enum(['beside', 'instead', 'none']);
export type OwnValues = z.infer<typeof ownValues>;

/** A new secret. The value defaults to the empty string. */
export const NewSecret = z
  .strictObject({
    secretKey,
    secretValue: secretValue.default('').meta({
      description:
        'Value of the secret, up to 512 KiB of UTF-8, stored unchanged. It may reference secrets that you can see, for ' +
        'example `postgres://app:${prod.payments.DB_PASSWORD}@db`.',
    }),
    ...attributes,
  })
  .meta({ description: 'A new secret.' });
export type NewSecret = z.infer<typeof NewSecret>;

/** What may change of a secret. Absent keeps, null clears. */
export const SecretChange = z
  .strictObject({
    secretKey,
    newSecretKey: secretKey.optional().meta({
      description: 'New key of the secret. References to it in shared values are updated.',
    }),
    secretValue: secretValue.optional().meta({
      description:
        'New value, up to 512 KiB of UTF-8; may be empty, not null. It may reference only secrets that you can see, and ' +
        'those that the current value references if you can read it.',
    }),
    ...attributes,
  })
  .meta({ description: 'Changes of one secret. Absent fields keep their values; null clears a field.' });
export type SecretChange = z.infer<typeof SecretChange>;

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

/** The key of a secret after a change. */
export const keyAfterChange = ({ secretKey, newSecretKey }: SecretChange): string => newSecretKey ?? secretKey;

/** A change of a missing secret, as the secret that is created instead. */
export const toNew = ({ newSecretKey: _never, ...change }: SecretChange): NewSecret => ({
  ...change,
  secretValue: change.secretValue ?? '',
});
