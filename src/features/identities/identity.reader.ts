import type { OrganizationRole } from '../../kernel/authz/roles.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import { AppError } from '../../kernel/errors.js';
import { isId } from '../../kernel/ids.js';
import type { AuthMethod } from './auth-method.js';
import { TOKEN_AUTH_COLUMNS, type TokenAuthView, toTokenAuthView } from './token-auth.view.js';

/** A machine identity as services pass it on. */
export interface IdentityView {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly role: OrganizationRole;
  readonly isInstallationAdmin: boolean;
  readonly hasTokenAuth: boolean;
  readonly hasUniversalAuth: boolean;
  readonly authMethods: AuthMethod[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The start of every statement that reads identities; `i` is the identity, `m` the membership in the owning organization. */
export const SELECT_IDENTITY = `select i.id, i.name, i.organization_id as "organizationId", m.role,
    i.is_installation_admin as "isInstallationAdmin", a.identity_id is not null as "hasTokenAuth",
    ua.identity_id is not null as "hasUniversalAuth", i.created_at as "createdAt", i.updated_at as "updatedAt"
  from identity i
  join organization_membership m on m.organization_id = i.organization_id and m.identity_id = i.id
  left join identity_token_auth a on a.identity_id = i.id
  left join identity_universal_auth ua on ua.identity_id = i.id`;

/** A row, whose times are texts, as a view. */
export const toIdentityView = (row: Omit<IdentityView, 'authMethods'>): IdentityView => ({
  ...row,
  authMethods: [
    ...(row.hasTokenAuth ? (['token-auth'] as const) : []),
    ...(row.hasUniversalAuth ? (['universal-auth'] as const) : []),
  ],
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
});

/** What other slices may ask about identities. */
export class IdentityReader {
  /** An identity of the organization that the caller's token is scoped to. @throws IDENTITY_NOT_FOUND */
  async load(ctx: Context, id: string): Promise<IdentityView> {
    const [row] = isId(id)
      ? await query<IdentityView>(ctx, `${SELECT_IDENTITY} where i.id = $1 and i.organization_id = $2`, [
          id,
          ctx.organizationId,
        ])
      : [];
    if (row === undefined) throw new AppError('IDENTITY_NOT_FOUND');
    return toIdentityView(row);
  }

  /**
   * The token-auth configuration of an identity that was loaded before.
   *
   * @throws TOKEN_AUTH_NOT_FOUND
   */
  async loadTokenAuth(ctx: Context, identityId: string): Promise<TokenAuthView> {
    const [row] = await query<TokenAuthView>(
      ctx,
      `select ${TOKEN_AUTH_COLUMNS} from identity_token_auth a where a.identity_id = $1`,
      [identityId],
    );
    if (row === undefined) throw new AppError('TOKEN_AUTH_NOT_FOUND');
    return toTokenAuthView(row);
  }

  /**
   * The same, held until the transaction ends: a token made by it cannot outlive a removal at the same moment.
   *
   * @throws TOKEN_AUTH_NOT_FOUND
   */
  async holdTokenAuth(tx: Transaction, identityId: string): Promise<TokenAuthView> {
    await query(tx, HOLD_TOKEN_AUTH, [identityId]);
    return this.loadTokenAuth(tx, identityId);
  }
}

/** The identity first, as its deletion does: whoever makes a token and whoever deletes its owner must not wait in a circle. */
const HOLD_TOKEN_AUTH = `with held as materialized (select id from identity where id = $1 for key share)
  select 1 from identity_token_auth where identity_id = (select id from held) for share`;
