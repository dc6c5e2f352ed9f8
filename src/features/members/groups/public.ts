export { relationsByIds } from './group.reader.js';
export { GroupOrganizationMembershipType, GroupType } from './group.resolver.js';
export { groupRelationOf } from './relation.resolver.js';
