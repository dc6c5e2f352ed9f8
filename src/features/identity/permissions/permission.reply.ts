import { type Data, ofSample } from '../../../rest/route.js';
import { fromConditionsType, toConditionsType } from './condition.type.js';
import { type PermissionsInput, toRules } from './permission.rules.js';

const TEXT = '{ is eq ne in glob }';
const WORD = '{ is eq ne in }';

const PERMISSION = `subject action inverted
    conditions {
      environment ${TEXT} secretPath ${TEXT} secretName ${TEXT} secretTags { in } eventType ${WORD}
      username ${TEXT} identityId ${TEXT} groupSlug ${TEXT} role ${TEXT} subject ${WORD} action ${WORD}
      connectionId ${WORD} commonName ${TEXT} slug ${TEXT}
    }`;

/** Selection of the documents of routes for permissions, one action each. */
export const PERMISSIONS = `permissions { ${PERMISSION} }`;

/** The same with the actions of each permission in a list, as they were given. */
export const RULES = `rules { ${PERMISSION} }`;
export const LISTED_PERMISSIONS = `permissions: ${RULES}`;

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
