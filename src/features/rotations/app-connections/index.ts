import './app-connections.errors.js';
import type { Feature } from '../../../feature.js';
import { mapFound } from '../../../kernel/database/batched.js';
import { type NodeKind, nodeKind } from '../../../kernel/graphql/node.js';
import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import { organizationRelationOf } from '../../identity/organizations/public.js';
import { type ProjectReader, type ProjectRelations, projectRelationOf } from '../../projects/public.js';
import { AppConnection } from './connection.entity.js';
import {
  AppConnectionUseType,
  ConnectedAppType,
  ConnectionResolver,
  ConnectionUsesResolver,
  toConnectedApp,
  typeNameOf,
} from './connection.resolver.js';
import { connectionRoutes } from './connection.routes.js';
import { rulesFor } from './connection.rules.js';
import { auditOfRead, ConnectionService } from './connection.service.js';
import { findConnections } from './connection.sql.js';
import { ConnectionAccess, ConnectionReader } from './connection-access.js';
import { checkJobs } from './connection-checks.js';
import { DatatoolProjectsResolver, projectsRoute } from './datatool-projects.resolver.js';
import { DatatoolProjectsService } from './datatool-projects.service.js';
import { KINDS } from './kinds.js';
import { UnresponsiveTarget } from './unresponsive-target.entity.js';

/** Connections to external systems. @param deps `policy`: which targets may be called */
export function createAppConnections(deps: {
  readonly projects: ProjectReader;
  readonly relations: ProjectRelations;
  readonly policy: TargetPolicy;
}): Feature & { readonly connections: ConnectionReader } {
  const { projects, relations, policy } = deps;
  const access = new ConnectionAccess(projects);
  const rules = rulesFor(policy);
  return {
    entities: [AppConnection, UnresponsiveTarget],
    resolvers: [
      new ConnectionResolver(new ConnectionService(access, projects, rules, policy)),
      new ConnectionUsesResolver(projects),
      new DatatoolProjectsResolver(new DatatoolProjectsService(access, policy)),
      organizationRelationOf(ConnectedAppType),
      projectRelationOf(ConnectedAppType, relations),
      projectRelationOf(AppConnectionUseType, relations),
    ],
    nodes: nodesOf(access),
    routes: [...connectionRoutes(rules), projectsRoute],
    jobs: checkJobs(policy),
    connections: new ConnectionReader(access),
    groups: [
      {
        name: 'app-connections',
        title: 'App connections',
        description: 'Credentials for external systems, in which rotations change credentials.',
        paths: /\/app-connections\b/,
        parameters: { connectionId: 'The connection.' },
      },
    ],
  };
}

/** One node type per app, all stored in one table. */
const nodesOf = (access: ConnectionAccess): NodeKind[] =>
  KINDS.map(({ app }) =>
    nodeKind<ConnectedAppType>({
      type: typeNameOf(app),
      table: 'app_connection',
      reach: `n.app = '${app}' and n.organization_id = $2`,
      load: async (ctx, ids) => {
        const rows = await findConnections(ctx, { organizationId: ctx.organizationId, ids });
        return mapFound(await access.readable(ctx, rows), toConnectedApp);
      },
      record: auditOfRead,
    }),
  );
