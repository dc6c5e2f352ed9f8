import './privileges.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import { type ProjectReader, type ProjectRelations, REACH_OF_MEMBER } from '../../projects/public.js';
import { AdditionalPrivilege } from './additional-privilege.entity.js';
import { findPrivileges, toPrivilegeView } from './privilege.queries.js';
import {
  type AdditionalPrivilegeType,
  MembershipPrivilegesResolver,
  PrivilegeResolver,
  privilegeRelations,
  toPrivilegeType,
} from './privilege.resolver.js';
import { olderPrivilegeRoutes, privilegeRoutes } from './privilege.routes.js';
import { authorizeReadingOf, PrivilegeService, readRecord } from './privilege.service.js';

/** Additional privileges: permissions of single members of a project besides their roles. */
export function createPrivileges({
  projects,
  relations,
}: {
  projects: ProjectReader;
  relations: ProjectRelations;
}): Feature {
  const privileges = new PrivilegeService(projects);
  return {
    entities: [AdditionalPrivilege],
    resolvers: [
      new PrivilegeResolver(privileges),
      new MembershipPrivilegesResolver(privileges),
      ...privilegeRelations(relations),
    ],
    nodes: [
      nodeKind<AdditionalPrivilegeType>({
        type: 'AdditionalPrivilege',
        table: 'additional_privilege',
        reach: REACH_OF_MEMBER,
        load: async (ctx, ids) =>
          relations.readable(ctx, await findPrivileges(ctx, { ids }), (row, access) => {
            authorizeReadingOf(access, row);
            return toPrivilegeType(toPrivilegeView(row));
          }),
        record: readRecord,
      }),
    ],
    routes: [...privilegeRoutes, ...olderPrivilegeRoutes],
    groups: [
      {
        name: 'additional privileges',
        description:
          'Additional privileges give single members of a project permissions besides their roles, permanently or temporarily.',
        paths: /additional-privilege/,
      },
    ],
  };
}
