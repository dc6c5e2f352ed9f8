import './access.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import type { RateLimits } from '../../../kernel/operations/limits/rate-limits.js';
import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import { AccessToken } from './access-token.entity.js';
import {
  AccessTokenResolver,
  accessTokenRelations,
  IdentityTokensResolver,
  ManyTokensResolver,
} from './access-token.resolver.js';
import { accessTokenRoutes } from './access-token.routes.js';
import { type AccessDependencies, AccessTokenService } from './access-token.service.js';
import { Authenticator } from './authenticator.js';
import { ACCESS_CHANGES_JOB, ENDED_TOKENS_JOB } from './cleaning-jobs.js';
import { IssuerKeys } from './login/issuer-keys.js';
import { kubernetesLogin } from './login/kubernetes-login.js';
import { LoginResolver, loginRoutes } from './login/login.resolver.js';
import { LoginService } from './login/login.service.js';
import { oidcLogin } from './login/oidc-login.js';
import type { PlatformClientRow } from './login/platform-check.sql.js';
import { type PlatformLogin, PlatformLoginService } from './login/platform-login.service.js';
import { PendingTokenUses } from './pending-token-uses.js';
import { TokenHolderService } from './token-holder.service.js';
import { TokenListService } from './token-list.service.js';
import { TokenRevocationService } from './token-revocation.service.js';
import { UsedLoginToken } from './used-login-token.entity.js';
import { ViewerResolver } from './viewer.resolver.js';

/**
 * Tokens of the caller, and of identities and users of its organization; for a token of a sub-organization those of the
 * same scope.
 */
const TOKENS_IN_REACH = `($2::uuid = $3::uuid or n.organization_id = $2) and (n.user_id = $4
  or exists (select from identity i where i.id = n.identity_id and i.organization_id = $2)
  or exists (select from app_user u where u.id = n.user_id and u.organization_id = $2))`;

/** Access tokens: creating, checking, renewing and revoking them. */
export function createAccess({
  rateLimits,
  policy,
  ...others
}: AccessDependencies & { rateLimits: RateLimits; policy: TargetPolicy }): Feature & { authenticator: Authenticator } {
  const pendingUses = new PendingTokenUses();
  const tokens = new AccessTokenService(others, pendingUses);
  const logins = <Client extends PlatformClientRow>(way: PlatformLogin<Client>) =>
    new PlatformLoginService(others.organizations, rateLimits, way);
  const lists = new TokenListService(others, pendingUses);
  return {
    groups: [
      {
        name: 'auth',
        title: 'Authentication',
        description: 'Logins of machine identities, and their access tokens and client secrets.',
        paths: /^\/api\/v\d\/auth\b/,
      },
    ],
    entities: [AccessToken, UsedLoginToken],
    jobs: [ENDED_TOKENS_JOB, ACCESS_CHANGES_JOB],
    resolvers: [
      new ViewerResolver(tokens),
      new AccessTokenResolver(tokens, new TokenHolderService(rateLimits.failures)),
      new ManyTokensResolver(lists, new TokenRevocationService(others.identities, pendingUses)),
      accessTokenRelations(tokens),
      new IdentityTokensResolver(lists),
      new LoginResolver(
        new LoginService(others.organizations, rateLimits),
        logins(oidcLogin(new IssuerKeys(policy))),
        logins(kubernetesLogin(policy)),
      ),
    ],
    nodes: [
      nodeKind({
        type: 'AccessToken',
        table: 'access_token',
        reach: TOKENS_IN_REACH,
        load: tokens.byIds,
        record: ({ id }) => ({ action: 'access-token:get', facts: { accessTokenId: id } }),
      }),
    ],
    routes: [...accessTokenRoutes, ...loginRoutes],
    authenticator: new Authenticator(pendingUses, rateLimits.failures),
  };
}
