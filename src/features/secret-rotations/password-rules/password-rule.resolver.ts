import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted } from '../../../kernel/paging.js';
import { CreatePasswordRule, ListPasswordRules, OnePasswordRule, UpdatePasswordRule } from './password-rule.rules.js';
import type { PasswordRuleService } from './password-rule.service.js';
import { PasswordRuleConnection, PasswordRuleType } from './password-rule.type.js';

@Resolver(() => PasswordRuleType)
export class PasswordRuleResolver {
  constructor(private readonly service: PasswordRuleService) {}

  @query(
    PasswordRuleConnection,
    ListPasswordRules,
    'The password rules of your organization, by name. Needs `read` on app-connections in the organization.',
  )
  async passwordRules(ctx: Context, args: object): Promise<CountedConnectionOf<PasswordRuleType>> {
    const { page, totalCount } = await this.service.list(ctx, args);
    return counted(page, totalCount);
  }

  @query(
    PasswordRuleType,
    OnePasswordRule,
    'One password rule by its id. Needs `read` on app-connections in the organization.',
  )
  async passwordRule(ctx: Context, args: object): Promise<PasswordRuleType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    CreatePasswordRule,
    { passwordRule: [PasswordRuleType, 'The new rule.'] },
    'Makes a password rule, which whoever may make or change rotations of local accounts may use by its name. Needs `create` on app-connections in the organization.',
  )
  async createPasswordRule(ctx: Context, input: object): Promise<{ passwordRule: PasswordRuleType }> {
    return { passwordRule: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdatePasswordRule,
    { passwordRule: [PasswordRuleType, 'The rule as it is now.'] },
    'Changes a password rule. Each account that uses it gets such a password with its next rotation. Needs `edit` on app-connections in the organization.',
  )
  async updatePasswordRule(ctx: Context, input: object): Promise<{ passwordRule: PasswordRuleType }> {
    return { passwordRule: await this.service.update(ctx, input) };
  }

  @mutation(
    OnePasswordRule,
    { passwordRule: [PasswordRuleType, 'The deleted rule.'] },
    'Deletes a password rule that no rotation uses. Needs `delete` on app-connections in the organization.',
  )
  async deletePasswordRule(ctx: Context, input: object): Promise<{ passwordRule: PasswordRuleType }> {
    return { passwordRule: await this.service.delete(ctx, input) };
  }
}
