import { defineEntity, p } from '@mikro-orm/core';

const StoredAuditSealSchema = defineEntity({
  name: 'StoredAuditSeal',
  tableName: 'audit_seal',
  properties: {
    number: p.bigint('string').primary().autoincrement(false),
    afterSequence: p.bigint('string'),
    lastSequence: p.bigint('string'),
    entries: p.blob(),
    expiries: p.blob().nullable(),
    sealedAt: p.datetime(3),
    previous: p.blob(),
    mac: p.blob(),
  },
});

/**
 * A link of the chain of seals over the audit trail. `entries` hold a sequence and a digest for each row that it covers.
 */
export class StoredAuditSeal extends StoredAuditSealSchema.class {}
StoredAuditSealSchema.setClass(StoredAuditSeal);
