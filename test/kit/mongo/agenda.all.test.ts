import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import { MongoClient } from 'mongodb';
import { until } from '../until.ts';
import { describeWithMongo } from './mongo.ts';

const NODE = join(import.meta.dirname, 'agenda-node.mjs');
const IN_TIME_MS = 50_000;
const JOBS = 100;

describeWithMongo('Agenda on the MongoDB of the kit', (mongo) => {
  const nodes: Worker[] = [];
  let client: MongoClient;
  /** Gives jobs to the nodes, and runs none. */
  let agenda: Agenda;

  /** Answers the data of the jobs that the node runs, as they run. */
  async function startNode(...jobs: string[]): Promise<unknown[]> {
    const node = new Worker(NODE, { workerData: { url: mongo().url, jobs } });
    nodes.push(node);
    await once(node, 'message');
    const ran: unknown[] = [];
    node.on('message', (data) => ran.push(data));
    return ran;
  }

  beforeEach(async () => {
    client = await MongoClient.connect(mongo().url);
    agenda = new Agenda({ backend: new MongoBackend({ mongo: client.db() }) });
    await agenda.ready;
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.terminate();
    await client?.close();
  });

  test('two nodes run each of many jobs once', async () => {
    const [first, second] = [await startNode('count'), await startNode('count')];
    const numbers = Array.from({ length: JOBS }, (_, number) => number);
    await Promise.all(numbers.map((number) => agenda.now('count', number)));
    const ran = () => [...first, ...second];
    await until(
      () => `all jobs; ran ${ran().length}`,
      IN_TIME_MS,
      async () => {
        const { jobs } = await agenda.queryJobs({ name: 'count' });
        return jobs.every(({ state }) => state === 'completed') && ran().length >= JOBS;
      },
    );
    expect(ran().sort((a, b) => Number(a) - Number(b))).toEqual(numbers);
  });

  test('a repeating job that was asked for twice is one job, and runs again and again', async () => {
    const [first, second] = [await startNode('repeat'), await startNode('repeat')];
    await agenda.every(150, 'repeat');
    await agenda.every(150, 'repeat');
    await until('five runs', IN_TIME_MS, () => first.length + second.length >= 5);
    expect((await agenda.queryJobs({ name: 'repeat' })).jobs).toHaveLength(1);
  });

  test('nodes go on after the store was lost, with the jobs that they are given then', async () => {
    const ran = await startNode('again');
    await agenda.now('again', 'before');
    await until('the first run', IN_TIME_MS, () => ran.includes('before'));
    await mongo().restart();
    await until('a job to be taken', IN_TIME_MS, () => agenda.now('again', 'after'));
    await until('the second run', IN_TIME_MS, () => ran.includes('after'));
  });
});
