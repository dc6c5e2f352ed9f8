import { Args, Resolver, Root, Subscription } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import type { Opening } from '../../../kernel/graphql/subscriptions.js';
import { WatchChanges } from './change.rules.js';
import type { ChangeService } from './change.service.js';
import { ChangeEventType } from './change.type.js';
import { viewOf } from './change.view.js';
import type { Streamed } from './change-stream.js';

const WatchChangesArgs = argsType(WatchChanges);

/** The subscription to changes. */
export const changeResolver = (service: ChangeService): object => {
  @Resolver(() => ChangeEventType)
  class ChangeResolver {
    @Subscription(() => ChangeEventType, {
      description:
        'Sends changes of projects and of the organization as they are made, in the order of the audit trail, usually within two seconds. Rights are checked for each event when it is sent; what you cannot see is left out.',
      subscribe: async ({ args, context }) => {
        const ctx = context as Context & { readonly opening: Opening };
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
async function* eventsOf(stream: AsyncGenerator<Streamed>): AsyncGenerator<ChangeEventType> {
  for await (const streamed of stream) if (streamed.type !== 'position') yield viewOf(streamed);
}
