import { defineEntity, p } from '@mikro-orm/core';
import { AUDIT_CLASSES } from './audit-class.js';
import type { AuditFacts } from './audit-record.js';

export const StoredAuditRecordSchema = defineEntity({
  name: 'StoredAuditRecord',
  tableName: 'audit_record',
  properties: {
    sequence: p.bigint('string').primary().generated('identity'),
    id: p.uuid(),
    organizationId: p.uuid(),
    projectId: p.uuid().nullable(),
    occurredAt: p.datetime(3).defaultRaw('now()'),
    action: p.text(),
    outcome: p.enum(['allowed', 'denied']),
    actorKind: p.text().$type<'identity' | 'user' | 'system'>(),
    actorId: p.uuid(),
    tokenId: p.uuid().nullable(),
    requestId: p.uuid(),
    address: p.text().columnType('inet').nullable(),
    userAgent: p.text().nullable(),
    facts: p.json<AuditFacts>(),
    mac: p.blob(),
    disclosed: p.blob().nullable(),
    class: p.enum(AUDIT_CLASSES).nullable(),
    subjectId: p.uuid().nullable(),
    expiresOn: p.date().primary().defaultRaw(`'infinity'`),
  },
});

/**
 * A row of the audit trail, only ever added. `mac` covers every column but the time; `disclosed` names the secrets whose values
 * a response held, `class` and `subject_id` say what kind of event it was, and what a change is about.
 * The table has a partition for each month that rows end in (`expires_on`), and one for those that are kept for ever.
 */
export class StoredAuditRecord extends StoredAuditRecordSchema.class {}
StoredAuditRecordSchema.setClass(StoredAuditRecord);

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

const StoredAuditPartitionSchema = defineEntity({
  name: 'StoredAuditPartition',
  tableName: 'audit_partition',
  properties: {
    expiresOn: p.date().primary(),
  },
});

/** A month that rows of the audit trail can end in: they have a partition, which is dropped when it begins. */
export class StoredAuditPartition extends StoredAuditPartitionSchema.class {}
StoredAuditPartitionSchema.setClass(StoredAuditPartition);

const StoredAuditExpirySchema = defineEntity({
  name: 'StoredAuditExpiry',
  tableName: 'audit_expiry',
  properties: {
    expiresOn: p.date().primary(),
    rows: p.bigint('string'),
    digest: p.blob(),
    expiredAt: p.datetime(3),
    mac: p.blob(),
  },
});

/** A signed statement about the rows of a month that were dropped. */
export class StoredAuditExpiry extends StoredAuditExpirySchema.class {}
StoredAuditExpirySchema.setClass(StoredAuditExpiry);

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
