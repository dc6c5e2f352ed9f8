export { linksByIds } from './group.reader.js';
export { GroupOrganizationMembershipType, GroupType } from './group.type.js';
export { groupLinkOf } from './link.resolver.js';
