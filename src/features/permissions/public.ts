export { ORGANIZATION_VOCABULARY, PROJECT_ACTIONS } from './actions.js';
export { attributesOf } from './attributes.js';
export { rightsBeyond, rightsBeyondChange } from './boundary.js';
export {
  builtInProjectRoles,
  isBuiltIn,
  isBuiltInOfOrganization,
  ORGANIZATION_ROLES,
  PROJECT_ROLES,
} from './built-in-roles.js';
export {
  type EffectiveRule,
  type Explanation,
  effectiveRules,
  explain,
  type HeldOrigins,
  type RuleOrigin,
} from './explanation.js';
export { PERMISSION, toPermissionInputs, toPermissionReply } from './permission.reply.js';
export { Permissions, type PermissionsGiven, toRules } from './permission.rules.js';
export {
  PermissionActionEnum,
  PermissionInput,
  PermissionRuleType,
  PermissionSubjectEnum,
  PermissionType,
} from './permission.type.js';
export { toShownRules, withPermissions } from './permission.view.js';
export { type HeldRoles, organizationRights, projectRights, rulesOfOrganizationRoles, rulesOfRoles } from './rights.js';
export { type FieldChange, selectsOtherwise } from './selection.js';
export { readStoredRules } from './stored-rules.js';
