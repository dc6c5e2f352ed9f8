import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import { compileGlob } from '../../../../kernel/authz/glob.js';
import type { BoundClaim, SessionClaim } from '../../identities/public.js';
import { MAX_KEPT_CLAIM } from '../../permissions/public.js';
import { type LoginRefusal, RefusedLogin } from './refused-login.js';

/** Asymmetric ones: a key that everybody knows must not be the secret of a symmetric one. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const SLACK_SECONDS = 30;
const MAX_KEY_ID = 256;
/** Of the keys that a token may mean. */
const MAX_KEYS_TRIED = 10;

/** What a token must be. */
export interface TokenConditions {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly subject: string | null;
  readonly claims: readonly BoundClaim[];
}

/** The key ID that a token names, if it is by its shape a token of the issuer. @throws RefusedLogin */
export function keyIdIn(token: string, { issuer }: Pick<TokenConditions, 'issuer'>): string | undefined {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    if (alg === undefined || !ALGORITHMS.includes(alg)) throw new RefusedLogin('ALGORITHM_REFUSED');
    if (kid !== undefined && (typeof kid !== 'string' || kid.length > MAX_KEY_ID))
      throw new RefusedLogin('TOKEN_MALFORMED');
    // No issuer is asked for a key on behalf of a token that is not even said to be its own.
    if (decodeJwt(token).iss !== issuer) throw new RefusedLogin('ISSUER_MISMATCH');
    return kid;
  } catch (error) {
    throw error instanceof RefusedLogin ? error : new RefusedLogin('TOKEN_MALFORMED');
  }
}

/**
 * The claims of a token that its issuer has signed, that is valid now, and that is what it must be.
 *
 * @param now of the database, in milliseconds
 * @throws RefusedLogin
 */
export async function verifiedClaims(
  token: string,
  key: JWTVerifyGetKey,
  { conditions, now }: { conditions: TokenConditions; now: number },
): Promise<JWTPayload & { readonly exp: number }> {
  const verified = await verifiedByAny(token, key, {
    algorithms: ALGORITHMS,
    issuer: conditions.issuer,
    requiredClaims: ['exp'],
    clockTolerance: SLACK_SECONDS,
    currentDate: new Date(now),
  }).catch((error: unknown) => {
    throw new RefusedLogin(refusalOf(error));
  });
  // The last of two would count, and whoever looks at the token elsewhere may see the first.
  if (hasDuplicates(token, [verified.protectedHeader, verified.payload])) throw new RefusedLogin('TOKEN_MALFORMED');
  const claims = verified.payload as JWTPayload & { readonly exp: number };
  // The library looks at the types of times alone.
  if (claims.sub !== undefined && typeof claims.sub !== 'string') throw new RefusedLogin('TOKEN_MALFORMED');
  if (claims.iat !== undefined && claims.iat > now / 1_000 + SLACK_SECONDS)
    throw new RefusedLogin('TOKEN_NOT_YET_VALID');
  const { audiences, subject } = conditions;
  const given = [claims.aud ?? []].flat();
  if (audiences.length > 0 && !given.some((audience) => audiences.includes(audience)))
    throw new RefusedLogin('AUDIENCE_MISMATCH');
  if (subject !== null && !fits(subject, claims.sub)) throw new RefusedLogin('SUBJECT_MISMATCH');
  for (const { claim, values } of conditions.claims)
    if (!textsOf(claims[claim]).some((text) => values.some((pattern) => fits(pattern, text))))
      throw new RefusedLogin('CLAIM_MISMATCH', claim);
  return claims;
}

/** Verified by one of the keys that a token may mean: an issuer may have several with one ID, and a token may name none. */
async function verifiedByAny(token: string, key: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, key, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let tried = 0;
    for await (const one of error) {
      tried += 1;
      if (tried > MAX_KEYS_TRIED) break;
      try {
        return await jwtVerify(token, one, options);
      } catch (refused) {
        if (!(refused instanceof errors.JWSSignatureVerificationFailed)) throw refused;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** The claims that are kept, by their keys. */
export const keptClaims = (claims: JWTPayload, kept: readonly SessionClaim[]): Record<string, string> =>
  Object.fromEntries(
    kept.flatMap(({ key, claim }) => {
      const given = claims[claim];
      const items = textsOf(given);
      const text = items.join(',');
      // Rules go by them: what was shortened, or put together otherwise, could be the value of somebody else.
      const isWhole =
        text === keptText(text) &&
        items.length === [given].flat().length &&
        !(Array.isArray(given) && items.some((item) => item.includes(',')));
      return text === '' || !isWhole ? [] : [[key, text]];
    }),
  );

/** As much of a text of an issuer as is kept: what the database can store. */
export const keptText = (text: string): string => text.replaceAll('\0', '').slice(0, MAX_KEPT_CLAIM).toWellFormed();

/** A claim as texts: one, or those of a list. What is neither text, number nor boolean has none. */
const textsOf = (claim: unknown): string[] =>
  [claim]
    .flat()
    .flatMap((item) => (['string', 'boolean'].includes(typeof item) || isExact(item) ? [String(item)] : []));

/** A number that no other is read as: beyond it, that of another pipeline could be. */
const isExact = (item: unknown): boolean => typeof item === 'number' && Math.abs(item) <= Number.MAX_SAFE_INTEGER;

/** Whether a text fits a pattern. */
export function fits(pattern: string, text: string | undefined): boolean {
  const test = compileGlob(pattern);
  return text !== undefined && typeof test === 'function' && test(text);
}

function refusalOf(error: unknown): LoginRefusal {
  if (error instanceof errors.JWTExpired) return 'TOKEN_EXPIRED';
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.claim === 'nbf'
      ? 'TOKEN_NOT_YET_VALID'
      : error.claim === 'iss'
        ? 'ISSUER_MISMATCH'
        : 'TOKEN_MALFORMED';
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return 'KEY_UNKNOWN';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'SIGNATURE_INVALID';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'ALGORITHM_REFUSED';
  return 'TOKEN_MALFORMED';
}

/** A text of JSON, and the colon after it if it is a name. */
const JSON_TEXT = /"(?:[^"\\]|\\.)*"\s*(:?)/g;

/**
 * Whether an object in the header or the payload names something twice, which JSON itself lets pass: more names are written than read.
 *
 * @param parts the header and the payload, as they were read
 */
const hasDuplicates = (token: string, parts: readonly [object, object]): boolean =>
  parts.some((part, at) => {
    const text = Buffer.from(token.split('.')[at] ?? '', 'base64url').toString();
    return [...text.matchAll(JSON_TEXT)].filter(([, colon]) => colon === ':').length !== namesIn(part);
  });

/** How many names the objects of a document have. Not by recursion: a token may be deeper than the stack. */
function namesIn(document: object): number {
  const left: unknown[] = [document];
  let names = 0;
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) names += Object.keys(value).length;
    for (const item of Object.values(value)) left.push(item);
  }
  return names;
}
