import './groups.errors.js';
import type { Feature } from '../../feature.js';
import { Group } from './group.entity.js';
import { GroupMember } from './group-member.entity.js';

/** Groups of users and machine identities. */
export const createGroups = (): Feature => ({ entities: [Group, GroupMember], resolvers: [], routes: [] });
