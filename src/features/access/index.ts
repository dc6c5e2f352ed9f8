import type { Feature } from '../../feature.js';
import type { RateLimits } from '../../kernel/limits/rate-limits.js';
import { AccessTokenResolver } from './access-token.resolver.js';
import { accessTokenRoutes } from './access-token.routes.js';
import { type AccessDependencies, AccessTokenService } from './access-token.service.js';
import { Authenticator } from './authenticator.js';
import { HeldUses } from './held-uses.js';
import { LoginResolver } from './login.resolver.js';
import { loginRoutes } from './login.routes.js';
import { LoginService } from './login.service.js';
import { TokenHolderService } from './token-holder.service.js';

/** Access tokens: who makes them, and what passes with one. */
export function createAccess({
  rateLimits,
  ...others
}: AccessDependencies & { rateLimits: RateLimits }): Feature & { authenticator: Authenticator } {
  const heldUses = new HeldUses();
  const tokens = new AccessTokenService(others, heldUses);
  return {
    entities: [],
    resolvers: [
      new AccessTokenResolver(tokens, new TokenHolderService(rateLimits.failures)),
      new LoginResolver(new LoginService(others.organizations, rateLimits)),
    ],
    routes: [...accessTokenRoutes, ...loginRoutes],
    authenticator: new Authenticator(heldUses, rateLimits.failures),
  };
}
