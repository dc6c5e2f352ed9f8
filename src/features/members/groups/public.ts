export type { GroupSchema } from './group.entity.js';
export { relationsByIds } from './group.reader.js';
export { GroupOrganizationMembershipType, GroupType, groupRelationOf } from './group.resolver.js';
