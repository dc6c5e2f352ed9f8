export { GroupOrganizationMembershipType, GroupType } from './group.type.js';
