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
