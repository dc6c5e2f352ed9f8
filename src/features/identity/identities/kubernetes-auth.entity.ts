import { defineEntity, p } from '@mikro-orm/core';
import { tokenSettingsColumns } from './token-auth.entity.js';

export const IdentityKubernetesAuthSchema = defineEntity({
  name: 'IdentityKubernetesAuth',
  tableName: 'identity_kubernetes_auth',
  properties: {
    identityId: p.uuid().primary(),
    host: p.text(),
    caCertificate: p.text().nullable(),
    reviewerTokenSealed: p.blob().nullable(),
    reviewerTokenVersion: p.integer().default(0),
    namespaces: p.array().columnType('text[]'),
    names: p.array().columnType('text[]'),
    audience: p.text().nullable(),
    ...tokenSettingsColumns,
  },
});

/** Which service accounts of which cluster log a machine identity in, and how the tokens of its logins live. */
export class IdentityKubernetesAuth extends IdentityKubernetesAuthSchema.class {}
IdentityKubernetesAuthSchema.setClass(IdentityKubernetesAuth);
