import { type Data, ofSample } from '../../rest/route.js';
import { fromConditionsType } from '../permissions/public.js';

const TEXT = '{ is eq ne in glob }';

/** What documents of routes ask of the permissions of a role. */
export const PERMISSIONS = `permissions {
    subject action inverted
    conditions {
      environment ${TEXT} secretPath ${TEXT} secretName ${TEXT} secretTags { in } eventType { is eq ne in }
    }
  }`;

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
