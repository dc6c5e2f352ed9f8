export { AllProjectsMembershipType } from './all-projects-membership.resolver.js';
export { allProjectsMembershipsByIds } from './all-projects-membership.service.js';
