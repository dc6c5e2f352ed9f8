import { Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { creation, oneNamed } from '../../../../kernel/graphql/creation.js';
import { mutation, query } from '../../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted } from '../../../../kernel/paging.js';
import { PasswordRule } from './password-rule.entity.js';
import { CreatePasswordRule, ListPasswordRules, OnePasswordRule, UpdatePasswordRule } from './password-rule.rules.js';
import type { PasswordRuleService } from './password-rule.service.js';
import { PasswordRuleConnection, PasswordRuleType } from './password-rule.type.js';

@Resolver(() => PasswordRuleType)
export class PasswordRuleResolver {
  constructor(private readonly service: PasswordRuleService) {}

  @query(
    PasswordRuleConnection,
    ListPasswordRules,
    'Password rules of your organization, by name. Requires `read` on `app-connections` in the organization.',
  )
  async passwordRules(ctx: Context, args: object): Promise<CountedConnectionOf<PasswordRuleType>> {
    const { page, totalCount } = await this.service.list(ctx, args);
    return counted(page, totalCount);
  }

  @query(
    PasswordRuleType,
    OnePasswordRule,
    'A password rule, by ID. Requires `read` on `app-connections` in the organization.',
  )
  async passwordRule(ctx: Context, args: object): Promise<PasswordRuleType> {
    return this.service.get(ctx, args);
  }

  @creation(
    CreatePasswordRule,
    { passwordRule: [PasswordRuleType, 'The created password rule.'] },
    'Creates a password rule. Anyone who can create or edit rotations of local accounts can use it by name. Requires `create` on `app-connections` in the organization.',
    {
      find: (rules: PasswordRuleResolver, ctx, { name }) =>
        oneNamed(ctx, PasswordRule, { organizationId: ctx.organizationId, name }, (id) =>
          rules.passwordRule(ctx, { id }),
        ),
      taken: 'PASSWORD_RULE_NAME_TAKEN',
      compare: {},
    },
  )
  async createPasswordRule(ctx: Context, input: object): Promise<{ passwordRule: PasswordRuleType }> {
    return { passwordRule: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdatePasswordRule,
    { passwordRule: [PasswordRuleType, 'The updated password rule.'] },
    'Updates a password rule. Accounts that use it get a matching password at their next rotation. Requires `edit` on `app-connections` in the organization.',
  )
  async updatePasswordRule(ctx: Context, input: object): Promise<{ passwordRule: PasswordRuleType }> {
    return { passwordRule: await this.service.update(ctx, input) };
  }

  @mutation(
    OnePasswordRule,
    { passwordRule: [PasswordRuleType, 'The deleted password rule.'] },
    'Deletes a password rule that no rotation uses. Requires `delete` on `app-connections` in the organization.',
  )
  async deletePasswordRule(ctx: Context, input: object): Promise<{ passwordRule: PasswordRuleType }> {
    return { passwordRule: await this.service.delete(ctx, input) };
  }
}
