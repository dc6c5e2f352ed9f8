import type { Feature } from '../../feature.js';
import { OrganizationRole } from './organization-role.entity.js';

/** Roles that organizations make for themselves. */
export const createOrganizationRoles = (): Feature => ({ entities: [OrganizationRole], resolvers: [], routes: [] });
