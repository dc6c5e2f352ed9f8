import './access.errors.js';
import type { Feature } from '../../feature.js';
import type { RateLimits } from '../../kernel/operations/limits/rate-limits.js';
import { AccessToken } from './access-token.entity.js';
import { AccessTokenResolver } from './access-token.resolver.js';
import { accessTokenRoutes } from './access-token.routes.js';
import { type AccessDependencies, AccessTokenService } from './access-token.service.js';
import { Authenticator } from './authenticator.js';
import { HeldUses } from './held-uses.js';
import { LoginResolver } from './login/login.resolver.js';
import { loginRoutes } from './login/login.routes.js';
import { LoginService } from './login/login.service.js';
import { TokenHolderService } from './token-holder.service.js';
import { ViewerResolver } from './viewer.resolver.js';

/** Access tokens: who makes them, and what passes with one. */
export function createAccess({
  rateLimits,
  ...others
}: AccessDependencies & { rateLimits: RateLimits }): Feature & { authenticator: Authenticator } {
  const heldUses = new HeldUses();
  const tokens = new AccessTokenService(others, heldUses);
  return {
    groups: [
      {
        name: 'auth',
        title: 'Authentication',
        description: 'How machine identities log in, and the access tokens and client secrets that they hold.',
        paths: /^\/api\/v\d\/auth\b/,
      },
    ],
    entities: [AccessToken],
    resolvers: [
      new ViewerResolver(tokens),
      new AccessTokenResolver(tokens, new TokenHolderService(rateLimits.failures)),
      new LoginResolver(new LoginService(others.organizations, rateLimits)),
    ],
    routes: [...accessTokenRoutes, ...loginRoutes],
    authenticator: new Authenticator(heldUses, rateLimits.failures),
  };
}
