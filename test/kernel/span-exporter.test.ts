import { startSpan } from '../../src/kernel/tracing/spans.js';
import { startTracing } from '../../src/kernel/tracing/start-tracing.js';
import { OutsideServer } from '../kit/outside/outside-server.js';
import { until } from '../kit/until.js';

const PAUSE_MS = 2;

const isQuiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

test('spans wait for a collector that is away, for as long as there is room', async () => {
  let status = 503;
  const collector = await OutsideServer.start(null, (_, response) => response.writeHead(status).end('{}'));
  const settings = {
    ...{ url: `http://127.0.0.1:${collector.port}/v1/traces`, headers: null, timeoutMs: 10_000 },
    ...{ resource: {}, sampler: { followsParent: true, ratio: 1 } },
  };
  const close = startTracing(settings, '1.0.0', isQuiet, PAUSE_MS);
  // As many as are sent at once.
  for (let count = 0; count < 512; count += 1) startSpan({ name: 'GET /', kind: 'server', attributes: {} })?.end(null);
  await until('seven attempts', 20_000, () => collector.received.length >= 7);
  status = 200;
  const attempts = collector.received.length;
  await until('one that succeeds', 20_000, () => collector.received.length > attempts);
  await close();
  const { body } = collector.received.at(-1) ?? { body: '' };
  expect(JSON.parse(body).resourceSpans[0].scopeSpans[0].spans).toHaveLength(512);
  await collector.stop();
});
