export { ORGANIZATION_VOCABULARY } from './actions.js';
export { attributesOf } from './attributes.js';
export { rightsBeyond, rightsBeyondChange } from './boundary.js';
export { builtInRoleId, isBuiltInForm } from './built-in-role-id.js';
export {
  builtInOrganizationRoles,
  builtInProjectRoles,
  isBuiltIn,
  isBuiltInOfOrganization,
  ORGANIZATION_ROLES,
  PROJECT_ROLES,
} from './built-in-roles.js';
export { PERMISSION, toPermissionInputs, toPermissionReply } from './permission.reply.js';
export { OrganizationPermissions, Permissions, type PermissionsGiven, toRules } from './permission.rules.js';
export {
  OrganizationPermissionInput,
  OrganizationPermissionType,
  PermissionInput,
  PermissionRuleType,
  PermissionType,
} from './permission.type.js';
export { type ShownRule, toShownRules, withPermissions } from './permission.view.js';
export { type HeldRoles, organizationRights, projectRights, rulesOfOrganizationRoles, rulesOfRoles } from './rights.js';
export { type FieldChange, selectsOtherwise } from './selection.js';
export { readStoredRules } from './stored-rules.js';
