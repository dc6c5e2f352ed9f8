import { route, withoutNull } from '../../../rest/route.js';
import { LogIn } from './login.rules.js';

/** Logins. Source: behaviour 3, for the login with a client secret. */
export const loginRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/auth/universal-auth/login',
    summary: 'Log a machine identity in with its client id and a client secret',
    extension: true,
    anonymous: true,
    sensitive: true,
    body: withoutNull(LogIn),
    document: `mutation ($input: LogInWithUniversalAuthInput!) {
      logInWithUniversalAuth(input: $input) { accessToken expiresIn accessTokenMaxTTL tokenType }
    }`,
    variables: ({ body }) => ({ input: body }),
    reply: ({ logInWithUniversalAuth }) => logInWithUniversalAuth,
    errors: ['ORGANIZATION_NOT_FOUND'],
    // Of the right form, with a wrong checksum.
    example: {
      clientId: '2b7f6c1e-3f0a-4f6e-9b57-0d1f6f1c9a11',
      clientSecret: 'srs_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM',
    },
  }),
];
