import { Extensions, Resolver } from 'type-graphql';
import type { z } from 'zod';
import type { AnonymousContext, Context } from '../../../../kernel/context.js';
import { PUBLIC } from '../../../../kernel/graphql/gate/root-fields.js';
import { CREATES_CREDENTIAL } from '../../../../kernel/graphql/limited-operations.js';
import { objectType } from '../../../../kernel/graphql/object-types.js';
import { mutation } from '../../../../kernel/graphql/operations.js';
import { type Data, routesAt, withoutNull } from '../../../../rest/route.js';
import type { AuthMethod } from '../../identities/public.js';
import { CreateAccessTokenPayload, toIssuedPayload } from '../access-token.resolver.js';
import { LogIn, LogInWithToken } from '../access-token.rules.js';
import type { LoginService } from './login.service.js';
import type { KubernetesClientRow, OidcClientRow } from './platform-check.sql.js';
import type { PlatformLoginService } from './platform-login.service.js';

const loginPayload = (name: string) =>
  objectType(
    name,
    'The access token of a login. The token itself is returned only once.',
    {},
    { extends: CreateAccessTokenPayload },
  );

@Resolver()
export class LoginResolver {
  constructor(
    private readonly universalAuth: LoginService,
    private readonly oidc: PlatformLoginService<OidcClientRow>,
    private readonly kubernetes: PlatformLoginService<KubernetesClientRow>,
  ) {}

  @Extensions({ ...PUBLIC, ...CREATES_CREDENTIAL })
  @mutation(
    LogIn,
    loginPayload('LogInWithUniversalAuthPayload'),
    'Logs a machine identity in with its client ID and a client secret. Needs no Authorization header.',
  )
  async logInWithUniversalAuth(ctx: Context | AnonymousContext, input: object): Promise<CreateAccessTokenPayload> {
    return toIssuedPayload(await this.universalAuth.logIn(ctx, input));
  }

  @Extensions({ ...PUBLIC, ...CREATES_CREDENTIAL })
  @mutation(
    LogInWithToken,
    loginPayload('LogInWithOidcPayload'),
    'Logs a machine identity in with a token that its own platform issued: GitHub Actions, GitLab, Kubernetes or any other issuer of OpenID Connect. Needs no Authorization header. A refusal does not say why; the audit trail does.',
  )
  async logInWithOidc(ctx: Context | AnonymousContext, input: object): Promise<CreateAccessTokenPayload> {
    return toIssuedPayload(await this.oidc.logIn(ctx, input));
  }

  @Extensions({ ...PUBLIC, ...CREATES_CREDENTIAL })
  @mutation(
    LogInWithToken,
    loginPayload('LogInWithKubernetesPayload'),
    'Logs a machine identity in with the token of a Kubernetes service account, which its cluster reviews. Needs no Authorization header. A refusal does not say why; the audit trail does.',
  )
  async logInWithKubernetes(ctx: Context | AnonymousContext, input: object): Promise<CreateAccessTokenPayload> {
    return toIssuedPayload(await this.kubernetes.logIn(ctx, input));
  }
}

const IDENTITY_ID = '2b7f6c1e-3f0a-4f6e-9b57-0d1f6f1c9a11';
// Well-formed, with a wrong checksum.
const CLIENT_SECRET = 'srs_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM';
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJhIn0.c2lnbmF0dXJl';

const loginAt = (method: AuthMethod, field: string, rules: z.ZodObject, example: Data, summary: string) =>
  routesAt(`/api/v1/auth/${method}`, { select: 'accessToken expiresIn accessTokenMaxTTL tokenType' }).post(
    '/login',
    summary,
    {
      anonymous: true,
      sensitive: true,
      field,
      body: withoutNull(rules),
      form: true,
      absent: { organizationSlug: '' },
      errors: ['ORGANIZATION_NOT_FOUND'],
      example,
    },
  );

/** Logins. */
export const loginRoutes = [
  loginAt(
    'universal-auth',
    'logInWithUniversalAuth',
    LogIn,
    { clientId: IDENTITY_ID, clientSecret: CLIENT_SECRET },
    'Log a machine identity in with its client id and a client secret',
  ),
  loginAt(
    'oidc-auth',
    'logInWithOidc',
    LogInWithToken,
    { identityId: IDENTITY_ID, jwt: JWT },
    'Log a machine identity in with a token that its own platform issued',
  ),
  loginAt(
    'kubernetes-auth',
    'logInWithKubernetes',
    LogInWithToken,
    { identityId: IDENTITY_ID, jwt: JWT },
    'Log a machine identity in with the token of a Kubernetes service account',
  ),
];
