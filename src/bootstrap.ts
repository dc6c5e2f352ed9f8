import type { Config } from './config.js';
import { insertToken } from './features/access/public.js';
import { DEFAULT_TTL_SECONDS, EVERYWHERE, insertIdentity, insertTokenAuth } from './features/identities/public.js';
import { type CreateFirstAdmin, Organization } from './features/organizations/public.js';
import { organizationRights } from './features/permissions/public.js';
import { type Context, type Kernel, SYSTEM, type Transaction } from './kernel/context.js';
import { mintToken } from './kernel/crypto/token.js';
import { queryOf } from './kernel/database/database.js';
import { flush, inTransaction } from './kernel/database/in-transaction.js';
import { newId } from './kernel/ids.js';

interface FirstAdmin {
  readonly organizationId: string;
  readonly isInstallationAdmin: boolean;
  readonly ttlSeconds: number;
  readonly accessToken: string;
}

/** The first admin of a further root organization: an identity `admin` with a token of 30 days. */
export const createFirstAdmin: CreateFirstAdmin = (tx, organizationId) =>
  makeAdmin(tx, {
    organizationId,
    isInstallationAdmin: false,
    ttlSeconds: DEFAULT_TTL_SECONDS,
    accessToken: mintToken(),
  });

/**
 * Makes the organization `default` and the admin of the installation in an empty database. Called under the migration
 * lock, so that of many nodes that start at once one does it.
 *
 * @returns the token of the admin, which never expires; null when the database has an organization already
 */
export async function bootstrap(
  kernel: Kernel,
  config: Pick<Config, 'bootstrapToken'>,
  prepareToken: (token: string) => Promise<void> = async () => undefined,
): Promise<string | null> {
  const [organization] = await kernel.database.query('select 1 from organization limit 1');
  if (organization !== undefined) return null;
  const accessToken = config.bootstrapToken?.reveal() ?? mintToken();
  // Before the commit: a crash after it would leave an installation that nobody can enter.
  await prepareToken(accessToken);
  await inTransaction(systemContext(kernel, newId()), async (tx) => {
    tx.em.create(Organization, { id: tx.organizationId, name: 'Default', slug: 'default', parentId: null });
    await flush(tx);
    await tx.keyring.createOrganizationKey(queryOf(tx), tx.organizationId);
    const { identityId } = await makeAdmin(tx, {
      organizationId: tx.organizationId,
      isInstallationAdmin: true,
      ttlSeconds: 0,
      accessToken,
    });
    await tx.auditTrail.recordChange(tx, {
      action: 'installation:bootstrap',
      facts: { organizationId: tx.organizationId, identityId },
    });
  });
  return accessToken;
}

async function makeAdmin(
  tx: Transaction,
  { organizationId, isInstallationAdmin, ttlSeconds, accessToken }: FirstAdmin,
): Promise<{ identityId: string; accessToken: string }> {
  const identityId = await insertIdentity(tx, { name: 'admin', organizationId, role: 'admin', isInstallationAdmin });
  const settings = {
    accessTokenTTL: ttlSeconds,
    accessTokenMaxTTL: ttlSeconds,
    accessTokenNumUsesLimit: 0,
  };
  await insertTokenAuth(tx, { identityId, accessTokenTrustedIps: EVERYWHERE, ...settings });
  await insertToken(tx, { owner: { identityId }, organizationId, name: 'first token', ...settings }, accessToken);
  return { identityId, accessToken };
}

/** The service acting by itself in an organization. */
export const systemContext = (kernel: Kernel, organizationId: string): Context => ({
  ...kernel,
  requestId: newId(),
  address: null,
  userAgent: null,
  actor: { ...SYSTEM, name: 'system', tokenId: null, isInstallationAdmin: false },
  organizationId,
  rootOrganizationId: organizationId,
  ability: organizationRights({ roles: [], storedRules: null }).ability,
  loaders: new Map(),
});
