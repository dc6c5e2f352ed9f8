import { freePort } from '../../kit/free-port.js';
import { Service } from '../../kit/service.js';

/** Sockets of one service share its port: another service, which has other data, must not. */
test('of two services that start on one port at the same time one runs, and the other says why it does not', async () => {
  const env = { PORT: String(await freePort()) };
  const services = await Promise.all([Service.spawn({ env }), Service.spawn({ env })]);
  try {
    const started = await Promise.allSettled(services.map((service) => service.ready(120_000)));
    const refused = services.filter((_, index) => started[index]?.status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(await refused[0]?.exit()).toBe(78);
    expect(refused[0]?.output).toContain(`PORT ${env.PORT} is already in use on this machine; choose another port`);
  } finally {
    for (const service of services) await service.stop();
  }
});
