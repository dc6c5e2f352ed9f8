export { MemberKindEnum } from './member.type.js';
export {
  addMember,
  changeRole,
  deleteAccount,
  findRole,
  type Member,
  protectInstallationAdmin,
} from './memberships.js';
export { Organization } from './organization.entity.js';
export { OrganizationReader } from './organization.reader.js';
export { displayName, organizationRole, organizationSlug } from './organization.rules.js';
export type { CreateFirstAdmin } from './organization.service.js';
export { UserReader } from './user.reader.js';
export { OrganizationRoleEnum } from './user.type.js';
