import type { Rule } from '../../kernel/authz/ability.js';
import { type ConditionsType, fromConditionsType, toConditionsType } from './condition.type.js';
import { PermissionActionEnum } from './permission.type.js';

/** Converts a rule to its API type. */
export interface ShownRule {
  readonly subject: string;
  readonly action: string[];
  readonly inverted: boolean;
  readonly conditions: ConditionsType | null;
}

const ACTIONS: ReadonlySet<string> = new Set(Object.values(PermissionActionEnum));

/** Converts rules to their API type. Rules about subjects or actions that this version does not know are left out. */
export const toShownRules = (rules: readonly Rule[]): ShownRule[] =>
  rules.map(({ subject, action, inverted = false, conditions }) => ({
    subject,
    action: [action].flat().filter((verb) => ACTIONS.has(verb)),
    inverted,
    conditions: toConditionsType(conditions),
  }));

/** A GraphQL input with its permissions in the form of the rules of inputs. */
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
