import * as z from 'zod';
import { type Data, ofSample, queryInteger, type Route, route, timeText } from '../../../rest/route.js';
import { MAX_SKIPPED } from './event.rules.js';

const EVENT = `id: eventId organizationId projectId occurredAt action class outcome actorKind actorId address userAgent
  facts { name stringValue numberValue booleanValue listValue }`;

const MAX_TEXT = 5_000;
const text = z.string().max(MAX_TEXT);
const words = (about: string) => text.optional().meta({ description: about });

/** What the platform filters by and the trail does not: a request with it must not get more than it asks for. */
const refused = words('Not supported: a request with it is refused.').refine(
  (given) => given === undefined || given === '',
  'is not supported; filter the response instead',
);

const ACTORS = { identity: 'IDENTITY', user: 'USER', platform: 'SYSTEM' } as const;

const ListAuditLogs = z.strictObject({
  projectId: words('Return only events of the project with this ID.'),
  eventType: text
    .transform((given) => given.split(',').map((action) => action.trim()))
    .optional()
    .meta({ description: 'Return only events with one of these actions, separated by commas: `secret:update`.' }),
  actor: words('Return only events that were caused by the user or machine identity with this ID.'),
  actorType: z
    .enum(['identity', 'user', 'platform'])
    .transform((type) => ACTORS[type])
    .optional()
    .meta({ description: 'Return only events that were caused by this kind of actor.' }),
  startDate: timeText('Return only events at or after this time.'),
  endDate: timeText('Return only events before this time.'),
  limit: queryInteger(1, 1_000).default(20).meta({ description: 'Maximum number of events to return, 1 to 1000.' }),
  offset: queryInteger(0, MAX_SKIPPED)
    .default(0)
    .meta({ description: 'Number of events to leave out first, 0 to 10000.' }),
  ...{ environment: refused, secretPath: refused, secretKey: refused },
  ...{ eventMetadata: refused, userAgentType: refused },
});

const DOCUMENT = `query ($projectId: ID, $actions: [String!], $actorId: ID, $actorKind: ActorKind, $from: DateTime, $to: DateTime,
    $first: Int!, $skip: Int!) {
  auditLogs: auditEvents(projectId: $projectId, actions: $actions, actorId: $actorId, actorKind: $actorKind, from: $from, to: $to,
    first: $first, skip: $skip) { nodes { ${EVENT} } }
}`;

/** Clients that say what they are, by how their user agent begins. */
const CLIENTS = ['cli', 'k8-operator', 'terraform'] as const;

/** The kind of client that a user agent is one of. */
function userAgentTypeOf(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  if (userAgent.startsWith('Mozilla/')) return 'web';
  return CLIENTS.find((name) => userAgent === name || userAgent.startsWith(`${name}/`)) ?? 'other';
}

const METADATA = {
  type: 'object',
  additionalProperties: true,
  description: 'Details of the event by name: IDs, names and counts.',
};
const ACTOR_TYPE = { type: 'string', enum: ['identity', 'user', 'platform'], description: 'Kind of the actor.' };
const ACTOR = {
  type: 'object',
  additionalProperties: true,
  description: '`identityId` or `userId`; empty for the platform itself.',
};
const CLIENT = {
  type: ['string', 'null'],
  enum: [...CLIENTS, 'web', 'other', null],
  description: 'Kind of the client, by its user agent.',
};

const factValue = ({ stringValue, numberValue, booleanValue, listValue }: Data): unknown =>
  stringValue ?? numberValue ?? booleanValue ?? listValue;

const metadataOf = (facts: readonly Data[]): Data =>
  Object.fromEntries(facts.map((fact) => [fact.name as string, factValue(fact)]));

function actorOf(kind: string, id: string): Data {
  if (kind === 'identity') return { identityId: id };
  return kind === 'user' ? { userId: id } : {};
}

/** An event in the form of the platform. */
const toAuditLog = ({ organizationId, occurredAt, address, facts, ...event }: Data): Data => ({
  id: event.id,
  event: { type: event.action, metadata: ofSample(event.action, METADATA) ?? metadataOf(facts) },
  actor: {
    type: ofSample(event.actorKind, ACTOR_TYPE) ?? (event.actorKind === 'system' ? 'platform' : event.actorKind),
    metadata: ofSample(event.actorKind, ACTOR) ?? actorOf(event.actorKind, event.actorId),
  },
  ipAddress: address,
  userAgent: event.userAgent,
  userAgentType: ofSample(event.userAgent, CLIENT) ?? userAgentTypeOf(event.userAgent),
  orgId: organizationId,
  projectId: event.projectId,
  class: event.class,
  outcome: event.outcome,
  createdAt: occurredAt,
  updatedAt: occurredAt,
});

/** The audit trail in the form of the platform. */
export const platformRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/organization/audit-logs',
    summary: 'List the audit trail in the form of the platform, newest first',
    operationId: 'listAuditLogs',
    about:
      'Lists the audit trail of the organization or of one project. `eventType` and `event.type` are the actions of this service, for example `secret:update`; a denied request has the missing permission as its type and `denied` as its outcome. `expiresAt`, names of projects, and names of actors are not returned. With filters that few events pass, a page can be short although there are more: use `GET /api/v1/audit-events`, whose cursors continue.',
    extension: true,
    errors: ['PROJECT_NOT_FOUND'],
    query: ListAuditLogs,
    document: DOCUMENT,
    variables: ({ query }) => ({
      projectId: query.projectId,
      actions: query.eventType,
      actorId: query.actor,
      actorKind: query.actorType,
      from: query.startDate,
      to: query.endDate,
      first: query.limit,
      skip: query.offset,
    }),
    reply: ({ auditLogs }) => ({ auditLogs: auditLogs.nodes.map(toAuditLog) }),
  }),
];
