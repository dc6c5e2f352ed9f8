import { enumType } from '../../../kernel/graphql/enums.js';

/** GraphQL's names of the ways in which tokens come to be. */
export const AuthMethodEnum = enumType('AuthMethod', 'How an access token is issued.', {
  'token-auth': 'Token authentication: an administrator creates tokens for a machine identity.',
  'universal-auth': 'Universal authentication: a machine identity logs in with a client ID and a client secret.',
  personal: 'A personal access token of a user.',
});
export type AuthMethod = (typeof AuthMethodEnum)[keyof typeof AuthMethodEnum];
