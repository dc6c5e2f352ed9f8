import type { ErrorCode } from '../../../src/kernel/errors.js';
import type { Caller, Reply } from '../../kit/caller.js';
import { EventStreamClient } from '../../kit/event-stream.js';
import { type ErrorCase, nodeWith, type Provoke } from './scene.js';

/** A stream is a read as well. */
const ENV = { RATE_LIMIT: 'on', RATE_LIMITS: 'reads=2,writes=2', EVENT_STREAMS: 'token=1' };

/** What somebody is told who asks `times`, at a node where each token has two reads, two writes and one stream. */
const asked =
  (times: number, ask: (caller: Caller) => Promise<Reply>): Provoke =>
  async ({ strongroom, admin }) => {
    const node = await nodeWith(strongroom, ENV);
    const caller = (await strongroom.seed.caller(admin, { organizationRole: 'admin' })).at(node.url);
    for (let before = 1; before < times; before += 1) await ask(caller);
    return ask(caller);
  };

/** The second stream. */
const beyondStreams = (ask: (caller: Caller) => Promise<Reply>): Provoke =>
  asked(1, async (caller) => {
    const stream = await EventStreamClient.open(caller, '/api/v1/events');
    return ask(caller).finally(() => stream.close());
  });
const accept = 'text/event-stream';

export const LIMITS: Partial<Record<ErrorCode, ErrorCase>> = {
  RATE_LIMITED: {
    rest: asked(3, (caller) => caller.get('/api/v1/projects')),
    graphql: asked(3, (caller) => caller.graphql('{ projects { nodes { id } } }')),
  },
  TOO_MANY_STREAMS: {
    rest: beyondStreams((caller) => caller.get('/api/v1/events', { accept })),
    graphql: beyondStreams((caller) =>
      caller.post('/graphql/stream', { query: 'subscription { changes { kind } }' }, { accept }),
    ),
  },
};
