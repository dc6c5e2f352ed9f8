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
  description: 'A way in which tokens come to be.',
  valuesConfig: {
    TOKEN_AUTH: { description: 'An administrator makes tokens for a machine identity.' },
    UNIVERSAL_AUTH: { description: 'A machine identity logs in with a client id and a client secret.' },
    PERSONAL: { description: 'A user has a token of its own.' },
  },
});
