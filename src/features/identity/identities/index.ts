import './identities.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import { Identity } from '../organizations/public.js';
import { ClientSecret } from './client-secrets/client-secret.entity.js';
import { clientSecretsByIds } from './client-secrets/client-secret.relations.js';
import { ClientSecretResolver } from './client-secrets/client-secret.resolver.js';
import { clientSecretRoutes } from './client-secrets/client-secret.routes.js';
import { ClientSecretService, type RevokeTokensOfClientSecret } from './client-secrets/client-secret.service.js';
import { ClientSecretType } from './client-secrets/client-secret.type.js';
import { IdentityReader } from './identity.reader.js';
import { identitiesByIds } from './identity.relations.js';
import { IdentityResolver } from './identity.resolver.js';
import { identityRoutes } from './identity.routes.js';
import { IdentityService } from './identity.service.js';
import { identityRelationOf, identityRelations } from './relation.resolver.js';
import { IdentityTokenAuthResolver } from './token-auth/relation.resolver.js';
import { TokenAuthResolver } from './token-auth/token-auth.resolver.js';
import { tokenAuthRoutes } from './token-auth/token-auth.routes.js';
import { createTokenAuthService } from './token-auth/token-auth.service.js';
import { TokenAuthType } from './token-auth/token-auth.type.js';
import { IdentityTokenAuth } from './token-auth.entity.js';
import { IdentityUniversalAuthResolver } from './universal-auth/relation.resolver.js';
import { UniversalAuthResolver } from './universal-auth/universal-auth.resolver.js';
import { universalAuthRoutes } from './universal-auth/universal-auth.routes.js';
import { createUniversalAuthService } from './universal-auth/universal-auth.service.js';
import { IdentityUniversalAuth } from './universal-auth.entity.js';

/** Machine identities and how they authenticate. */
export function createIdentities(deps: {
  revokeTokensOfClientSecret: RevokeTokensOfClientSecret;
}): Feature & { identities: IdentityReader } {
  const identities = new IdentityReader();
  return {
    groups: [
      {
        name: 'identities',
        permission: { subject: 'identity', nouns: /^(Identities|Identity)$/ },
        title: 'Machine identities',
        description: 'Services and pipelines that call the API with their own tokens, and how they authenticate.',
        paths: /^\/api\/v\d\/identities\b/,
        parameters: { identityId: 'ID of the machine identity.' },
      },
    ],
    entities: [Identity, IdentityTokenAuth, IdentityUniversalAuth, ClientSecret],
    resolvers: [
      new IdentityResolver(new IdentityService(identities)),
      new TokenAuthResolver(createTokenAuthService(identities)),
      new UniversalAuthResolver(createUniversalAuthService(identities)),
      new ClientSecretResolver(new ClientSecretService(identities, deps.revokeTokensOfClientSecret)),
      ...identityRelations(),
      new IdentityTokenAuthResolver(),
      new IdentityUniversalAuthResolver(),
      new (identityRelationOf(TokenAuthType))(),
      new (identityRelationOf(ClientSecretType))(),
    ],
    nodes: [
      nodeKind({
        type: 'Identity',
        table: 'identity',
        reach: 'n.organization_id = $2',
        load: identitiesByIds,
        record: ({ id }) => ({ action: 'identity:get', facts: { identityId: id } }),
      }),
      nodeKind({
        type: 'ClientSecret',
        table: 'universal_auth_client_secret',
        reach: 'exists (select from identity i where i.id = n.identity_id and i.organization_id = $2)',
        load: clientSecretsByIds,
        record: ({ id, identityId }) => ({ action: 'client-secret:get', facts: { clientSecretId: id, identityId } }),
      }),
    ],
    routes: [...identityRoutes, ...tokenAuthRoutes, ...universalAuthRoutes, ...clientSecretRoutes],
    identities,
  };
}
