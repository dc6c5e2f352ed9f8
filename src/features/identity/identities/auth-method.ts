import { registerEnumType } from 'type-graphql';

/** GraphQL's names of the ways in which tokens come to be. */
export const AuthMethodEnum = {
  TOKEN_AUTH: 'token-auth',
  UNIVERSAL_AUTH: 'universal-auth',
  PERSONAL: 'personal',
} as const;
export type AuthMethod = (typeof AuthMethodEnum)[keyof typeof AuthMethodEnum];
registerEnumType(AuthMethodEnum, {
  name: 'AuthMethod',
  description: 'How an access token is issued.',
  valuesConfig: {
    TOKEN_AUTH: { description: 'Token authentication: an administrator creates tokens for a machine identity.' },
    UNIVERSAL_AUTH: {
      description: 'Universal authentication: a machine identity logs in with a client ID and a client secret.',
    },
    PERSONAL: { description: 'A personal access token of a user.' },
  },
});
