import type { Rule } from '../../kernel/authz/ability.js';
import { type ConditionsType, fromConditionsType, toConditionsType } from './condition.type.js';
import { PermissionActionEnum } from './permission.type.js';

/** A rule as the API shows it. */
export interface ShownRule {
  readonly subject: string;
  readonly action: string[];
  readonly inverted: boolean;
  readonly conditions: ConditionsType | null;
}

const ACTIONS: ReadonlySet<string> = new Set(Object.values(PermissionActionEnum));

/** Rules as the API shows them. What a rule forbids that this version does not know of is not shown. */
export const toShownRules = (rules: readonly Rule[]): ShownRule[] =>
  rules.map(({ subject, action, inverted = false, conditions }) => ({
    subject,
    action: [action].flat().filter((verb) => ACTIONS.has(verb)),
    inverted,
    conditions: toConditionsType(conditions),
  }));

/** An input of GraphQL with its permissions as the rules of inputs have them. */
export const withPermissions = <
  I extends { readonly permissions?: readonly { readonly conditions?: ConditionsType | null }[] | null },
>(
  input: I,
) =>
  input.permissions == null
    ? input
    : {
        ...input,
        permissions: input.permissions.map(({ conditions, ...rest }) => ({
          ...rest,
          ...(conditions === undefined ? {} : { conditions: fromConditionsType(conditions) }),
        })),
      };
