import { type Data, ofSample } from '../../rest/route.js';
import { fromConditionsType, type PermissionsGiven, toConditionsType, toRules } from '../permissions/public.js';

const TEXT = '{ is eq ne in glob }';

const ENTRY = `subject action inverted
    conditions {
      environment ${TEXT} secretPath ${TEXT} secretName ${TEXT} secretTags { in } eventType { is eq ne in }
    }`;

/** What documents of routes ask of the permissions of a role. */
export const PERMISSIONS = `permissions {
    ${ENTRY}
  }`;

/** As `PERMISSIONS`, with the actions of each rule in a list. */
export const RULES = `permissions: rules {
    ${ENTRY}
  }`;

/** Actions in a list and conditions by field, as the schema has them. */
export const inLists = (permissions: PermissionsGiven) =>
  toRules(permissions).map(({ conditions, ...rule }) => ({
    ...rule,
    ...(conditions === undefined ? {} : { conditions: toConditionsType(conditions) }),
  }));

const CONDITIONS = {
  type: ['object', 'null'],
  additionalProperties: true,
  description: 'Which things it holds for, by field (`environment`, `secretPath`, ...); null: all of them.',
};

/** A role as REST has it: conditions are a text, or `$eq`, `$ne`, `$in` and `$glob`, by field. Source: specification, Permission. */
export const toRoleReply = ({ permissions, ...role }: Data): Data => ({
  ...role,
  permissions: permissions.map((permission: Data) => ({
    ...permission,
    conditions: ofSample(permission.conditions, CONDITIONS) ?? fromConditionsType(permission.conditions),
  })),
});
