import { defineEntity, p } from '@mikro-orm/core';
import type { RotationType } from '../kinds/kinds.js';

/** Why a credential is to be revoked. */
export const DEBT_REASONS = ['replaced', 'orphaned', 'unusable', 'deletion'] as const;
export type DebtReason = (typeof DEBT_REASONS)[number];

const DebtSchema = defineEntity({
  name: 'CredentialDebt',
  tableName: 'credential_debt',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    /** It may be gone. */
    rotationId: p.uuid(),
    connectionId: p.uuid(),
    type: p.text().$type<RotationType>(),
    reason: p.text().$type<DebtReason>(),
    parameters: p.json<Readonly<Record<string, unknown>>>(),
    /** What it is called outside, of one that may exist under that name. */
    name: p.text().nullable(),
    credentialSealed: p.blob().nullable(),
    /** Failed tries. */
    tries: p.integer().default(0),
    errorCode: p.text().nullable(),
    /** It cannot be known to be gone before. */
    settledAt: p.datetime(3).nullable(),
    nextAt: p.datetime(3).defaultRaw('now()'),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A credential in an outside system that is to be revoked, and is not known to be gone. Source: decisions 9.3, rotation-targets B5. */
export class CredentialDebt extends DebtSchema.class {}
DebtSchema.setClass(CredentialDebt);
