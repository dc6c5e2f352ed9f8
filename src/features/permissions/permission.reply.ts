import { type Data, ofSample } from '../../rest/route.js';
import { fromConditionsType, toConditionsType } from './condition.type.js';
import { type PermissionsGiven, toRules } from './permission.rules.js';

const TEXT = '{ is eq ne in glob }';
const WORD = '{ is eq ne in }';

/** Selection of the documents of routes for a permission. */
export const PERMISSION = `subject action inverted
    conditions {
      environment ${TEXT} secretPath ${TEXT} secretName ${TEXT} secretTags { in } eventType ${WORD}
      username ${TEXT} identityId ${TEXT} groupSlug ${TEXT} role ${TEXT} subject ${WORD} action ${WORD}
      connectionId ${WORD} commonName ${TEXT} slug ${TEXT}
    }`;

const CONDITIONS = {
  type: ['object', 'null'],
  additionalProperties: true,
  description: 'Which resources it holds for, by field (`environment`, `secretPath`, ...); null: all of them.',
};

/** A permission in REST: conditions are a string, or `$eq`, `$ne`, `$in` and `$glob`, by field. */
export const toPermissionReply = (permission: Data): Data => ({
  ...permission,
  conditions: ofSample(permission.conditions, CONDITIONS) ?? fromConditionsType(permission.conditions),
});

/** Permissions of a REST body in the form of the schema: actions in a list, and conditions by field. */
export const toPermissionInputs = (permissions: PermissionsGiven) =>
  toRules(permissions).map(({ conditions, ...rule }) => ({
    ...rule,
    ...(conditions === undefined ? {} : { conditions: toConditionsType(conditions) }),
  }));
