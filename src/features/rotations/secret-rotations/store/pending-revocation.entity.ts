import { defineEntity, p } from '@mikro-orm/core';
import type { RotationType } from '../kinds/kinds.js';

/** Why a credential is still to be revoked. */
export type PendingRevocationReason = 'replaced' | 'orphaned' | 'unusable' | 'deletion';

export const PendingRevocationSchema = defineEntity({
  name: 'PendingRevocation',
  tableName: 'credential_debt',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    /** It may have been deleted. */
    rotationId: p.uuid(),
    connectionId: p.uuid(),
    type: p.text().$type<RotationType>(),
    reason: p.text().$type<PendingRevocationReason>(),
    parameters: p.json<Readonly<Record<string, unknown>>>(),
    /** External name of a credential that may exist. */
    name: p.text().nullable(),
    credentialSealed: p.blob().nullable(),
    /** Keyed digest of the account that whoever has it logs in to, as `digestOfAccount` makes it. Null: that of its rotation, or not known. */
    accountDigest: p.blob().nullable(),
    /** Number of failed attempts. */
    tries: p.integer().default(0),
    errorCode: p.text().nullable(),
    /** The credential cannot be known to be gone before this time. */
    settledAt: p.datetime(3).nullable(),
    nextAt: p.datetime(3).defaultRaw('now()'),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A credential in an external system that is still to be revoked; `CredentialDebt` in the API. */
export class PendingRevocation extends PendingRevocationSchema.class {}
PendingRevocationSchema.setClass(PendingRevocation);
