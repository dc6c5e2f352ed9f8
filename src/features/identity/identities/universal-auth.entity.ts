import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../kernel/ids.js';
import { tokenSettingsColumns } from './token-auth.entity.js';

export const IdentityUniversalAuthSchema = defineEntity({
  name: 'IdentityUniversalAuth',
  tableName: 'identity_universal_auth',
  uniques: [{ name: 'identity_universal_auth_client_id_unique', properties: ['clientId'] }],
  properties: {
    identityId: p.uuid().primary(),
    clientId: p.uuid().onCreate(newId),
    clientSecretTrustedIps: p.array().columnType('cidr[]'),
    ...tokenSettingsColumns,
  },
});

/**
 * The client id with which a machine identity logs in, from which networks it does, and how the tokens of its logins live.
 */
export class IdentityUniversalAuth extends IdentityUniversalAuthSchema.class {}
IdentityUniversalAuthSchema.setClass(IdentityUniversalAuth);
