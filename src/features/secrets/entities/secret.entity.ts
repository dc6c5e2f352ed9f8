import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../kernel/ids.js';

/** A metadata entry as stored unsealed. The value of an encrypted one is in `metadataSealed`, in the same order. */
export type StoredEntry =
  | { readonly key: string; readonly value: string }
  | { readonly key: string; readonly isEncrypted: true };

/** The columns that the table of secrets and that of their versions have in common. */
export const contentsColumns = {
  commentSealed: p.blob().$type<Buffer>().nullable(),
  metadata: p.json<readonly StoredEntry[]>().defaultRaw(`'[]'::jsonb`),
  metadataSealed: p.blob().$type<Buffer>().nullable(),
  skipMultilineEncoding: p.boolean().default(false),
  reminderNote: p.text().nullable(),
  reminderRepeatDays: p.integer().nullable(),
  reminderRecipientIds: p.array().$type<readonly string[]>().columnType('uuid[]').defaultRaw(`'{}'::uuid[]`),
  actorKind: p.text().$type<'identity' | 'user' | 'system'>(),
  actorId: p.uuid(),
  createdAt: p.datetime(3).defaultRaw('now()'),
};

export const SecretSchema = defineEntity({
  name: 'Secret',
  tableName: 'secret',
  uniques: [{ name: 'secret_key_unique', properties: ['folderId', 'key'], deferMode: 'immediate' }],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    environmentId: p.uuid(),
    folderId: p.uuid(),
    key: p.text(),
    version: p.integer().default(1),
    valueSealed: p.blob(),
    ...contentsColumns,
    updatedAt: p.datetime(3).defaultRaw('now()'),
    valueDigest: p.blob().nullable(),
    valueChangedAt: p.datetime(3).defaultRaw('now()'),
    rotationId: p.uuid().nullable(),
  },
});

/**
 * A secret. Value, comment and the encrypted entries of its metadata are sealed; `valueDigest` is encrypted, so that it
 * finds equal values in one project only. A secret with a `rotationId` is written by that rotation; its value contains
 * no references.
 */
export class Secret extends SecretSchema.class {}
SecretSchema.setClass(Secret);
