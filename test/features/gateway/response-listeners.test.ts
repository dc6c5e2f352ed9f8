import { mustSucceed } from '../../kit/caller.js';
import { EventStreamClient } from '../../kit/event-stream.js';
import { exchange, rawRequest } from '../../kit/raw.js';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT);

test('everybody may wait for the end of a response, of any kind, without a warning of Node in the log', async () => {
  const { admin, project } = await strongroom.seed.project();
  const secrets = Array.from({ length: 300 }, (_, at) => ({ secretKey: `KEY_${at}`, secretValue: 'x'.repeat(500) }));
  mustSucceed(await admin.post('/api/v4/secrets/batch', { projectId: project.id, environment: 'dev', secrets }));
  const list = `/api/v4/secrets?projectId=${project.id}&environment=dev`;
  const head = (method: string, path: string, ...fields: string[]): string[] => [
    ...[`${method} ${path} HTTP/1.1`, 'host: localhost', `authorization: Bearer ${admin.token}`],
    ...fields,
  ];
  const packed = 'accept-encoding: gzip';
  // Sent ahead on one connection, packed and whole, and one whose body nobody reads.
  await exchange(
    strongroom.url,
    Buffer.concat([
      ...[packed, 'accept-encoding: br', 'accept: */*'].map((field) => rawRequest(head('GET', list, field))),
      rawRequest(head('GET', '/api/v1/audit-events/export', packed)),
      rawRequest(head('GET', list, packed, 'connection: close')),
    ]),
  );
  const graphql = JSON.stringify({ query: '{ projects { nodes { id } } }' });
  for (const [path, type, body] of [
    ['/graphql', 'application/json', graphql],
    ['/api/v1/projects', 'text/plain', 'x'.repeat(100_000)],
    ['/api/v1/projects', 'application/json', `{"projectName":"${'x'.repeat(3_000_000)}"}`],
  ] as const)
    await exchange(
      strongroom.url,
      rawRequest(
        head('POST', path, `content-type: ${type}`, `content-length: ${body.length}`, packed, 'connection: close'),
        body,
      ),
    );
  for (const encoding of ['identity', 'gzip']) {
    const headers = { 'accept-encoding': encoding };
    const stream = await EventStreamClient.open(admin, '/api/v1/events', { headers });
    stream.close();
  }
  expect(await strongroom.log()).not.toContain('MaxListeners');
});
