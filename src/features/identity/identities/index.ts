import { IdentityResolver, identityRelations, identityRoutes } from './identity.resolver.js';
import { UniversalAuthResolver, universalAuthRoutes } from './universal-auth.resolver.js';
import './identities.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import { Identity } from '../organizations/public.js';
import { AuthConfigurationService, TOKEN_AUTH, UNIVERSAL_AUTH } from './auth-configuration.service.js';
import { ClientSecret } from './client-secret.entity.js';
import { ClientSecretResolver, clientSecretRoutes } from './client-secret.resolver.js';
import { ClientSecretService, clientSecretsByIds } from './client-secret.service.js';
import { IdentityReader, identitiesByIds } from './identity.reader.js';
import { IdentityService } from './identity.service.js';
import { IdentityKubernetesAuth } from './kubernetes-auth.entity.js';
import { KubernetesAuthResolver, kubernetesAuthRoutes } from './kubernetes-auth.resolver.js';
import { KUBERNETES_AUTH } from './kubernetes-auth.service.js';
import { IdentityOidcAuth } from './oidc-auth.entity.js';
import { OidcAuthResolver, oidcAuthRoutes } from './oidc-auth.resolver.js';
import { OIDC_AUTH } from './oidc-auth.service.js';
import { IdentityTokenAuth } from './token-auth.entity.js';
import { TokenAuthResolver, tokenAuthRoutes } from './token-auth.resolver.js';
import { IdentityUniversalAuth } from './universal-auth.entity.js';

/** Machine identities and how they authenticate. */
export function createIdentities(): Feature & { identities: IdentityReader } {
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
    entities: [
      Identity,
      IdentityTokenAuth,
      IdentityUniversalAuth,
      IdentityOidcAuth,
      IdentityKubernetesAuth,
      ClientSecret,
    ],
    resolvers: [
      new IdentityResolver(new IdentityService(identities)),
      new TokenAuthResolver(new AuthConfigurationService(identities, TOKEN_AUTH)),
      new UniversalAuthResolver(new AuthConfigurationService(identities, UNIVERSAL_AUTH)),
      new KubernetesAuthResolver(new AuthConfigurationService(identities, KUBERNETES_AUTH)),
      new OidcAuthResolver(new AuthConfigurationService(identities, OIDC_AUTH)),
      new ClientSecretResolver(new ClientSecretService(identities)),
      ...identityRelations(),
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
    routes: [
      ...identityRoutes,
      ...tokenAuthRoutes,
      ...universalAuthRoutes,
      ...oidcAuthRoutes,
      ...kubernetesAuthRoutes,
      ...clientSecretRoutes,
    ],
    identities,
  };
}
