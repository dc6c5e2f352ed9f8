import { Ctx, Extensions, Mutation, Resolver } from 'type-graphql';
import type { AnonymousContext, Context } from '../../../kernel/context.js';
import { PUBLIC } from '../../../kernel/graphql/gate/public-operations.js';
import { Input } from '../../../kernel/graphql/inputs.js';
import { MINT } from '../../../kernel/graphql/limited-operations.js';
import { toIssuedPayload } from '../access-token.type.js';
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
    @Input(LogInWithUniversalAuthInput) input: object,
  ): Promise<LogInWithUniversalAuthPayload> {
    return toIssuedPayload(await this.service.logIn(ctx, input));
  }
}
