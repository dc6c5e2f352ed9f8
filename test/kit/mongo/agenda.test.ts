import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import { MongoClient } from 'mongodb';
import { until } from '../until.ts';
import { describeWithMongo } from './mongo.ts';

const IN_TIME_MS = 50_000;
const JOBS = 100;

describeWithMongo('Agenda on the MongoDB of the kit', (mongo) => {
  const clients: MongoClient[] = [];
  const agendas: Agenda[] = [];

  /** A node that does what is due, ten times a second. */
  async function startNode(name: string, jobs: Readonly<Record<string, (data: unknown) => void>>): Promise<Agenda> {
    const client = await MongoClient.connect(mongo().url);
    clients.push(client);
    const agenda = new Agenda({ name, processEvery: 100, backend: new MongoBackend({ mongo: client.db() }) });
    agendas.push(agenda);
    for (const [job, run] of Object.entries(jobs)) agenda.define(job, async ({ attrs }) => run(attrs.data));
    await agenda.start();
    return agenda;
  }

  afterEach(async () => {
    for (const agenda of agendas.splice(0)) await agenda.stop();
    for (const client of clients.splice(0)) await client.close();
  });

  test('two nodes run each of many jobs once, and both take part', async () => {
    const ran: { node: string; number: unknown }[] = [];
    const jobsOf = (node: string) => ({ count: (number: unknown) => ran.push({ node, number }) });
    const first = await startNode('first', jobsOf('first'));
    await startNode('second', jobsOf('second'));
    const numbers = Array.from({ length: JOBS }, (_, number) => number);
    await Promise.all(numbers.map((number) => first.now('count', number)));
    await until(
      () => `all jobs; ran ${ran.length}`,
      IN_TIME_MS,
      () => ran.length >= JOBS,
    );
    await until('no job to be left', IN_TIME_MS, async () => {
      const { jobs } = await first.queryJobs({ name: 'count' });
      return jobs.every(({ state }) => state === 'completed');
    });
    expect(ran.map(({ number }) => Number(number)).sort((a, b) => a - b)).toEqual(numbers);
    expect(new Set(ran.map(({ node }) => node)).size).toBe(2);
  });

  test('a repeating job of two nodes is one job, which runs again and again', async () => {
    let runs = 0;
    const jobs = { repeat: () => (runs += 1) };
    const nodes = [await startNode('first', jobs), await startNode('second', jobs)];
    for (const node of nodes) await node.every(150, 'repeat');
    await until(
      () => `five runs; ran ${runs}`,
      IN_TIME_MS,
      () => runs >= 5,
    );
    expect((await nodes[0]?.queryJobs({ name: 'repeat' }))?.jobs).toHaveLength(1);
  });

  test('nodes go on after the store was lost, with the jobs that they are given then', async () => {
    let runs = 0;
    const node = await startNode('first', { again: () => (runs += 1) });
    await node.now('again');
    await until('the first run', IN_TIME_MS, () => runs === 1);
    await mongo().restart();
    await until('a job to be taken', IN_TIME_MS, () => node.now('again'));
    await until('the second run', IN_TIME_MS, () => runs >= 2);
  });
});
