import { setTimeout as delay } from 'node:timers/promises';
import { embeddedPostgres } from '../../kit/processes.js';
import { Service } from '../../kit/service.js';
import { until } from '../../kit/until.js';

test('Ctrl-C during start-up, which npm passes on a second time, stops the embedded database too', async () => {
  const service = await Service.spawn();
  try {
    await until(
      'the embedded database to start',
      60_000,
      async () => (await embeddedPostgres(service.dataDir)).length > 0,
    );
    service.signal('SIGINT');
    service.signal('SIGTERM');
    await delay(50);
    service.signal('SIGINT');
    expect(await service.exit()).toBe(0);
    expect(await embeddedPostgres(service.dataDir)).toEqual([]);
  } finally {
    await service.kill();
    await service.dispose();
  }
});
