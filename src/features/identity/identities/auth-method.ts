import { enumType } from '../../../kernel/graphql/enums.js';

/** GraphQL's names of the ways in which tokens come to be. */
export const AuthMethodEnum = enumType('AuthMethod', 'How an access token is issued.', {
  'token-auth': 'Token authentication: an administrator creates tokens for a machine identity.',
  'universal-auth': 'Universal authentication: a machine identity logs in with a client ID and a client secret.',
  'oidc-auth': 'OpenID Connect: a machine identity logs in with a token that its own platform issued.',
  'kubernetes-auth':
    'Kubernetes: a machine identity logs in with the token of a service account, which its cluster reviews.',
  personal: 'A personal access token of a user.',
});
export type AuthMethod = (typeof AuthMethodEnum)[keyof typeof AuthMethodEnum];
