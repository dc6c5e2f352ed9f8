import { defineEntity, p } from '@mikro-orm/core';
import type { Verdict } from './verdict.js';

export const AuditVerificationSchema = defineEntity({
  name: 'AuditVerification',
  tableName: 'audit_verification',
  indexes: [{ name: 'audit_verification_list_index', properties: ['organizationId', 'createdAt', 'id'] }],
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    jobId: p.uuid(),
    anchors: p.array<string>().columnType('text[]'),
    createdAt: p.datetime(3).defaultRaw('now()'),
    rowCount: p.bigint('string').nullable(),
    checkedCount: p.bigint('string').defaultRaw('0'),
    finishedAt: p.datetime(3).nullable(),
    verdict: p.json<Verdict>().nullable(),
  },
});

/** A verification of the whole trail, which a job carries out. */
export class AuditVerification extends AuditVerificationSchema.class {}
AuditVerificationSchema.setClass(AuditVerification);
