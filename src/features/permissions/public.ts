export { ORGANIZATION_VOCABULARY } from './actions.js';
export { attributesOf } from './attributes.js';
export { rightsBeyond, rightsBeyondChange } from './boundary.js';
export {
  builtInProjectRoles,
  isBuiltIn,
  isBuiltInOfOrganization,
  ORGANIZATION_ROLES,
  PROJECT_ROLES,
} from './built-in-roles.js';
export { type Explanation, explain, type HeldOrigins } from './explanation.js';
export { PERMISSION, toPermissionInputs, toPermissionReply } from './permission.reply.js';
export { Permissions, type PermissionsGiven, toRules } from './permission.rules.js';
export { PermissionInput, PermissionRuleType, PermissionType } from './permission.type.js';
export { toShownRules, withPermissions } from './permission.view.js';
export { type HeldRoles, organizationRights, projectRights, rulesOfOrganizationRoles, rulesOfRoles } from './rights.js';
export { type FieldChange, selectsOtherwise } from './selection.js';
export { readStoredRules } from './stored-rules.js';
