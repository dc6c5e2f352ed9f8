export { relationsByIds } from './group.reader.js';
export { GroupOrganizationMembershipType, GroupType } from './group.type.js';
export { groupRelationOf } from './relation.resolver.js';
