import { routesAt, withoutNull } from '../../../../rest/route.js';
import { LogIn } from './login.rules.js';

const auth = routesAt('/api/v1/auth/universal-auth', {
  select: 'accessToken expiresIn accessTokenMaxTTL tokenType',
});

/** Logins. */
export const loginRoutes = [
  auth.post('/login', 'Log a machine identity in with its client id and a client secret', {
    anonymous: true,
    sensitive: true,
    field: 'logInWithUniversalAuth',
    body: withoutNull(LogIn),
    form: true,
    absent: { organizationSlug: '' },
    errors: ['ORGANIZATION_NOT_FOUND'],
    // Well-formed, with a wrong checksum.
    example: {
      clientId: '2b7f6c1e-3f0a-4f6e-9b57-0d1f6f1c9a11',
      clientSecret: 'srs_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM',
    },
  }),
];
