import { type Data, ofSample } from '../../../rest/route.js';
import { type PermissionsInput, toRules } from './permission.rules.js';
import { fromConditionsType, toConditionsType } from './permission.type.js';

const CONDITIONS = {
  type: ['object', 'null'],
  additionalProperties: true,
  description: 'Which resources it holds for, by field (`environment`, `secretPath`, ...); null: all of them.',
};

/** What has permissions in REST: their conditions are a string, or `$eq`, `$ne`, `$in` and `$glob`, by field. */
export const withReplyPermissions = ({ permissions, ...rest }: Data): Data => ({
  ...rest,
  permissions: permissions.map((permission: Data) => ({
    ...permission,
    conditions: ofSample(permission.conditions, CONDITIONS) ?? fromConditionsType(permission.conditions),
  })),
});

/** Permissions of a REST body in the form of the schema, if it has any: actions in a list, and conditions by field. */
export const permissionsIn = (given: PermissionsInput | undefined) =>
  given === undefined
    ? {}
    : {
        permissions: toRules(given).map(({ conditions, ...rule }) => ({
          ...rule,
          ...(conditions === undefined ? {} : { conditions: toConditionsType(conditions) }),
        })),
      };
