import type { ErrorCode } from '../../../src/kernel/errors.js';
import type { Caller, Reply } from '../../kit/caller.js';
import { EventStreamClient } from '../../kit/event-stream.js';
import type { ErrorCase, Provoke } from './scene.js';

/** The second request at a node where the first was all that passes. */
const atTheLimit =
  (ask: (caller: Caller) => Promise<Reply>): Provoke =>
  async ({ strongroom, admin }) => {
    const node = await strongroom.startSecondNode({ env: { RATE_LIMIT: 'on', RATE_LIMITS: 'reads=1,writes=1' } });
    try {
      const caller = admin.at(node.url);
      await ask(caller);
      return await ask(caller);
    } finally {
      await node.stop();
    }
  };

/** The second stream at a node where one is all that a token may have. */
const beyondStreams =
  (ask: (caller: Caller) => Promise<Reply>): Provoke =>
  async ({ strongroom, admin }) => {
    const node = await strongroom.startSecondNode({ env: { EVENT_STREAMS: 'token=1' } });
    try {
      const caller = admin.at(node.url);
      await EventStreamClient.open(caller, '/api/v1/events');
      return await ask(caller);
    } finally {
      await node.stop();
    }
  };
const accept = 'text/event-stream';

export const LIMITS: Partial<Record<ErrorCode, ErrorCase>> = {
  RATE_LIMITED: {
    rest: atTheLimit((caller) => caller.get('/api/v1/projects')),
    graphql: atTheLimit((caller) => caller.graphql('{ projects { nodes { id } } }')),
  },
  TOO_MANY_STREAMS: {
    rest: beyondStreams((caller) => caller.get('/api/v1/events', { accept })),
    graphql: beyondStreams((caller) =>
      caller.post('/graphql/stream', { query: 'subscription { changes { kind } }' }, { accept }),
    ),
  },
};
