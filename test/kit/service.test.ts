import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Caller } from './caller.js';
import { Service } from './service.js';
import { until } from './until.js';

test('a process that does not end in time is killed, and what it printed is told', async () => {
  const service = await Service.spawn({
    command: [process.execPath, '-e', `console.log('still here'); setInterval(() => undefined, 1_000)`],
  });
  await until('its line', 20_000, () => service.output !== '');
  await expect(service.exit(1_000)).rejects.toThrow(/did not end within 1000 ms; it printed:\nstill here\n/);
  expect(service.child.signalCode).toBe('SIGKILL');
});

test('a process that ends answers its exit code', async () => {
  const service = await Service.spawn({ command: [process.execPath, '-e', 'process.exit(78)'] });
  expect(await service.exit()).toBe(78);
  expect(await service.stop()).toBe(78);
});

test('what a process printed last is there once it has ended', async () => {
  for (let round = 0; round < 5; round += 1) {
    const command = [process.execPath, '-e', `process.stdout.write('.'.repeat(50_000)); process.exit(1)`] as const;
    const service = await Service.spawn({ command });
    expect([await service.exit(), service.output.length]).toEqual([1, 50_000]);
    await service.dispose();
  }
});

describe('a service that never answers', () => {
  let silent: Server;

  beforeAll(async () => {
    silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });

  afterAll(() => void silent.close());

  test('is told by the name of the request', async () => {
    const caller = new Caller(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, null);
    await expect(caller.request({ method: 'GET', path: '/x', withinMs: 200 })).rejects.toThrow(
      'GET /x was not answered within 200 ms',
    );
  });
});
