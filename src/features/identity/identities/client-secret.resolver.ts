import { Extensions, ID, Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { CREATES_CREDENTIAL } from '../../../kernel/graphql/limited-operations.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { bodyOf, routesAt } from '../../../rest/route.js';
import { CreateClientSecret, ListClientSecrets, OneClientSecret } from './auth-configuration.rules.js';
import type { ClientSecretService } from './client-secret.service.js';

export const ClientSecretType = objectType(
  'ClientSecret',
  'A client secret, which a machine identity uses to log in. Its value is not stored.',
  {
    id: [ID, 'ID of the client secret. The ID is not the value.'],
    identityId: [ID, 'ID of the machine identity that logs in with it.'],
    description: [String, 'Description of the client secret. May be empty.'],
    prefix: [String, 'First four characters of the value after `srs_`, to recognize it, for example `k3Xb`.'],
    ttlSeconds: [Int, 'Lifetime in seconds from its creation. 0: no limit.'],
    useCount: [Int, 'Number of logins with the client secret. Numbers above 2,147,483,647 are shown as 2,147,483,647.'],
    useLimit: [Int, 'Maximum number of logins. 0: no limit.'],
    lastUsedAt: [orNull(DateTime), 'When the client secret was last used to log in. Null if it was never used.'],
    isRevoked: [
      Boolean,
      'Whether the client secret was revoked. Then it cannot be used to log in, and the tokens issued with it are revoked too.',
    ],
    expiresAt: [orNull(DateTime), 'When the client secret expires. Null: never.'],
    createdAt: [DateTime, 'When the client secret was created.'],
    updatedAt: [DateTime, 'When the client secret was created or revoked.'],
  },
  { implements: Node },
);
export type ClientSecretType = InstanceType<typeof ClientSecretType>;

const ClientSecretConnection = connectionOf(ClientSecretType, 'ClientSecret', 'newest first, then ID');

const CreateClientSecretPayload = objectType('CreateClientSecretPayload', 'Result of `createClientSecret`.', {
  clientSecret: [String, 'Value of the client secret: `srs_…`. It is shown only once.'],
  clientSecretData: [ClientSecretType, 'The created client secret.'],
});
type CreateClientSecretPayload = InstanceType<typeof CreateClientSecretPayload>;

@Resolver(() => ClientSecretType)
export class ClientSecretResolver {
  constructor(private readonly service: ClientSecretService) {}

  @query(ClientSecretConnection, ListClientSecrets, 'Lists the client secrets of a machine identity, newest first.')
  clientSecrets(ctx: Context, args: object): Promise<CountedConnectionOf<ClientSecretType>> {
    return this.service.list(ctx, args);
  }

  @query(ClientSecretType, OneClientSecret, 'Returns a client secret, without its value.')
  clientSecret(ctx: Context, args: object): Promise<ClientSecretType> {
    return this.service.get(ctx, args);
  }

  @Extensions(CREATES_CREDENTIAL)
  @mutation(
    CreateClientSecret,
    CreateClientSecretPayload,
    'Creates a client secret, which a machine identity uses to log in. Its value is shown only once.',
  )
  createClientSecret(ctx: Context, input: object): Promise<CreateClientSecretPayload> {
    return this.service.create(ctx, input);
  }

  @mutation(
    OneClientSecret,
    { clientSecretData: [ClientSecretType, 'The revoked client secret.'] },
    'Revokes a client secret and all tokens that were issued with it, immediately and permanently.',
  )
  async revokeClientSecret(ctx: Context, input: object): Promise<{ clientSecretData: ClientSecretType }> {
    return { clientSecretData: await this.service.revoke(ctx, input) };
  }
}

/** In the names of the interface. */
const CLIENT_SECRET = `id identityId description clientSecretPrefix: prefix clientSecretTTL: ttlSeconds clientSecretNumUses: useCount
  clientSecretNumUsesLimit: useLimit clientSecretLastUsedAt: lastUsedAt isClientSecretRevoked: isRevoked expiresAt createdAt updatedAt`;

const clientSecrets = routesAt('/api/v1/auth/universal-auth/identities/{identityId}/client-secrets', {
  as: 'clientSecretData',
  select: CLIENT_SECRET,
  errors: ['IDENTITY_NOT_FOUND'],
});

/** Client secrets. */
export const clientSecretRoutes = [
  clientSecrets.post('', 'Create a client secret for a machine identity', {
    sensitive: true,
    field: 'createClientSecret',
    select: `clientSecret clientSecretData { ${CLIENT_SECRET} }`,
    body: bodyOf(CreateClientSecret, 'identityId'),
    errors: ['UNIVERSAL_AUTH_NOT_FOUND'],
    example: { description: 'deploy pipeline', ttl: 2_592_000, numUsesLimit: 0 },
  }),
  clientSecrets.get('', 'List the client secrets of a machine identity, newest first', {
    field: 'clientSecrets',
  }),
  clientSecrets.get('/{clientSecretId}', 'Get a client secret, without the secret itself', {
    field: 'clientSecret',
    errors: ['CLIENT_SECRET_NOT_FOUND'],
  }),
  clientSecrets.post('/{clientSecretId}/revoke', 'Revoke a client secret', {
    field: 'revokeClientSecret',
    errors: ['CLIENT_SECRET_NOT_FOUND', 'LAST_ADMIN'],
  }),
];
