import { olderEnvironmentRoutes } from './environment.routes.js';
import { olderMembershipRoutes } from './membership.routes.js';
import { olderProjectRoutes } from './project.routes.js';
import { olderRoleRoutes } from './role.routes.js';

/** What published clients still use. */
export const olderRoutes = [
  ...olderProjectRoutes,
  ...olderEnvironmentRoutes,
  ...olderMembershipRoutes,
  ...olderRoleRoutes,
];
