import { hashToken } from '../../../../kernel/crypto/token.js';
import type { IssuerKeys } from './issuer-keys.js';
import { keptClaims, keptText, keyIdIn, verifiedClaims } from './oidc-token.js';
import {
  FIND_OIDC_CLIENT,
  HOLD_OIDC_CONFIGURATION,
  type OidcClientRow,
  USE_LOGIN_TOKEN,
} from './platform-check.sql.js';
import type { PlatformLogin } from './platform-login.service.js';
import { RefusedLogin } from './refused-login.js';

/** Used tokens are remembered so long after they have expired: they pass with some slack. */
const SLACK_SECONDS = 60;
/** The end of the year 9999: an issuer may say any number. */
const LATEST = 253_402_300_799;

/** Logins with tokens of issuers of OpenID Connect, which are believed by the signature. */
export const oidcLogin = (issuerKeys: IssuerKeys): PlatformLogin<OidcClientRow> => ({
  method: 'oidc-auth',
  find: FIND_OIDC_CLIENT,
  hold: HOLD_OIDC_CONFIGURATION,
  prove: async (ctx, client, token) => {
    const key = await issuerKeys.of(ctx, client, keyIdIn(token, client));
    if (key === null) throw new RefusedLogin('KEYS_UNAVAILABLE');
    const claims = await verifiedClaims(token, key, { conditions: client, now: client.now });
    const used = {
      identityId: client.actorId,
      tokenHash: hashToken(signedPart(token)),
      expiresAt: Math.min(claims.exp + SLACK_SECONDS, LATEST),
    };
    return {
      subject: claims.sub === undefined ? null : keptText(claims.sub),
      sessionClaims: keptClaims(claims, client.sessionClaims),
      ...(client.isSingleUse && {
        use: async (tx) => {
          if ((await USE_LOGIN_TOKEN(tx, used)).length === 0) throw new RefusedLogin('TOKEN_REUSED');
        },
      }),
    };
  },
});

/**
 * What the signature is of, which nobody but the issuer can write otherwise. The signature itself has several forms: in base64url, and
 * with elliptic curves two numbers that both are right.
 */
const signedPart = (token: string): string => token.slice(0, token.lastIndexOf('.'));
