import { Rotating } from '../../kit/rotating.js';
import { LENIENT, useStrongroom } from '../../kit/strongroom.js';

/** How long each change of a rotation takes in the database: all of them longer than it lets anybody wait for a row. */
const SECONDS = 0.08;

describe('fifty writes of every kind to one rotation at once', () => {
  const strongroom = useStrongroom(LENIENT);

  test('come one after the other, and are all done or refused for what they ask', async () => {
    const rotating = await Rotating.start(strongroom);
    const { admin, project } = rotating;
    const folder = { projectId: project.id, environment: 'dev', path: '/', name: 'sub' };
    expect((await admin.post('/api/v2/folders', folder)).status).toBe(200);
    const { id } = await rotating.create();
    const path = `/api/v2/secret-rotations/datatool-service-token/${id}`;
    await strongroom.sql(`create function slow() returns trigger language plpgsql as $$
      begin perform pg_sleep(${SECONDS}); return new; end $$`);
    await strongroom.sql('create trigger slow before update on secret_rotation for each row execute function slow()');
    const destination = (at: number) => ({
      destinationEnvironment: 'dev',
      destinationSecretPath: at % 2 === 0 ? '/' : '/sub',
    });
    const kinds = [
      (at: number) => admin.patch(path, { description: `number ${at}` }),
      (at: number) => admin.post(`${path}/move`, destination(at)),
      (at: number) => admin.patch(path, { secretsMapping: { serviceToken: `KEY_${at}` } }),
      (at: number) => admin.patch(path, { rotationInterval: at + 1 }),
    ];
    const all = Array.from({ length: 50 }, (_, at) => kinds[at % kinds.length]?.(at));
    const statuses = (await Promise.all(all)).map((reply) => reply?.status);
    expect(statuses).toEqual(statuses.map(() => 200));

    const crowd = Array.from({ length: 20 }, (_, at) => (at % 4 === 0 ? rotating.rotate(id) : kinds[0]?.(at)));
    for (const reply of await Promise.all(crowd)) expect([200, 409]).toContain(reply?.status);

    await strongroom.sql('drop trigger slow on secret_rotation');
    await rotating.settled();
    expect((await rotating.rotate(id)).status).toBe(200);
    await rotating.stop();
  });
});
