import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../../src/kernel/errors.js';
import type { Reply } from '../../kit/caller.js';
import { withClient } from '../../kit/tables.js';
import { untilWaiting } from '../../kit/waiting.js';
import { word } from '../../kit/world.js';
import type { ErrorCase, Scene } from './scene.js';

type Headers = Record<string, string>;
type Send = (scene: Scene, headers: Headers, slug: string) => Promise<Reply>;

const color = '#000000';
const overRest: Send = ({ admin, world }, headers, slug) =>
  admin.post(`/api/v1/projects/${world.project}/tags`, { slug, color }, headers);
const overGraphQL: Send = ({ admin, world }, headers, slug) =>
  admin.graphql(
    'mutation ($input: CreateTagInput!) { createTag(input: $input) { __typename } }',
    { input: { projectId: world.project, slug, color } },
    headers,
  );

/** Over either interface: what happens to a key, seen by who sends it. */
const both = (provoke: (send: (headers: Headers, slug?: string) => Promise<Reply>, scene: Scene) => Promise<Reply>) => {
  const over = (send: Send) => (scene: Scene) => {
    const one = word('one');
    return provoke((headers, slug = one) => send(scene, headers, slug), scene);
  };
  return { rest: over(overRest), graphql: over(overGraphQL) } satisfies ErrorCase;
};

const newKey = (): Headers => ({ 'idempotency-key': randomUUID() });

/** Of idempotency keys. */
export const KEYS: Partial<Record<ErrorCode, ErrorCase>> = {
  IDEMPOTENCY_KEY_REUSED: both(async (send) => {
    const key = newKey();
    await send(key);
    return send(key, word('two'));
  }),
  // It stood still for so long that another request took its key over.
  IDEMPOTENCY_RUNNING: both((send, { strongroom }) =>
    withClient(strongroom.databaseUrl, async (client) => {
      await client.query('begin');
      await client.query('lock table tag in share mode');
      const running = send(newKey());
      await untilWaiting(strongroom, 1, running);
      await strongroom.sql('update idempotency_key set fence = fence + 1');
      await client.query('rollback');
      return running;
    }),
  ),
  IDEMPOTENCY_ANSWER_LOST: both(async (send, { strongroom }) => {
    const key = newKey();
    await send(key);
    await strongroom.sql('update idempotency_key set answer_sealed = null');
    return send(key);
  }),
  IDEMPOTENCY_ANSWER_WITHHELD: both(async (send, { strongroom }) => {
    const key = newKey();
    await send(key);
    await strongroom.sql(`update idempotency_key set is_withheld = true, answer_sealed = null`);
    return send(key);
  }),
};
