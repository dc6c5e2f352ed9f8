import * as z from 'zod';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { configurationResolver } from './auth-configuration.resolver.js';
import { commaSeparated, configurationRoutes, noneIfEmpty, orEmpty, renamed } from './auth-configuration.routes.js';
import { KUBERNETES_AUTH } from './kubernetes-auth.service.js';
import { TokenAuthType } from './token-auth.resolver.js';

export const KubernetesAuthType = objectType(
  'KubernetesAuth',
  'Settings of Kubernetes authentication of a machine identity, which logs in with the token of a service account: its cluster says whose it is. A change ends the sessions that were begun with it.',
  {
    host: [String, 'URL of the API of the cluster.'],
    caCertificate: [orNull(String), 'Certificates in PEM that the API is trusted by. Null: the public authorities.'],
    hasReviewerToken: [
      Boolean,
      'Whether a token of its own reviews the tokens that log in. If not, these ask for their own review.',
    ],
    namespaces: [[String], 'Patterns of namespaces. Empty: any.'],
    names: [[String], 'Patterns of the names of service accounts. Empty: any.'],
    audience: [orNull(String), 'Audience that a token must be for. Null: that of the cluster.'],
  },
  { extends: TokenAuthType },
);
export type KubernetesAuthType = InstanceType<typeof KubernetesAuthType>;

/** `identityKubernetesAuth`, `attachKubernetesAuth`, `updateKubernetesAuth` and `removeKubernetesAuth`. */
export const KubernetesAuthResolver = configurationResolver(
  KUBERNETES_AUTH,
  KubernetesAuthType,
  {
    attached: ': pods log it in with the token of their service account.',
    removed: 'The tokens issued with it are revoked immediately.',
  },
  // A credential.
  { reviewerToken: null },
);

/** Kubernetes configurations. Clients also say how tokens are reviewed, for which there is one way here. */
export const kubernetesAuthRoutes = configurationRoutes(KUBERNETES_AUTH, {
  called: 'Kubernetes',
  removal: 'Remove Kubernetes authentication and its tokens',
  select: 'identityId kubernetesHost: host *',
  words: {
    kubernetesHost: renamed('host', 'URL of the API of the cluster.'),
    caCert: orEmpty(
      'caCertificate',
      'Certificates in PEM that the API is trusted by.',
      'Certificates in PEM that the API is trusted by; empty for the public authorities.',
    ),
    tokenReviewerJwt: {
      field: 'reviewerToken',
      rule: z.string().nullish().meta({ description: 'Token of a service account that may review tokens.' }),
      read: noneIfEmpty,
    },
    allowedNamespaces: commaSeparated(
      'namespaces',
      'Patterns of namespaces, separated by commas. Empty: any.',
      'Patterns of namespaces, separated by commas; empty for any, for example `shop`.',
    ),
    allowedNames: commaSeparated(
      'names',
      'Patterns of the names of service accounts, separated by commas. Empty: any.',
      'Patterns of names, separated by commas; empty for any, for example `web`.',
    ),
    allowedAudience: orEmpty(
      'audience',
      'Audience that a token must be for. Empty: that of the cluster.',
      'Audience that a token must be for; empty for that of the cluster, for example `strongroom`.',
    ),
  },
  examples: {
    attach: {
      kubernetesHost: 'https://cluster.example.com:6443',
      allowedNamespaces: 'shop',
      allowedNames: 'web,worker',
      allowedAudience: 'strongroom',
      accessTokenTTL: 3_600,
    },
    update: { allowedNames: 'web' },
  },
});
