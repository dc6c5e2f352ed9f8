import { type EndedSpan, SpanExporter } from '../../src/kernel/tracing/span-exporter.js';
import { OutsideServer } from '../kit/outside/outside-server.js';
import { until } from '../kit/until.js';

const SPAN: EndedSpan = {
  ...{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentSpanId: null, name: 'GET /', kind: 'server' },
  ...{ startMs: 1, endMs: 2, errorType: null, attributes: {} },
};
const PAUSE_MS = 2;

const isQuiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

test('spans wait for a collector that is away, for as long as there is room', async () => {
  let status = 503;
  const collector = await OutsideServer.start(null, (_, response) => response.writeHead(status).end('{}'));
  const settings = {
    ...{ url: `http://127.0.0.1:${collector.port}/v1/traces`, headers: null, timeoutMs: 10_000 },
    ...{ resource: {}, sampler: { followsParent: true, ratio: 1 } },
  };
  const exporter = new SpanExporter(settings, '1.0.0', isQuiet, PAUSE_MS);
  // As many as are sent at once.
  for (let count = 0; count < 512; count += 1) exporter.add(SPAN);
  await until('seven attempts', 20_000, () => collector.received.length >= 7);
  status = 200;
  const attempts = collector.received.length;
  await until('one that succeeds', 20_000, () => collector.received.length > attempts);
  await exporter.close();
  const { body } = collector.received.at(-1) ?? { body: '' };
  expect(JSON.parse(body).resourceSpans[0].scopeSpans[0].spans).toHaveLength(512);
  await collector.stop();
});
