import type { Feature } from '../../../../feature.js';
import { nodeKind } from '../../../../kernel/graphql/node.js';
import { organizationRelationOf } from '../../../identity/organizations/public.js';
import { PasswordRule } from './password-rule.entity.js';
import { PasswordRuleResolver } from './password-rule.resolver.js';
import { PasswordRuleService, readOf } from './password-rule.service.js';
import { PasswordRuleType } from './password-rule.type.js';

/** Entities, resolvers and nodes of password rules. */
export function passwordRules(): Required<Pick<Feature, 'entities' | 'resolvers' | 'nodes'>> {
  const service = new PasswordRuleService();
  return {
    entities: [PasswordRule],
    resolvers: [new PasswordRuleResolver(service), new (organizationRelationOf(PasswordRuleType))()],
    nodes: [
      nodeKind({
        type: 'PasswordRule',
        table: 'password_rule',
        reach: 'n.organization_id = $2',
        load: service.byIds,
        record: readOf,
      }),
    ],
  };
}
