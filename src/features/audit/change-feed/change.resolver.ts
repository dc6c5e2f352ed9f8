import { Args, ID, Resolver, Root, Subscription } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { ActorKindEnum } from '../../../kernel/graphql/actor-kind.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import type { OpeningStream } from '../../../kernel/graphql/subscriptions.js';
import type { EventStream } from '../../../kernel/http/streams/event-streams.js';
import type { Frame } from '../../../kernel/http/streams/frames.js';
import { changeKind, WatchChanges } from './change.rules.js';
import type { ChangeService, StreamedChange } from './change.service.js';
import { CHANGE_KINDS, CHANGE_OPERATIONS } from './change-kinds.js';
import type { Location } from './change-reading.js';
import { RESET_REASONS } from './position.js';

export const ChangeKindEnum = enumType(
  'ChangeKind',
  'Kinds of resources that change events are about.',
  CHANGE_KINDS,
  changeKind,
);
const ChangeOperationEnum = enumType('ChangeOperation', 'What happened to the resource.', CHANGE_OPERATIONS);
const ResetReasonEnum = enumType('ChangeResetReason', 'Why changes may be missing.', RESET_REASONS);

/** Where a secret was before it was moved or renamed. */
const ChangeLocationType = objectType('ChangeLocation', 'Location of a secret.', {
  environment: [String, 'Slug of the environment.'],
  secretPath: [String, 'Path of the folder.'],
  secretKey: [String, 'Name of the secret.'],
});
type ChangeLocationType = InstanceType<typeof ChangeLocationType>;

/** What the API shows of a change. */
const ChangeEventType = objectType('ChangeEvent', 'A change of a resource. It contains no values.', {
  cursor: [String, 'Position of the event. Pass it as `after` to continue after this event.'],
  kind: [ChangeKindEnum, 'Kind of the resource.'],
  operation: [ChangeOperationEnum, 'What happened to it, for example `CREATED`.'],
  action: [
    orNull(String),
    'The action as the audit trail records it, for example `secret:update`. Null for events of the stream itself.',
  ],
  projectId: [orNull(ID), 'ID of the project. Null for changes of the organization.'],
  environment: [orNull(String), 'Slug of the environment, if the resource is in one.'],
  secretPath: [orNull(String), 'Path of the folder, if the resource is in one.'],
  secretKey: [orNull(String), 'Name of the secret, if the resource is one.'],
  previous: [orNull(ChangeLocationType), 'Former location of a secret that was moved or renamed.'],
  subjectId: [orNull(ID), 'ID of the resource. Null if the change is about several.'],
  actorKind: [orNull(ActorKindEnum), 'Kind of the account that made the change.'],
  actorId: [orNull(ID), 'ID of the account that made the change.'],
  occurredAt: [orNull(DateTime), 'When the change was made.'],
  resetReason: [orNull(ResetReasonEnum), 'Reason for the operation RESET; otherwise null.'],
});
type ChangeEventType = InstanceType<typeof ChangeEventType>;

const OF_NOTHING = {
  ...{ action: null, projectId: null, environment: null, secretPath: null, secretKey: null, previous: null },
  ...{ subjectId: null, actorKind: null, actorId: null, occurredAt: null },
};

type Opened = Extract<StreamedChange, { type: 'opened' }>;
type Seen = Extract<StreamedChange, { type: 'change' }>;

/** Converts an event of the stream of changes to its GraphQL type. */
export function toChangeEvent(streamed: Opened | Omit<Seen, 'access'>): ChangeEventType {
  const { id } = streamed;
  if (streamed.type === 'opened') {
    const { resetReason } = streamed;
    return {
      cursor: id,
      kind: 'feed',
      operation: resetReason === null ? 'opened' : 'reset',
      ...OF_NOTHING,
      resetReason,
    };
  }
  const { change, seen } = streamed;
  const { kind, action, projectId, subjectId, actorKind, actorId, occurredAt } = change;
  return {
    ...{ cursor: id, kind, operation: seen.operation, action, projectId },
    environment: seen.location?.environment ?? null,
    secretPath: seen.location?.path ?? null,
    secretKey: seen.location?.key ?? null,
    previous: seen.previous === null ? null : placeOf(seen.previous),
    ...{ subjectId, actorKind, actorId, occurredAt },
    resetReason: null,
  };
}

const placeOf = ({ environment, path, key }: Location): ChangeLocationType => ({
  environment,
  secretPath: path ?? '',
  secretKey: key ?? '',
});

const WatchChangesArgs = argsType(WatchChanges);

/** The subscription to changes. */
export const changeResolver = (service: ChangeService): object => {
  @Resolver(() => ChangeEventType)
  class ChangeResolver {
    @Subscription(() => ChangeEventType, {
      description:
        'Sends changes of projects and of the organization as they are made, in the order of the audit trail, usually within two seconds. Rights are checked for each event when it is sent; what you cannot see is left out.',
      subscribe: async ({ args, context }) => {
        const ctx = context as Context & { readonly opening: OpeningStream };
        return eventsOf(await service.watch(ctx, args, ctx.opening.signal));
      },
    })
    changes(@Root() event: ChangeEventType, @Args(() => WatchChangesArgs) _args: object): ChangeEventType {
      return event;
    }
  }
  return new ChangeResolver();
};

/** What a subscription can show: positions are no events. */
async function* eventsOf(stream: AsyncGenerator<StreamedChange>): AsyncGenerator<ChangeEventType> {
  for await (const streamed of stream) if (streamed.type !== 'position') yield toChangeEvent(streamed);
}

/** `GET /api/v1/events`: changes as server-sent events. */
export const changeEvents = (service: ChangeService): EventStream => ({
  method: 'GET',
  path: '/api/v1/events',
  open: async (ctx, { query, lastEventId, signal }) => {
    const { kinds, ...given } = query;
    const filter =
      kinds === undefined
        ? {}
        : {
            kinds: String(kinds)
              .split(',')
              .map((kind) => kind.trim()),
          };
    // A client that connects again sends the position that it has reached, and the address that it was given once.
    const after = lastEventId ?? given.after;
    return framesOf(await service.watch(ctx, { ...given, ...filter, ...(after == null ? {} : { after }) }, signal));
  },
});

async function* framesOf(stream: AsyncGenerator<StreamedChange>): AsyncGenerator<Frame> {
  for await (const streamed of stream) {
    const { id } = streamed;
    if (streamed.type === 'position') {
      yield { id };
      continue;
    }
    const { kind, operation, ...view } = toChangeEvent(streamed);
    yield { id, event: kind === 'feed' ? operation : 'change', data: { ...view, kind, operation } };
  }
}
