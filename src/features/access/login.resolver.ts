import { Arg, Ctx, Extensions, Mutation, Resolver } from 'type-graphql';
import type { AnonymousContext, Context } from '../../kernel/context.js';
import { MINT } from '../../kernel/graphql/limited-operations.js';
import { PUBLIC } from '../../kernel/graphql/public-operations.js';
import { toIssuedPayload } from './access-token.resolver.js';
import type { LoginService } from './login.service.js';
import { LogInWithUniversalAuthInput, LogInWithUniversalAuthPayload } from './login.type.js';

@Resolver()
export class LoginResolver {
  constructor(private readonly service: LoginService) {}

  @Extensions({ ...PUBLIC, ...MINT })
  @Mutation(() => LogInWithUniversalAuthPayload, {
    description: 'Logs a machine identity in with its client id and a client secret. It needs no Authorization header.',
  })
  async logInWithUniversalAuth(
    @Ctx() ctx: Context | AnonymousContext,
    @Arg('input', () => LogInWithUniversalAuthInput, { description: 'Who logs in, and with what.' })
    input: LogInWithUniversalAuthInput,
  ): Promise<LogInWithUniversalAuthPayload> {
    return toIssuedPayload(await this.service.logIn(ctx, input));
  }
}
