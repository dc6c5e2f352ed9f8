import { defineEntity, p } from '@mikro-orm/core';

export const CredentialSchema = defineEntity({
  name: 'SecretRotationCredential',
  tableName: 'secret_rotation_credential',
  properties: {
    rotationId: p.uuid().primary(),
    /** 0 or 1. */
    slot: p.integer().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    /** Number of the credential within its rotation. It is sealed for it. */
    generation: p.integer(),
    credentialSealed: p.blob(),
    /** Keyed digest of the account that whoever has it logs in to, as `digestOfAccount` makes it. Null: that of its rotation, or not known. */
    accountDigest: p.blob().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A credential that a rotation published: the current one or its predecessor. */
export class SecretRotationCredential extends CredentialSchema.class {}
CredentialSchema.setClass(SecretRotationCredential);
