import type { z } from 'zod';
import type { AuthConfiguration } from './auth-configuration.service.js';
import { toTokenAuthView } from './auth-configuration.view.js';
import { IdentityKubernetesAuth } from './kubernetes-auth.entity.js';
import { KubernetesAuthRules, requireAccounts } from './kubernetes-auth.rules.js';
import { sealReviewerToken } from './reviewer-token.js';

/** The Kubernetes configuration of an identity as services pass it on. */
const toKubernetesAuthView = (row: IdentityKubernetesAuth) => ({
  ...toTokenAuthView(row),
  host: row.host,
  caCertificate: row.caCertificate ?? null,
  hasReviewerToken: row.reviewerTokenSealed != null,
  namespaces: row.namespaces,
  names: row.names,
  audience: row.audience ?? null,
});

/** An identity logs in with the token of a service account, which its cluster reviews. */
export const KUBERNETES_AUTH: AuthConfiguration<
  IdentityKubernetesAuth,
  ReturnType<typeof toKubernetesAuthView>,
  z.output<typeof KubernetesAuthRules.update>
> = {
  method: 'kubernetes-auth',
  errors: { exists: 'KUBERNETES_AUTH_EXISTS', missing: 'KUBERNETES_AUTH_NOT_FOUND' },
  rules: KubernetesAuthRules,
  entity: IdentityKubernetesAuth,
  columns: async (tx, { reviewerToken, ...conditions }, { identityId, stored }) => {
    if (reviewerToken == null) return { ...conditions, reviewerTokenSealed: reviewerToken };
    const reviewerTokenVersion = (stored?.reviewerTokenVersion ?? 0) + 1;
    const reviewerTokenSealed = await sealReviewerToken(tx, { identityId, reviewerTokenVersion }, reviewerToken);
    return { ...conditions, reviewerTokenVersion, reviewerTokenSealed };
  },
  requireWhole: requireAccounts,
  view: toKubernetesAuthView,
  endsSessions: true,
};
