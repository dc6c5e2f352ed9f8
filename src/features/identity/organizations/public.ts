export { authorizeActingAs, boundaryOfCaller, rightsBeyondCaller } from './boundary/account-rights.js';
export { authorizeNewName } from './boundary/new-name.js';
export { authorizeGiving, authorizeRoleChange } from './boundary/role-change.js';
export { Identity, IdentitySchema } from './core/identity.entity.js';
export type { OrganizationMembershipSchema } from './core/membership.entity.js';
export { OrganizationMembership } from './core/membership.entity.js';
export type { OrganizationSchema } from './core/organization.entity.js';
export { Organization } from './core/organization.entity.js';
export { lockOrganization } from './core/organization-locks.queries.js';
export { OrganizationRole, OrganizationRoleSchema } from './core/organization-role.entity.js';
export { User, type UserSchema } from './core/user.entity.js';
export { mayMail, refusedAddresses } from './email-domains.js';
export {
  fromHere,
  keepLoggedInAdmins,
  lockAdminsOf,
  lockAdminsOfGroup,
  lockLoggedInAdmins,
} from './last-admin/admin-logins.js';
export { membersByIds } from './member.reader.js';
export { MemberKindEnum, MemberType } from './member.type.js';
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
export { OrganizationReader } from './organization.reader.js';
export { organizationsByIds, ownOrganization, ownUser, usersByIds } from './organization.relations.js';
export { displayName, organizationRole, organizationSlug, roleToInput, withRole } from './organization.rules.js';
export type { CreateFirstAdmin } from './organization.service.js';
export { CreateOrganizationPayload, OrganizationType } from './organization.type.js';
export { organizationRelationOf } from './relation.resolver.js';
export { UserReader } from './user.reader.js';
export { UserType } from './user.type.js';
