import { sql } from '@mikro-orm/core';
import type { z } from 'zod';
import type { Transaction } from '../../../../kernel/context.js';
import { flush } from '../../../../kernel/database/in-transaction.js';
import { AuthConfigurationService } from '../auth-configuration.service.js';
import type { IdentityReader } from '../identity.reader.js';
import { IdentityTokenAuth } from '../token-auth.entity.js';
import { deleteTokenAuth } from '../token-auth.queries.js';
import { AttachTokenAuth, OneTokenAuth, toRanges, UpdateTokenAuth } from '../token-auth.rules.js';
import { type TokenAuthView, tokenSettingsOf, toTokenAuthView } from '../token-auth.view.js';

export type TokenAuthService = ReturnType<typeof createTokenAuthService>;

/** Token-auth configurations: administrators make the tokens. */
export const createTokenAuthService = (identities: IdentityReader) =>
  new AuthConfigurationService(identities, {
    method: 'token-auth',
    subject: 'identity-token-auth',
    missing: 'TOKEN_AUTH_NOT_FOUND',
    rules: { attach: AttachTokenAuth, update: UpdateTokenAuth, one: OneTokenAuth },
    insert: insertTokenAuth,
    entity: IdentityTokenAuth,
    view: toTokenAuthView,
    update: updateTokenAuth,
    delete: deleteTokenAuth,
  });

/** Stores a configuration. Who may do so, and the audit row, are the caller's business. @throws TOKEN_AUTH_EXISTS */
export async function insertTokenAuth(
  tx: Transaction,
  settings: z.output<typeof AttachTokenAuth>,
): Promise<TokenAuthView> {
  const tokenAuth = tx.em.create(IdentityTokenAuth, {
    identityId: settings.identityId,
    trustedIps: toRanges(settings.accessTokenTrustedIps),
    ttlSeconds: settings.accessTokenTTL,
    maxTtlSeconds: settings.accessTokenMaxTTL,
    numUsesLimit: settings.accessTokenNumUsesLimit,
  });
  await flush(tx, {
    identity_token_auth_pkey: 'TOKEN_AUTH_EXISTS',
    identity_token_auth_identity_id_fkey: 'IDENTITY_NOT_FOUND',
  });
  return toTokenAuthView(tokenAuth);
}

/** No row: there was none. */
async function updateTokenAuth(
  tx: Transaction,
  { identityId, ...changes }: z.output<typeof UpdateTokenAuth>,
): Promise<IdentityTokenAuth | undefined> {
  const [row] = await tx.em
    .createQueryBuilder(IdentityTokenAuth)
    .update({ ...tokenSettingsOf(changes), updatedAt: sql`now()` })
    .where({ identityId })
    .returning('*')
    .execute<IdentityTokenAuth[]>('all');
  return row;
}
