import type { Context, Transaction } from '../../kernel/context.js';
import { loadRow } from '../../kernel/database/rows.js';
import type { AuthMethod } from './auth-method.js';
import { HOLD_TOKEN_AUTH } from './auth-method.sql.js';
import { findIdentity, type IdentityRow } from './identity.queries.js';
import { findTokenAuth, type TokenAuthView, toTokenAuthView } from './token-auth.queries.js';

/** A machine identity as services pass it on. */
export interface IdentityView {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly roleSlug: string;
  readonly isInstallationAdmin: boolean;
  readonly hasTokenAuth: boolean;
  readonly hasUniversalAuth: boolean;
  readonly authMethods: AuthMethod[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const toIdentityView = ({ tokenAuthId, universalAuthId, ...row }: IdentityRow): IdentityView => ({
  ...row,
  hasTokenAuth: tokenAuthId !== null,
  hasUniversalAuth: universalAuthId !== null,
  authMethods: [
    ...(tokenAuthId === null ? [] : (['token-auth'] as const)),
    ...(universalAuthId === null ? [] : (['universal-auth'] as const)),
  ],
});

/** What other slices may ask about identities. */
export class IdentityReader {
  /** An identity of the organization that the caller's token is scoped to. @throws IDENTITY_NOT_FOUND */
  async load(ctx: Context, id: string): Promise<IdentityView> {
    const { organizationId } = ctx;
    return toIdentityView(await loadRow(ctx, findIdentity, { organizationId, id }, 'IDENTITY_NOT_FOUND'));
  }

  /**
   * The token-auth configuration of an identity that was loaded before.
   *
   * @throws TOKEN_AUTH_NOT_FOUND
   */
  async loadTokenAuth(ctx: Context, identityId: string): Promise<TokenAuthView> {
    return toTokenAuthView(await loadRow(ctx, findTokenAuth, { identityId }, 'TOKEN_AUTH_NOT_FOUND'));
  }

  /**
   * The same, held until the transaction ends: a token made by it cannot outlive a removal at the same moment.
   *
   * @throws TOKEN_AUTH_NOT_FOUND
   */
  async holdTokenAuth(tx: Transaction, identityId: string): Promise<TokenAuthView> {
    await HOLD_TOKEN_AUTH(tx, { identityId });
    return this.loadTokenAuth(tx, identityId);
  }
}
