export { relationsByIds } from './group.reader.js';
export { GroupOrganizationMembershipType, GroupType, groupRelationOf } from './group.resolver.js';
