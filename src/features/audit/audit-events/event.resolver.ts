import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import * as z from 'zod';
import { recordedClass } from '../../../kernel/audit/audit-class.js';
import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import type { Context } from '../../../kernel/context.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { nested, query } from '../../../kernel/graphql/operations.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import type { SearchConnectionOf } from '../../../kernel/paging.js';
import {
  bodyOf,
  boundedPaging,
  queryInteger,
  type Route,
  routesAt,
  timeText,
  withoutNull,
} from '../../../rest/route.js';
import { accountIds, accountRelations, IdentityType } from '../../identity/identities/public.js';
import { type ProjectRelations, ProjectType, toProjectType } from '../../projects/public.js';
import { SecretType } from '../../secrets/public.js';
import type { ChangesService, ProjectChanges } from './changes.service.js';
import { ChangesOfProject, DisclosedPage, EventsPage, ListAuditEvents } from './event.rules.js';
import { type EventService, type EventsAboutService, keyOf } from './event.service.js';
import type { EventRow } from './event.sql.js';
import {
  AuditEventConnection,
  AuditEventType,
  type AuditFactType,
  DisclosedSecretsType,
  ProjectChangesType,
} from './event.type.js';

const DisclosedArgs = argsType(DisclosedPage);
const EventsArgs = argsType(EventsPage);

@Resolver(() => AuditEventType)
export class AuditEventResolver {
  constructor(private readonly service: EventService) {}

  @query(
    AuditEventConnection,
    ListAuditEvents,
    'Lists the audit trail of the organization or of one project, newest first. With permission to read the audit trail of the organization, you also see projects that you are not a member of, and deleted ones. Reading the trail is audited. A page looks at a limited number of events: if few match your filters, it can be short or empty and still have a next page.',
  )
  async auditEvents(ctx: Context, args: object): Promise<SearchConnectionOf<AuditEventType>> {
    return (await this.service.list(ctx, args)).map(toAuditEvent, keyOf);
  }

  @FieldResolver(() => DisclosedSecretsType, {
    nullable: true,
    description:
      'The secrets whose values the response contained, also through references and imports. Null if it contained none.',
  })
  disclosedSecrets(
    @Root() event: AuditEventType,
    @Ctx() ctx: Context,
    @Args(() => DisclosedArgs) args: object,
  ): Promise<DisclosedSecretsType | null> {
    return this.service.disclosedIn(ctx, event, args);
  }
}

/** Where an event leads. */
export const eventRelations = ({ projects }: Pick<ProjectRelations, 'projects'>): object =>
  relations(AuditEventType, {
    project: relationTo(
      ProjectType,
      'The project. Null if the event has none, if it was deleted, or if you are not a member of it.',
      projects,
      ({ projectId }) => projectId,
      toProjectType,
    ),
    ...accountRelations<AuditEventType>(
      'The user that did it. Null for other actors, if it was deleted, or if you cannot read users.',
      'The machine identity that did it. Null for other actors, if it was deleted, or if you cannot read identities.',
      ({ actorKind, actorId }) => accountIds(actorKind, actorId),
    ),
  });

@Resolver(() => ProjectChangesType)
export class ChangesResolver {
  constructor(private readonly service: ChangesService) {}

  @query(
    ProjectChangesType,
    ChangesOfProject,
    'Returns what changed in a project since a time, by kind. Requires `read` on `audit-logs` in the project.',
  )
  async whatChanged(ctx: Context, args: object): Promise<ProjectChangesType> {
    return toProjectChanges(await this.service.list(ctx, args));
  }
}

@Resolver(() => SecretType)
export class SecretReadsResolver {
  constructor(private readonly service: EventsAboutService) {}

  @nested(
    AuditEventConnection,
    'Who read the value of the secret or what that references, newest first: requests for it, lists with it, and values into which it was inserted by a reference or import. `action` says how. Null, with PERMISSION_DENIED, if you cannot read the audit trail of the project.',
    EventsArgs,
  )
  async reads(secret: SecretType, ctx: Context, page: object): Promise<SearchConnectionOf<AuditEventType>> {
    return (await this.service.readsOf(ctx, secret, page)).map(toAuditEvent, keyOf);
  }
}

@Resolver(() => IdentityType)
export class IdentityLoginsResolver {
  constructor(private readonly service: EventsAboutService) {}

  @nested(
    AuditEventConnection,
    'The logins of the machine identity, newest first, and the attempts that were refused: `outcome` says which, and the facts `reason` and `claim` what was missing. Null, with PERMISSION_DENIED, if you cannot read the audit trail of the organization, or of the project that owns the identity.',
    EventsArgs,
  )
  async logins(identity: IdentityType, ctx: Context, page: object): Promise<SearchConnectionOf<AuditEventType>> {
    return (await this.service.loginsOf(ctx, identity, page)).map(toAuditEvent, keyOf);
  }
}

const NOTHING = { stringValue: null, numberValue: null, booleanValue: null, listValue: null } as const;

function toFact(name: string, value: AuditFacts[string]): AuditFactType {
  if (typeof value === 'string') return { ...NOTHING, name, stringValue: value };
  if (typeof value === 'number') return { ...NOTHING, name, numberValue: value };
  if (typeof value === 'boolean') return { ...NOTHING, name, booleanValue: value };
  return { ...NOTHING, name, listValue: value ?? null };
}

/** Typed details of an event, by name. */
const toFacts = (facts: AuditFacts): AuditFactType[] =>
  Object.entries(facts)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => toFact(name, value));

/** A row as the API shows it. */
const toAuditEvent = ({ facts, ...row }: EventRow): AuditEventType => ({
  ...row,
  eventId: row.id,
  class: recordedClass(row),
  facts: toFacts(facts),
});

type OfKind = ProjectChanges['secrets'];
const shown = ({ events, hasMore }: OfKind) => ({ events: events.map(toAuditEvent), hasMore });

/** What changed in a project as the API shows it. */
const toProjectChanges = (changes: ProjectChanges): ProjectChangesType => ({
  projectId: changes.projectId,
  secrets: shown(changes.secrets),
  roles: shown(changes.roles),
  members: shown(changes.members),
  tokens: changes.tokens === null ? null : shown(changes.tokens),
  others: shown(changes.others),
});

const EVENT = 'id: eventId * disclosedSecrets';

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
