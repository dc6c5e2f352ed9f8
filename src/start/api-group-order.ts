import type { Group } from '../rest/openapi/groups.js';

/** Groups of the API reference in the order in which a newcomer needs them. */
const ORDER: readonly string[] = [
  'projects',
  'environments',
  'folders',
  'secrets',
  'tags',
  'secret-imports',
  'identities',
  'auth',
  'members',
  'roles',
  'groups',
  'additional privileges',
  'organizations',
  'organization-roles',
  'organization-keys',
  're-encryptions',
  'project-templates',
  'app-connections',
  'secret-rotations',
  'certificate-authorities',
  'certificates',
  'certificate-profiles',
  'certificate-alerts',
  'identity-alerts',
  'notification-channels',
  'change-webhooks',
  'audit-events',
  'audit-sinks',
  'attention',
  'jobs',
];

/** The groups with their places in this order; those that it does not name stand behind. */
export const withPlaces = (groups: readonly Group[]): Group[] =>
  groups.map((group) => ({ ...group, place: placeOf(group) }));

const placeOf = ({ name }: Group): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
