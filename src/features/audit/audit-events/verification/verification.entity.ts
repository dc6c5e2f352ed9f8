import { defineEntity, p } from '@mikro-orm/core';

/** A row, a seal or a secret, and what is wrong with it. */
interface Finding {
  readonly place: string;
  readonly fault: string;
}

/** What a verification has found, as it is stored. */
export interface Verdict {
  readonly checked: number;
  /** Genuine rows after the last seal. */
  readonly unsealed: number;
  /** Rows that were dropped when they had expired. */
  readonly expired: number;
  readonly seals: number;
  /** `NUMBER:HASH` of the last seal; null: there is none. */
  readonly anchor: string | null;
  /** The first of them; `faultCount` counts all. */
  readonly faults: readonly Finding[];
  readonly faultCount: number;
  readonly equalSecrets: number;
  readonly unknownSecrets: number;
  readonly differences: readonly Finding[];
  readonly differenceCount: number;
}

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
