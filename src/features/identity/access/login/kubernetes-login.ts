import * as z from 'zod';
import type { Context } from '../../../../kernel/context.js';
import { AppError } from '../../../../kernel/errors.js';
import { send, type TargetPolicy } from '../../../../kernel/outbound/http.js';
import { OutboundError } from '../../../../kernel/outbound/outbound-error.js';
import { openReviewerToken } from '../../identities/public.js';
import { fits } from './oidc-token.js';
import {
  FIND_KUBERNETES_CLIENT,
  HOLD_KUBERNETES_CONFIGURATION,
  type KubernetesClientRow,
} from './platform-check.sql.js';
import type { PlatformLogin } from './platform-login.service.js';
import { PlatformQuestions } from './platform-questions.js';
import { RefusedLogin } from './refused-login.js';

const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
const LIMIT_MS = 5_000;
const MAX_BYTES = 262_144;
/** A signed token has three parts. No cluster is asked about anything else. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** The answer of a cluster, as far as it is read. */
const Review = z.object({
  status: z.object({
    authenticated: z.boolean().optional(),
    // Empty where the token is not good.
    user: z.object({ username: z.string().optional() }).optional(),
    audiences: z.array(z.string()).optional(),
  }),
});

/**
 * Logins with tokens of service accounts, of which their cluster says whose they are and whether they are still good: that of a pod that
 * is gone is not, whatever it says of its end.
 *
 * Source: TokenReview of `authentication.k8s.io/v1`, Kubernetes API reference.
 */
export const kubernetesLogin = (
  policy: TargetPolicy,
  questions = new PlatformQuestions(),
): PlatformLogin<KubernetesClientRow> => ({
  method: 'kubernetes-auth',
  find: FIND_KUBERNETES_CLIENT,
  hold: HOLD_KUBERNETES_CONFIGURATION,
  prove: async (ctx, client, token) => {
    if (!TOKEN.test(token)) throw new RefusedLogin('TOKEN_MALFORMED');
    const review = await questions.ask(client, client.host, () => reviewed(ctx, { client, token, policy }));
    if (review === null) throw new RefusedLogin('REVIEW_UNAVAILABLE');
    const { authenticated, user, audiences = [] } = review;
    const [username, namespace, name] = ACCOUNT.exec(user?.username ?? '') ?? [];
    if (authenticated !== true || username === undefined || namespace === undefined || name === undefined)
      throw new RefusedLogin('TOKEN_REJECTED');
    // A cluster that does not know of audiences says none, and its answer would be for any.
    if (client.audience !== null && !audiences.includes(client.audience)) throw new RefusedLogin('AUDIENCE_MISMATCH');
    if (!isOneOf(client.namespaces, namespace)) throw new RefusedLogin('NAMESPACE_MISMATCH');
    if (!isOneOf(client.names, name)) throw new RefusedLogin('NAME_MISMATCH');
    return { subject: username, sessionClaims: { namespace, name } };
  },
});

const isOneOf = (patterns: readonly string[], text: string): boolean =>
  patterns.length === 0 || patterns.some((pattern) => fits(pattern, text));

/** What the cluster says of a token. @throws RefusedLogin REVIEW_UNAVAILABLE */
async function reviewed(
  ctx: Context,
  { client, token, policy }: { client: KubernetesClientRow; token: string; policy: TargetPolicy },
): Promise<z.output<typeof Review>['status']> {
  const reviewer =
    client.reviewerTokenSealed === null ? token : await reviewerOf(ctx, client, client.reviewerTokenSealed);
  const spec = { token, ...(client.audience !== null && { audiences: [client.audience] }) };
  try {
    const { body } = await send(
      ctx,
      {
        url: client.host.replace(/\/+$/, '') + REVIEWS,
        method: 'POST',
        headers: {
          Authorization: `Bearer ${reviewer}`,
          'Content-Type': 'application/json',
          Accept: 'application/json',
        },
        body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }),
        limitMs: LIMIT_MS,
        maxResponseBytes: MAX_BYTES,
        caCertificate: client.caCertificate,
      },
      policy,
    );
    const answer = Review.safeParse(JSON.parse(body.toString()));
    if (answer.success) return answer.data.status;
  } catch (error) {
    // Its own token is not good enough to ask, which says the same of it.
    if (error instanceof OutboundError && error.status === 401 && client.reviewerTokenSealed === null)
      throw new RefusedLogin('TOKEN_REJECTED');
    if (!(error instanceof OutboundError) && !(error instanceof SyntaxError)) throw error;
    ctx.log?.warn('token not reviewed', { reason: error instanceof OutboundError ? error.code : 'MALFORMED' });
  }
  throw new RefusedLogin('REVIEW_UNAVAILABLE');
}

/** @throws RefusedLogin for a token that cannot be decrypted: whoever is not let in yet learns nothing of keys */
async function reviewerOf(
  ctx: Context,
  { actorId: identityId, reviewerTokenVersion }: KubernetesClientRow,
  sealed: Uint8Array,
): Promise<string> {
  try {
    return await openReviewerToken(ctx, { identityId, reviewerTokenVersion }, Buffer.from(sealed));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    ctx.log?.warn('token not reviewed', { reason: error.code });
    throw new RefusedLogin('REVIEW_UNAVAILABLE');
  }
}
