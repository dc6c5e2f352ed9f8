import { leadsTo, relations } from '../../../kernel/graphql/relations.js';
import { IdentityType } from './identity.type.js';
import { toTokenAuthView } from './token-auth.view.js';
import { UniversalAuthType } from './universal-auth/universal-auth.type.js';
import { toUniversalAuthView } from './universal-auth/universal-auth.view.js';
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
import { configurationsOf, identitiesByIds } from './identity.relations.js';
import { IdentityResolver } from './identity.resolver.js';
import { identityRoutes } from './identity.routes.js';
import { IdentityService } from './identity.service.js';
import { identityRelationOf, identityRelations } from './relation.resolver.js';
import { TokenAuthResolver } from './token-auth/token-auth.resolver.js';
import { tokenAuthRoutes } from './token-auth/token-auth.routes.js';
import { createTokenAuthService } from './token-auth/token-auth.service.js';
import { TokenAuthType } from './token-auth/token-auth.type.js';
import { IdentityTokenAuth } from './token-auth.entity.js';
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
      relations(IdentityType, {
        tokenAuth: leadsTo(
          TokenAuthType,
          'Settings of token authentication. Null if it is not attached.',
          configurationsOf(IdentityTokenAuth, toTokenAuthView),
          ({ id, hasTokenAuth }) => (hasTokenAuth ? id : null),
        ),
        universalAuth: leadsTo(
          UniversalAuthType,
          'Settings of universal authentication. Null if it is not attached.',
          configurationsOf(IdentityUniversalAuth, toUniversalAuthView),
          ({ id, hasUniversalAuth }) => (hasUniversalAuth ? id : null),
        ),
      }),
      identityRelationOf(TokenAuthType),
      identityRelationOf(ClientSecretType),
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
