import { Args, Resolver, Root, Subscription } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import type { OpeningStream } from '../../../kernel/graphql/subscriptions.js';
import type { EventStream } from '../../../kernel/http/streams/event-streams.js';
import type { Frame } from '../../../kernel/http/streams/frames.js';
import { WatchChanges } from './change.rules.js';
import type { ChangeService, StreamedChange } from './change.service.js';
import { ChangeEventType, toChangeEvent } from './change.type.js';

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
