import type { EventStream } from '../../../kernel/http/streams/event-streams.js';
import type { Frame } from '../../../kernel/http/streams/frames.js';
import type { ChangeService } from './change.service.js';
import { viewOf } from './change.view.js';
import type { Streamed } from './change-stream.js';

/** `GET /api/v1/events`: changes as server-sent events. */
export const changeEvents = (service: ChangeService): EventStream => ({
  method: 'GET',
  path: '/api/v1/events',
  open: async (ctx, { query, lastEventId, signal }) => {
    const { kinds, ...given } = query;
    const wanted =
      kinds === undefined
        ? {}
        : {
            kinds: String(kinds)
              .split(',')
              .map((kind) => kind.trim()),
          };
    // A client that connects again sends the position that it has reached, and the address that it was given once.
    const after = lastEventId ?? given.after;
    return framesOf(await service.watch(ctx, { ...given, ...wanted, ...(after == null ? {} : { after }) }, signal));
  },
});

async function* framesOf(stream: AsyncGenerator<Streamed>): AsyncGenerator<Frame> {
  for await (const streamed of stream) {
    const { id } = streamed;
    if (streamed.type === 'position') {
      yield { id };
      continue;
    }
    const { kind, operation, ...view } = viewOf(streamed);
    yield { id, event: kind === 'feed' ? operation : 'change', data: { ...view, kind, operation } };
  }
}
