export { rightsBeyond, rightsBeyondChange } from './boundary.js';
export {
  builtInProjectRoles,
  isBuiltIn,
  ORGANIZATION_ROLES,
  type OrganizationRole,
  organizationAbility,
  PROJECT_ROLES,
} from './built-in-roles.js';
export { fromConditionsType, toConditionsType } from './condition.type.js';
export { Permissions, type PermissionsGiven, toRules } from './permission.rules.js';
export { PermissionActionEnum, PermissionInput, PermissionRuleType, PermissionType } from './permission.type.js';
export { projectRights, rulesOfRoles } from './rights.js';
export { type FieldChange, selectsOtherwise } from './selection.js';
export { readStoredRules } from './stored-rules.js';
