import { Extensions, Resolver } from 'type-graphql';
import type { AnonymousContext, Context } from '../../../../kernel/context.js';
import { PUBLIC } from '../../../../kernel/graphql/gate/root-fields.js';
import { MINT } from '../../../../kernel/graphql/limited-operations.js';
import { objectType } from '../../../../kernel/graphql/object-types.js';
import { mutation } from '../../../../kernel/graphql/operations.js';
import { CreateAccessTokenPayload, toIssuedPayload } from '../access-token.type.js';
import { LogIn } from './login.rules.js';
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

  @Extensions({ ...PUBLIC, ...MINT })
  @mutation(
    LogIn,
    LogInWithUniversalAuthPayload,
    'Logs a machine identity in with its client ID and a client secret. Needs no Authorization header.',
  )
  async logInWithUniversalAuth(ctx: Context | AnonymousContext, input: object): Promise<LogInWithUniversalAuthPayload> {
    return toIssuedPayload(await this.service.logIn(ctx, input));
  }
}
