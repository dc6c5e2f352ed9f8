export { abilityOf } from './ability.js';
export { ORGANIZATION_ACTIONS, ORGANIZATION_VOCABULARY, PROJECT_ACTIONS, PROJECT_VOCABULARY } from './actions.js';
export { type AssignableRights, type Assignee, mayAssign, mayAssignTo } from './assignment.js';
export {
  ANY_SESSION,
  attributesNamedIn,
  attributesOf,
  attributesWith,
  BEST_SESSION,
  LONGEST_ATTRIBUTE,
  MAX_KEPT_CLAIM,
  MAX_METADATA_KEY,
  namesAttributes,
  namesKnownAttributes,
  namesSession,
  sessionAttributesOf,
  withAttributes,
  withSession,
} from './attributes.js';
export { rightsBeyond, rightsBeyondChange, rightsGained } from './boundary.js';
export {
  builtInOrganizationRoles,
  builtInProjectRoles,
  builtInRoleId,
  builtInRules,
  isBuiltIn,
  isBuiltInForm,
  isBuiltInOfOrganization,
  ORGANIZATION_ROLES,
  PROJECT_ROLES,
  RESERVED_ROLE_SLUGS,
} from './built-in-roles.js';
export {
  checkedActions,
  decidingRuleOf,
  type EffectiveRule,
  type Explanation,
  effectiveRules,
  explain,
  isAllowed,
  isOwnRules,
  type RightsOrigins,
  type RuleOrigin,
} from './explanation.js';
export { permissionsIn, withReplyPermissions } from './permission.reply.js';
export { OrganizationPermissions, Permissions, type PermissionsInput, toRules } from './permission.rules.js';
export {
  OrganizationPermissionSubjectEnum,
  OrganizationPermissionType,
  PermissionActionEnum,
  PermissionRuleType,
  PermissionSubjectEnum,
  PermissionType,
  permissionsText,
  shownRulesText,
  toRuleForms,
  toShownRules,
  withPermissions,
} from './permission.type.js';
export { renameInRules } from './rename-in-rules.js';
export {
  type CheckedRules,
  findOrganizationRights,
  findProjectRights,
  findProjectRules,
  hasTimedRoles,
  NO_RIGHTS,
  organizationRights,
  projectRights,
  RIGHTS_CACHE_SECONDS,
  type Rights,
  rulesAsText,
  rulesOfOrganizationRoles,
  rulesOfRoles,
  type StoredRights,
  type StoredRules,
  storedRulesOf,
} from './rights.js';
export { type FieldChange, matchesOtherResources } from './selection.js';
export { readRulesText, readStoredRules } from './stored-rules.js';
export {
  endOfTerm,
  isTermStart,
  NO_TERM_START,
  rulesAtAnyTime,
  rulesUntil,
  termRange,
  termStart,
} from './term.rules.js';
