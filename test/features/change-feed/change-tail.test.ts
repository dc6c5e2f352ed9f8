import { ChangeTail } from '../../../src/features/audit/change-feed/change-tail.js';
import { positionAfterRecord } from '../../../src/features/audit/change-feed/position.js';
import { settledSequence } from '../../../src/kernel/audit/settled.js';
import { Database } from '../../../src/kernel/database/database.js';
import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const strongroom = useSharedStrongroom();

test('reads no record again of which nothing is left: a long one would be read for ever', async () => {
  const { admin, organization, project } = await strongroom.seed.project();
  const database = await Database.connect(strongroom.databaseUrl, {});
  try {
    const sequenceOf = async (key: string): Promise<bigint> => {
      const reply = await admin.post(`/api/v4/secrets/${key}`, {
        projectId: project.id,
        environment: 'dev',
        secretValue: 'value',
      });
      const [record] = await strongroom.auditRows('request_id = $1', [mustSucceed(reply).headers['x-request-id']]);
      return BigInt(String(record?.sequence));
    };
    const [first, second] = [await sequenceOf('FIRST'), await sequenceOf('SECOND')];
    await until('both to be settled', 20_000, async () => (await settledSequence(database.query)) >= second);
    const tail = new ChangeTail();
    (await tail.join({ database })).leave();
    const read: unknown[] = [];
    const watched: typeof database.query = (text, params) => {
      read.push(...(params ?? []));
      return database.query(text, params);
    };
    const { changes } = await tail.read(watched, organization.id, positionAfterRecord(first));
    expect(changes.map(({ location }) => location?.key)).toEqual(['SECOND']);
    expect(read).toContain(String(first));
    expect(read).not.toContain(String(first - 1n));
  } finally {
    await database.close();
  }
});
