import { routesAt } from '../../rest/route.js';

const organizations = routesAt('/api/v1/organization', { select: 'id name slug parentId createdAt updatedAt' });

/** Organizations. */
export const organizationRoutes = [
  organizations.get('', 'List the organizations that your token can see', { field: 'organizations' }),
];
