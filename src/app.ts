import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import packageJson from '../package.json' with { type: 'json' };
import { type Config, NO_CONFIG } from './config.js';
import './context.js';
import type { Feature } from './feature.js';
import { createAuditEvents } from './features/audit/audit-events/index.js';
import { createChangeFeed } from './features/audit/change-feed/index.js';
import { createOutgoingEvents } from './features/audit/outgoing-events/index.js';
import { createCertificates } from './features/certificates/index.js';
import { createAccess } from './features/identity/access/index.js';
import type { Authenticator } from './features/identity/access/public.js';
import { createIdentities } from './features/identity/identities/index.js';
import { createOrganizations } from './features/identity/organizations/index.js';
import { createAccessReview } from './features/members/access-review/index.js';
import { createAllProjects } from './features/members/all-projects/index.js';
import { createGroups } from './features/members/groups/index.js';
import { createOrganizationRoles } from './features/members/organization-roles/index.js';
import { createPrivileges } from './features/members/privileges/index.js';
import { createProjectRescues } from './features/members/project-rescues/index.js';
import { createAlertDeliveries } from './features/notifications/alert-deliveries/index.js';
import { createAlerts } from './features/notifications/alerts/index.js';
import { createIdentityAlerts } from './features/notifications/identity-alerts/index.js';
import { createProjectNotices } from './features/notifications/project-notices/index.js';
import { Notifier } from './features/notifications/sending/public.js';
import { createAttention } from './features/operations/attention/index.js';
import { createJobOperations } from './features/operations/jobs/index.js';
import { createOrganizationKeys } from './features/operations/organization-keys/index.js';
import { createProjectReencryptions } from './features/operations/project-reencryptions/index.js';
import { createProjects } from './features/projects/index.js';
import { createAppConnections } from './features/rotations/app-connections/index.js';
import { createSecretRotations } from './features/rotations/secret-rotations/index.js';
import { createSecrets } from './features/secrets/index.js';
import { createTags } from './features/secrets/tags/index.js';
import { createProjectCopies } from './features/templates/project-copies/index.js';
import { createProjectTemplates } from './features/templates/project-templates/index.js';
import { AuditSealer } from './kernel/audit/audit-sealer.js';
import type { Context, Kernel } from './kernel/context.js';
import type { TableRights } from './kernel/database/service-role.js';
import { AppError } from './kernel/errors.js';
import { startApollo } from './kernel/graphql/apollo.js';
import { CacheableQueries } from './kernel/graphql/cacheable-queries.js';
import type { Gate } from './kernel/graphql/gate/gate.js';
import { SchemaResponses } from './kernel/graphql/introspection.js';
import { type NodeKind, NodeResolver, Nodes } from './kernel/graphql/node.js';
import { buildGraphQLSchema } from './kernel/graphql/schema.js';
import { readSubgraph, SubgraphResolver } from './kernel/graphql/subgraph.js';
import { type ContextFor, mountGraphQL } from './kernel/http/graphql.js';
import { type Lifecycle, mountHealth } from './kernel/http/health.js';
import { withCause } from './kernel/http/listening.js';
import { mountMetrics } from './kernel/http/metrics.js';
import { mountDocuments } from './kernel/http/public-documents.js';
import { bearerToken, createHttpServer, requestInfo } from './kernel/http/server.js';
import type { EventStream } from './kernel/http/streams/event-streams.js';
import { mountStreams } from './kernel/http/streams/graphql-stream.js';
import { OpenStreams } from './kernel/http/streams/open-streams.js';
import type { JobKind } from './kernel/jobs/job-kind.js';
import { type Jobs, jobsOfJobs } from './kernel/jobs/jobs.js';
import { IdleMemory } from './kernel/load/heap.js';
import { Load } from './kernel/load/load.js';
import { describeError, type Log } from './kernel/log.js';
import { RateLimits } from './kernel/operations/limits/rate-limits.js';
import { OperationMetrics } from './kernel/operations/metrics/operation-metrics.js';
import { IdempotencyKeys } from './kernel/operations/responses/idempotency.js';
import type { AccessStamp, AccessStampOf } from './kernel/operations/responses/response.js';
import { ResponseCache } from './kernel/operations/responses/response-cache.js';
import { Mailer } from './kernel/outbound/mail.js';
import { mountPages, notFoundResponse } from './kernel/pages/pages.js';
import { periodically } from './kernel/periodic.js';
import { migrations } from './migrations/index.js';
import { type CompiledRoute, cacheableDocuments, routesOf } from './rest/compiled-route.js';
import { mountRoutes } from './rest/mount.js';
import type { Group } from './rest/openapi/groups.js';
import type { Route } from './rest/route.js';
import { withPlaces } from './start/api-group-order.js';
import { createJobs, startBackgroundWork, startTraces } from './start/background.js';
import { findUnusedToken, type UnusedToken } from './start/bootstrap.js';
import { connectDatabase, type DatabaseServer, stopServer } from './start/database-server.js';
import { EXAMPLE_OPERATIONS } from './start/example-operations.js';
import type { KernelParts } from './start/make-kernel.js';
import { openGate } from './start/open-gate.js';
import { openKernel } from './start/open-kernel.js';
import { systemContext } from './start/system-context.js';
import { KERNEL_ENTITIES, SEALED_TABLES } from './start/tables.js';

const { version } = packageJson;
/** Pause between looks whether the service is idle. */
const IDLE_MS = 15_000;

/** The service, listening. */
export interface App {
  readonly url: string;
  /** Token of the first admin, at the very first start only. */
  readonly bootstrapToken: string | null;
  /** That token at a later start, as long as nobody has used it. */
  readonly unusedToken: UnusedToken | null;
  /**
   * Finishes running requests, stores what is queued, and closes the database.
   *
   * @param acceptMs how long requests are still taken before that, while readiness says 503 and answers close connections
   */
  stop(acceptMs?: number): Promise<void>;
}

/** Services, schema and routes, wired together and not yet running. */
interface Assembly extends KernelParts {
  readonly entities: Feature['entities'];
  readonly schema: GraphQLSchema;
  readonly nodeKinds: readonly NodeKind[];
  readonly routes: readonly Route[];
  readonly groups: readonly Group[];
  readonly authenticator: Authenticator;
  readonly stampOf: AccessStampOf;
  readonly preparations: readonly NonNullable<Feature['prepare']>[];
  readonly tableRights: TableRights;
  readonly jobs: readonly JobKind[];
  readonly documents: NonNullable<Feature['documents']>;
  readonly streams: readonly EventStream[];
  readonly gauges: NonNullable<Feature['gauges']>;
}

/**
 * The one place that constructs services and hands them to each other.
 *
 * @param rateLimits none for who only wants the schema
 */
export function assemble(rateLimits = new RateLimits(null), config = NO_CONFIG): Assembly {
  const organizations = createOrganizations();
  const identities = createIdentities();
  const access = createAccess({ ...organizations, ...identities, rateLimits, policy: config });
  const projects = createProjects();
  const notifier = new Notifier({ mailer: new Mailer(config), policy: config });
  const connected = createAppConnections({ ...projects, policy: config });
  const working: Feature[] = [
    organizations,
    createOrganizationRoles(),
    createOrganizationKeys(projects),
    createProjectReencryptions(projects, SEALED_TABLES),
    identities,
    access,
    projects,
    createGroups({ ...organizations, ...projects }),
    createAllProjects(),
    createPrivileges(projects),
    createProjectRescues(projects),
    createProjectTemplates(projects),
    createProjectCopies(projects),
    createTags(projects),
    createSecrets({ ...projects, rateLimits }),
    createCertificates(projects),
    createAlertDeliveries({ ...projects, notifier }),
    createProjectNotices({ ...projects, notifier, allowPrivateTargets: config.allowPrivateTargets }),
    createAlerts({ ...projects, allowPrivateTargets: config.allowPrivateTargets }),
    createIdentityAlerts({ ...projects, ...identities, notifier, allowPrivateTargets: config.allowPrivateTargets }),
    createAccessReview(projects),
    createAuditEvents({ ...projects, auditRetention: config.auditRetention }),
    createChangeFeed(projects),
    createOutgoingEvents({ ...projects, policy: config }),
    connected,
    createSecretRotations({ ...projects, ...connected, policy: config }),
  ];
  const jobs = [...jobsOfJobs(config.jobsUrl !== null), ...working.flatMap(({ jobs: kinds = [] }) => kinds)];
  const operating = [...working, createJobOperations({ ...projects, kinds: jobs })];
  const features = [...operating, createAttention({ ...projects, routes: operating.flatMap(({ routes }) => routes) })];
  const nodes = new Nodes(features.flatMap(({ nodes: kinds = [] }) => kinds));
  return {
    entities: [...KERNEL_ENTITIES, ...features.flatMap(({ entities }) => entities)],
    nodeKinds: nodes.kinds,
    schema: buildGraphQLSchema([
      ...features.flatMap(({ resolvers }) => resolvers),
      new NodeResolver(nodes),
      new SubgraphResolver(nodes, config.introspection ? readSubgraph : null),
    ]),
    routes: features.flatMap(({ routes }) => routes),
    groups: withPlaces(features.flatMap(({ groups = [] }) => groups)),
    preparations: features.flatMap(({ prepare }) => prepare ?? []),
    tableRights: Object.assign({}, ...features.map(({ tableRights }) => tableRights)) as TableRights,
    jobs,
    documents: features.flatMap(({ documents = [] }) => documents),
    streams: features.flatMap(({ streams = [] }) => streams),
    gauges: features.flatMap(({ gauges = [] }) => gauges),
    authenticator: access.authenticator,
    accessTo: (ctx, projectId) => projects.projects.find(ctx, projectId),
    stampOf: stampsOf(projects),
  };
}

/** Of responses about projects themselves: they are right until anything of any project changes. */
const stampOfAll = ({ actor, accessSnapshot }: Context): AccessStamp | null =>
  accessSnapshot?.isLasting === true
    ? { fingerprint: `${actor.id} ${actor.sessionAttributes ?? ''}`, revision: accessSnapshot.generation }
    : null;

/** What tells the response cache whether a response is still right. */
const stampsOf =
  ({ projects }: Pick<ReturnType<typeof createProjects>, 'projects'>): AccessStampOf =>
  async (ctx, projectId) => {
    if (projectId === null) return stampOfAll(ctx);
    const project = await projects.findAtArrival(ctx, projectId);
    return project === undefined ? null : { fingerprint: project.rulesFingerprint, revision: project.revision };
  };

/**
 * Starts everything: migrations, keys, first admin, HTTP.
 *
 * @param parts the server may still be starting, and is stopped with the app; `stopping` ends the wait for a database
 * @throws ConfigurationError when the configuration cannot work; then nothing is left running
 */
export async function startApp(
  config: Config,
  { log, databaseServer, stopping }: { log: Log; databaseServer: Promise<DatabaseServer>; stopping: AbortSignal },
): Promise<App> {
  const cleanup: (() => Promise<unknown>)[] = [];
  const lifecycle: Lifecycle = { isDraining: false };
  const stop = async (acceptMs = 0): Promise<void> => {
    lifecycle.isDraining = true;
    await delay(acceptMs);
    for (const step of cleanup.reverse().splice(0)) {
      // One that fails (a database that is away, a full disk) must not keep the others from running.
      await step().catch((error: unknown) => log.warn('shutdown step failed', describeError(error)));
    }
  };
  try {
    cleanup.push(await startTraces(config, log));
    cleanup.push(() => stopServer(databaseServer));
    // Before the database is waited for: a first start makes it meanwhile.
    const rateLimits = new RateLimits(config.rateLimits);
    const assembly = assemble(rateLimits, config);
    const routes = routesOf(assembly.schema, assembly.routes);
    const server = await databaseServer;
    // After whoever can tell what is wrong with DATA_DIR, where its file is.
    const gate = await openGate(assembly.schema, config, log);
    const model = { entities: assembly.entities, migrations };
    const database = await connectDatabase(config, { at: server, model, log, stopping });
    cleanup.push(() => database.close());
    const opened = await openKernel(database, config, { ...assembly, log, server });
    const { auditChain, bootstrapToken, databaseRole } = opened;
    const { jobs, kernel } = createJobs(opened.kernel, { kinds: assembly.jobs, config, log, lifecycle });
    const unusedToken = bootstrapToken === null ? await findUnusedToken(config.dataDir, database.query) : null;
    const auditSealer = new AuditSealer(database, auditChain, log);
    cleanup.push(() => auditSealer.close());
    cleanup.push(() => kernel.auditTrail.close());
    cleanup.push(() => assembly.authenticator.close(kernel));
    cleanup.push(...(await startBackgroundWork(database, { ...opened, jobs, rateLimits, log })));
    const responseCache = new ResponseCache(config.responseCacheBytes, assembly.stampOf);
    cleanup.push(async () => responseCache.close());
    cleanup.push(async () => kernel.keyring.close());
    cleanup.push(async () => kernel.accessCache.close());
    const http = await mountEverything(config, log, {
      ...assembly,
      routes,
      kernel,
      auditSealer,
      lifecycle,
      databaseRole,
      jobs,
      responseCache,
      rateLimits,
      gate,
      embedded: server.figures,
    });
    cleanup.push(() => http.close());
    const url = await withCause(config, () => http.acceptors.listen(config));
    return { url, bootstrapToken, unusedToken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Running extends Omit<Assembly, 'routes' | 'jobs'> {
  readonly routes: readonly CompiledRoute[];
  readonly jobs: Jobs;
  readonly kernel: Kernel;
  readonly auditSealer: AuditSealer;
  readonly lifecycle: Lifecycle;
  readonly databaseRole: Config['databaseRole'];
  readonly responseCache: ResponseCache;
  readonly embedded: DatabaseServer['figures'];
  readonly rateLimits: RateLimits;
  readonly gate: Gate;
}

async function mountEverything(config: Config, log: Log, running: Running): Promise<FastifyInstance> {
  const { kernel, lifecycle, schema, routes, documents, streams, stampOf, responseCache, rateLimits, gate } = running;
  const load = new Load(config.responseMemoryBytes, config.queryLimits.ofRoutes.objects);
  const http = await createHttpServer({
    ...config,
    ...{ log, lifecycle, load, notFoundResponse: notFoundResponse(config.introspection) },
  });
  const contextFor = contextsOf(running);
  const operations = new OperationMetrics();
  const openStreams = new OpenStreams(config.eventStreams);
  const metered = { version, operations, load, openStreams, metricsTokenHash: config.metricsTokenHash };
  mountMetrics(http, { ...kernel, ...running, ...metered });
  mountHealth(http, { ...kernel, ...running });
  const idempotencyKeys = new IdempotencyKeys(stampOf);
  const { introspection } = config;
  const schemaResponses = new SchemaResponses();
  const operating = { introspection, log, idempotencyKeys, rateLimits, operations, gate, schemaResponses };
  const apollo = await startApollo(schema, operating);
  const explorer = await mountPages(http, {
    version,
    introspection,
    persistedOnly: config.persistedDocuments.isOnly,
    examples: EXAMPLE_OPERATIONS,
    rateLimits,
  });
  const cacheableQueries = new CacheableQueries(schema, () => cacheableDocuments(routes));
  const graphql = { apollo, contextFor, rateLimits, gate, explorer, schemaResponses };
  mountGraphQL(http, { ...graphql, cacheableQueries, responseCache, operations, log });
  mountStreams(http, streams, { apollo, contextFor, rateLimits, gate, schema, openStreams, log });
  const contextOf = (organizationId: string) => systemContext(kernel, organizationId);
  mountDocuments(http, documents, { kernel, contextOf, rateLimits, contextFor, lifecycle, openStreams });
  mountRoutes(http, routes, { contextFor, responseCache, idempotencyKeys, rateLimits });
  const idleMemory = new IdleMemory();
  // All is read then, and nobody connected yet.
  http.addHook('onReady', async () => idleMemory.release());
  http.addHook(
    'onClose',
    periodically('unused memory', IDLE_MS, async () => idleMemory.releaseIfIdle(), log),
  );
  return http;
}

/** How the Context of a request is made, whichever way it comes in. */
const contextsOf =
  ({ kernel, authenticator }: Running): ContextFor =>
  async (request: FastifyRequest, isAnonymous = false) => {
    const nobody = { ...requestInfo(request), ...kernel, actor: null } as const;
    // Whoever logs in or renews may still send a token that is long over: it is not what the request is about.
    if (isAnonymous) return nobody;
    const token = bearerToken(request);
    if (token !== null) {
      const ctx = await authenticator.authenticate(kernel, requestInfo(request), token);
      request.caller = ctx.actor.tokenId ?? ctx.actor.id;
      request.load.caller = request.caller;
      return ctx;
    }
    // A header of another scheme is no anonymous call: its sender believes to be known.
    if (request.headers.authorization !== undefined) {
      throw new AppError('TOKEN_INVALID', 'The Authorization header must be `Bearer`, a space and a token.');
    }
    return nobody;
  };
