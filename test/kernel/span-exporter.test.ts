import { startSpan } from '../../src/kernel/tracing/spans.js';
import { startTracing } from '../../src/kernel/tracing/start-tracing.js';
import { OutsideServer } from '../kit/outside/outside-server.js';
import { until } from '../kit/until.js';

const PAUSE_MS = 2;
/** As many as are sent at once, and as many as wait meanwhile. */
const BATCH = 512;
const QUEUE = 2_048;

let status = 503;
let collector: OutsideServer;
beforeEach(async () => {
  status = 503;
  collector = await OutsideServer.start(null, (_, response) => response.writeHead(status).end('{}'));
});
afterEach(() => collector.stop());

/** @returns what ends the traces; what is warned of goes to `warnings` */
function traced(warnings: object[] = []): () => Promise<void> {
  const settings = {
    ...{ url: `http://127.0.0.1:${collector.port}/v1/traces`, headers: null, timeoutMs: 10_000 },
    ...{ resource: {}, sampler: { followsParent: true, ratio: 1 } },
  };
  const quiet = { debug: () => undefined, info: () => undefined, error: () => undefined };
  const warn = (message: string, fields: object = {}) => void warnings.push({ message, ...fields });
  return startTracing(settings, '1.0.0', { ...quiet, warn }, PAUSE_MS);
}

const endSpans = (count: number): void => {
  for (let at = 0; at < count; at += 1) startSpan({ name: 'GET /', kind: 'server', attributes: {} })?.end(null);
};

const spansIn = ({ body }: { readonly body: string }): unknown[] =>
  JSON.parse(body).resourceSpans[0].scopeSpans[0].spans;

/** The collector is back. */
async function recover(): Promise<void> {
  status = 200;
  const attempts = collector.received.length;
  await until('one that succeeds', 20_000, () => collector.received.length > attempts);
}

test('spans wait for a collector that is away, for as long as there is room', async () => {
  const close = traced();
  endSpans(BATCH);
  await until('seven attempts', 20_000, () => collector.received.length >= 7);
  await recover();
  await close();
  expect(spansIn(collector.received.at(-1) ?? { body: '' })).toHaveLength(BATCH);
});

test('those that find no room are dropped, which the log says', async () => {
  const warnings: object[] = [];
  const close = traced(warnings);
  endSpans(BATCH + QUEUE + 10);
  await recover();
  // The second batch has left the queue.
  await until('room', 20_000, () => new Set(collector.received.map(({ body }) => body)).size > 1);
  endSpans(1);
  await close();
  expect(warnings).toEqual([{ message: 'traces not exported', dropped: 10 }]);
});
