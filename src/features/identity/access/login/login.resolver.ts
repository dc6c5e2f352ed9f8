import { Extensions, Resolver } from 'type-graphql';
import type { AnonymousContext, Context } from '../../../../kernel/context.js';
import { PUBLIC } from '../../../../kernel/graphql/gate/root-fields.js';
import { CREATES_CREDENTIAL } from '../../../../kernel/graphql/limited-operations.js';
import { objectType } from '../../../../kernel/graphql/object-types.js';
import { mutation } from '../../../../kernel/graphql/operations.js';
import { routesAt, withoutNull } from '../../../../rest/route.js';
import { CreateAccessTokenPayload, toIssuedPayload } from '../access-token.resolver.js';
import { LogIn } from '../access-token.rules.js';
import type { LoginService } from './login.service.js';

const LogInWithUniversalAuthPayload = objectType(
  'LogInWithUniversalAuthPayload',
  'The access token of a login. The token itself is returned only once.',
  {},
  { extends: CreateAccessTokenPayload },
);
type LogInWithUniversalAuthPayload = InstanceType<typeof LogInWithUniversalAuthPayload>;

@Resolver()
export class LoginResolver {
  constructor(private readonly service: LoginService) {}

  @Extensions({ ...PUBLIC, ...CREATES_CREDENTIAL })
  @mutation(
    LogIn,
    LogInWithUniversalAuthPayload,
    'Logs a machine identity in with its client ID and a client secret. Needs no Authorization header.',
  )
  async logInWithUniversalAuth(ctx: Context | AnonymousContext, input: object): Promise<LogInWithUniversalAuthPayload> {
    return toIssuedPayload(await this.service.logIn(ctx, input));
  }
}

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
