import { defineEntity, p } from '@mikro-orm/core';

export const StoredDisclosureSchema = defineEntity({
  name: 'StoredDisclosure',
  tableName: 'audit_disclosure',
  properties: {
    digest: p.blob().primary(),
    ids: p.array().columnType('uuid[]'),
  },
});

/** A list of secrets whose values responses held, named by the digest of their ids. */
export class StoredDisclosure extends StoredDisclosureSchema.class {}
StoredDisclosureSchema.setClass(StoredDisclosure);
