import * as z from 'zod';
import {
  bodyOf,
  boundedPaging,
  queryInteger,
  type Route,
  routesAt,
  timeText,
  withoutNull,
} from '../../../rest/route.js';
import { ListAuditEvents } from './event.rules.js';

const EVENT = `id: eventId organizationId projectId occurredAt action class subjectId outcome actorKind actorId tokenId requestId address userAgent
  facts { name stringValue numberValue booleanValue listValue } disclosedSecrets { count ids }`;

const OF_KIND = `{ events { ${EVENT} } hasMore }`;
const CHANGES = ['secrets', 'roles', 'members', 'tokens', 'others'].map((kind) => `${kind} ${OF_KIND}`).join(' ');

/** Cursors do there, and what a text cannot be is declared below. */
const NOT_IN_QUERY = ['first', 'after', 'last', 'before', 'skip', 'from', 'to', 'actions'] as const;

const MAX_ACTIONS_LENGTH = 5_000;

const events = routesAt('/api/v1/audit-events', { select: EVENT, errors: ['PROJECT_NOT_FOUND'] });

/** Reading the audit trail. */
export const eventRoutes: readonly Route[] = [
  events.get('', 'List the audit trail, newest first', {
    field: 'auditEvents',
    query: withoutNull(bodyOf(ListAuditEvents, ...NOT_IN_QUERY)).extend({
      actions: z
        .string()
        .max(MAX_ACTIONS_LENGTH)
        .transform((text) => text.split(','))
        .optional()
        .meta({ description: 'Return only events with one of these actions, separated by commas.' }),
      from: timeText('Return only events at or after this time.'),
      to: timeText('Return only events before this time.'),
      ...boundedPaging,
    }),
  }),
  routesAt('/api/v1/projects/{projectId}/changes', { select: CHANGES, errors: ['PROJECT_NOT_FOUND'] }).get(
    '',
    'List what changed in a project, by kind',
    {
      operationId: 'listProjectChanges',
      field: 'whatChanged',
      as: 'changes',
      query: z.strictObject({
        since: timeText('Return only changes at or after this time.').unwrap(),
        limit: queryInteger(1, 1_000)
          .default(100)
          .meta({ description: 'Maximum number of changes of each kind, 1 to 1000.' }),
      }),
    },
  ),
];
