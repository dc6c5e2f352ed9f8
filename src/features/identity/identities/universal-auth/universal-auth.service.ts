import { sql } from '@mikro-orm/core';
import type { z } from 'zod';
import type { Transaction } from '../../../../kernel/context.js';
import { flush } from '../../../../kernel/database/in-transaction.js';
import { newId } from '../../../../kernel/ids.js';
import { AuthConfigurationService } from '../auth-configuration.service.js';
import type { IdentityReader } from '../identity.reader.js';
import { deleteUniversalAuth } from '../token-auth.queries.js';
import { toRanges } from '../token-auth.rules.js';
import { tokenSettingsOf } from '../token-auth.view.js';
import { IdentityUniversalAuth } from '../universal-auth.entity.js';
import { AttachUniversalAuth, OneUniversalAuth, UpdateUniversalAuth } from './universal-auth.rules.js';
import { toUniversalAuthView, type UniversalAuthView } from './universal-auth.view.js';

export type UniversalAuthService = ReturnType<typeof createUniversalAuthService>;

/** Universal-auth configurations: an identity gets a client id, and logs in with it and a client secret of its own. */
export const createUniversalAuthService = (identities: IdentityReader) =>
  new AuthConfigurationService(identities, {
    method: 'universal-auth',
    subject: 'identity-universal-auth',
    missing: 'UNIVERSAL_AUTH_NOT_FOUND',
    rules: { attach: AttachUniversalAuth, update: UpdateUniversalAuth, one: OneUniversalAuth },
    insert: insertUniversalAuth,
    entity: IdentityUniversalAuth,
    view: toUniversalAuthView,
    update: updateUniversalAuth,
    delete: deleteUniversalAuth,
  });

/** @throws UNIVERSAL_AUTH_EXISTS */
async function insertUniversalAuth(
  tx: Transaction,
  settings: z.output<typeof AttachUniversalAuth>,
): Promise<UniversalAuthView> {
  const universalAuth = tx.em.create(IdentityUniversalAuth, {
    identityId: settings.identityId,
    clientId: newId(),
    clientSecretTrustedIps: toRanges(settings.clientSecretTrustedIps),
    trustedIps: toRanges(settings.accessTokenTrustedIps),
    ttlSeconds: settings.accessTokenTTL,
    maxTtlSeconds: settings.accessTokenMaxTTL,
    numUsesLimit: settings.accessTokenNumUsesLimit,
  });
  await flush(tx, {
    identity_universal_auth_pkey: 'UNIVERSAL_AUTH_EXISTS',
    identity_universal_auth_identity_id_fkey: 'IDENTITY_NOT_FOUND',
  });
  return toUniversalAuthView(universalAuth);
}

/** No row: there was none. */
async function updateUniversalAuth(
  tx: Transaction,
  { identityId, clientSecretTrustedIps: networks, ...changes }: z.output<typeof UpdateUniversalAuth>,
): Promise<IdentityUniversalAuth | undefined> {
  const [row] = await tx.em
    .createQueryBuilder(IdentityUniversalAuth)
    .update({
      ...tokenSettingsOf(changes),
      ...(networks && { clientSecretTrustedIps: toRanges(networks) }),
      updatedAt: sql`now()`,
    })
    .where({ identityId })
    .returning('*')
    .execute<IdentityUniversalAuth[]>('all');
  return row;
}
