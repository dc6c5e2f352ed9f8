export {
  authorizeCredentialsOf,
  authorizeNewName,
  authorizeOwnSessions,
  boundaryOfCaller,
  rightsBeyondCaller,
} from './boundary/account-rights.js';
export { authorizeRoleChange, authorizeRoleGrant } from './boundary/role-change.js';
export { Identity, IdentitySchema } from './core/identity.entity.js';
export type { OrganizationMembershipSchema } from './core/membership.entity.js';
export { OrganizationMembership } from './core/membership.entity.js';
export type { OrganizationSchema } from './core/organization.entity.js';
export { Organization } from './core/organization.entity.js';
export { lockOrganization } from './core/organization-locks.queries.js';
export { OrganizationRole, OrganizationRoleSchema } from './core/organization-role.entity.js';
export { User, type UserSchema } from './core/user.entity.js';
export {
  callerNetworks,
  keepLoggedInAdmins,
  lockAdminsOf,
  lockAdminsOfGroup,
  lockLoggedInAdmins,
} from './last-admin/admin-logins.js';
export { MemberKindEnum, MemberType } from './member.resolver.js';
export {
  addMember,
  changeRole,
  deleteAccount,
  isMemberNow,
  lockAccount,
  lockMembership,
  type Member,
  protectInstallationAdmin,
} from './memberships/memberships.js';
export {
  membersByIds,
  OrganizationReader,
  organizationsByIds,
  ownOrganization,
  ownUser,
  UserReader,
  usersByIds,
} from './organization.reader.js';
export { CreateOrganizationPayload, OrganizationType, organizationRelationOf } from './organization.resolver.js';
export {
  comparedRole,
  displayName,
  futureTime,
  organizationRole,
  organizationSlug,
  roleToInput,
  withRole,
} from './organization.rules.js';
export { UserType } from './user.resolver.js';
