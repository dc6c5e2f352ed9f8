import type { Feature } from '../../feature.js';
import { AdditionalPrivilege } from './additional-privilege.entity.js';

/** What single members of a project may do beside their roles. */
export const createPrivileges = (): Feature => ({ entities: [AdditionalPrivilege], resolvers: [], routes: [] });
