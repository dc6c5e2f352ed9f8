import * as z from 'zod';
import { AUDIT_CLASSES } from '../../../kernel/audit/audit-class.js';
import { boundedPageRules, FOR_REST_ALONE, twoWayPageRules } from '../../../kernel/paging.js';
import { idOf, integer, storedText } from '../../../kernel/value-rules.js';

export const auditOutcome = z.enum(['allowed', 'denied']);
export type AuditOutcome = z.output<typeof auditOutcome>;

/** Who acts, as `Actor.kind`; callers are `identity` and `user`, the service itself is `system`. */
export const actorKind = z.enum(['identity', 'user', 'system']);

export const auditClass = z.enum(AUDIT_CLASSES);

const MAX_ACTIONS = 50;

const action = storedText(100).meta({ description: 'Name of an action, for example `secret:update`.' });
const FROM = { description: 'Return only events at or after this time.' };
const TO = { description: 'Return only events before this time.' };

/** What selects events of the trail: all of it must hold. */
const eventFilters = {
  projectId: idOf(
    'Return only events of the project with this ID. Required unless you have permission to read the audit trail of the organization.',
  ).nullish(),
  actorId: idOf('Return only events that were caused by the user or machine identity with this ID.').nullish(),
  actorKind: actorKind.nullish().meta({ description: 'Return only events that were caused by this kind of actor.' }),
  actions: z
    .array(action)
    .max(MAX_ACTIONS)
    .nullish()
    .meta({
      description: `Return only events with one of these actions, up to ${MAX_ACTIONS}. Example: \`secret:update\`.`,
    }),
  subjectId: idOf(
    'Return only changes of the resource with this ID, for example of a secret, project or user.',
  ).nullish(),
  class: auditClass.nullish().meta({ description: 'Return only events of this class.' }),
  outcome: auditOutcome.nullish().meta({ description: 'Return only events with this outcome.' }),
  requestId: storedText(100).nullish().meta({
    description: 'Return only events of the request with this ID, which the header `X-Request-Id` of its response has.',
  }),
  from: z.date().nullish().meta(FROM),
  to: z.date().nullish().meta(TO),
};

/** Most events that one request leaves out. */
export const MAX_SKIPPED = 10_000;

/** Arguments of `auditEvents`. */
export const ListAuditEvents = z.strictObject({
  ...eventFilters,
  ...twoWayPageRules,
  skip: integer(0, MAX_SKIPPED)
    .default(0)
    .meta({ description: 'Number of events to leave out first, 0 to 10,000.' })
    .register(FOR_REST_ALONE, {}),
});

/** Most IDs of secrets that one event lists. */
const MAX_DISCLOSED = 1_000;

/** Arguments of `AuditEvent.disclosedSecrets`. */
export const DisclosedPage = z.strictObject({
  first: integer(1, MAX_DISCLOSED).default(100).meta({ description: 'Maximum number of IDs to return, 1 to 1,000.' }),
});

/** Arguments of `Secret.reads` and `Identity.logins`. */
export const EventsPage = z.strictObject({
  ...boundedPageRules,
  first: integer(1, 1_000).default(10).meta({ description: 'Maximum number of items to return, 1 to 1,000.' }),
});

/** Arguments of `whatChanged`. */
export const ChangesOfProject = z.strictObject({
  projectId: idOf('project'),
  since: z.date().meta({ description: 'Return only changes at or after this time.' }),
  first: integer(1, 1_000).default(100).meta({ description: 'Maximum number of changes of each kind, 1 to 1,000.' }),
});
