import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { join, resolve } from 'node:path';
import { MongoClient } from 'mongodb';
import { describeWith } from '../describe-with.ts';
import { askRun } from '../run-desk.ts';
import { until } from '../until.ts';
import { describeWithMongo, START_WITHIN_MS, startMongo } from './mongo.ts';

const NODE = join(resolve(import.meta.dirname, '../../..'), 'node_modules/.bin/node');
const IN_TIME_MS = 50_000;

const isOpen = async (url: string): Promise<boolean> => {
  const socket = createConnection({ host: '127.0.0.1', port: Number(new URL(url).port) });
  const opened = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return opened;
};

describeWithMongo('the MongoDB of the kit', (mongo) => {
  let client: MongoClient;
  beforeEach(async () => {
    client = await MongoClient.connect(mongo().url);
  });
  afterEach(() => client?.close());

  test('keeps what the driver writes, and changes one document for one of many that ask', async () => {
    const jobs = client.db().collection<{ name: string; lockedBy?: number }>('kept');
    await jobs.insertMany([{ name: 'first' }, { name: 'second' }]);
    const takers = await Promise.all(
      Array.from({ length: 20 }, (_, taker) =>
        jobs.findOneAndUpdate({ name: 'first', lockedBy: { $exists: false } }, { $set: { lockedBy: taker } }),
      ),
    );
    expect(takers.filter((found) => found !== null)).toHaveLength(1);
    expect(await jobs.countDocuments({ lockedBy: { $exists: true } })).toBe(1);
    expect(await jobs.distinct('name')).toEqual(['first', 'second']);
  });

  test('is empty after a restart, and clients that were connected go on with it', async () => {
    const kept = client.db().collection('lost');
    await kept.insertOne({ is: 'here' });
    await mongo().restart();
    expect(await until('the client to read again', IN_TIME_MS, async () => [await kept.countDocuments()])).toEqual([0]);
    await kept.insertOne({ is: 'new' });
    expect(await kept.countDocuments()).toBe(1);
  });

  test('refuses connections while it is away', async () => {
    await mongo().goAway();
    expect(await isOpen(mongo().url)).toBe(false);
    await mongo().comeBack();
    expect(await isOpen(mongo().url)).toBe(true);
  });

  test('leaves no open port when it is stopped', async () => {
    const other = await startMongo();
    expect(other.url).not.toBe(mongo().url);
    await other.stop();
    expect(await isOpen(other.url)).toBe(false);
  });
});

describeWith(['java', 'mvn'], 'the MongoDB in memory', () => {
  test(
    'ends with the process that started it, when that is killed',
    async () => {
      const { jars } = await askRun('/mongo-jars');
      const module = JSON.stringify(join(import.meta.dirname, 'memory-server.ts'));
      const port = 19_000 + Number(process.env.JEST_WORKER_ID);
      const script = `
      const { MemoryServer } = await import(${module});
      const server = new MemoryServer(${JSON.stringify(jars)}, ${port});
      await server.open();
      console.log('pid ' + server.pid);`;
      const parent = spawn(NODE, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      parent.stdout.on('data', (chunk) => (output += String(chunk)));
      const pid = Number(await until('the server to be ready', IN_TIME_MS, () => /^pid (\d+)$/m.exec(output)?.[1]));
      parent.kill('SIGKILL');
      await until('the server to end', IN_TIME_MS, () => !isRunning(pid));
    },
    START_WITHIN_MS,
  );
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
