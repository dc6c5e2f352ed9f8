import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { Caller } from '../../kit/caller.ts';
import { embeddedUrl } from '../../kit/processes.ts';
import { Seed } from '../../kit/seed.ts';
import { Service } from '../../kit/service.ts';
import { type Executed, StatementRecorder } from '../../kit/statement-recorder.ts';
import { withClient } from '../../kit/tables.ts';
import { copyProject } from './copies.ts';
import { fillMeasured, fillTemplate, type Millions } from './ground.ts';
import { REQUESTS, type Request } from './requests.ts';
import { cell, printSizes } from './sizes.ts';
import { printWear, rewrite } from './wear.ts';
import { type Work, Worker } from './work.ts';

/** How large the organization is. */
export interface Size {
  readonly projects: number;
  /** In each of them. */
  readonly secrets: number;
}

/** An installation of its own, and its database behind a recorder. */
interface Place {
  readonly dataDir: string;
  readonly service: Service;
  readonly url: string;
  readonly recorder: StatementRecorder;
  readonly client: pg.Client;
}

/** What a request took, and the error that it got, if it got one. */
interface Answered extends Work {
  readonly refusal: string;
}

/** By the names of the requests. */
type Works = ReadonlyMap<string, Answered>;

/** Background tasks of the service are not in each of these times. */
const TIMES = 3;

/**
 * Prints what requests take of the database of an organization with many projects and many secrets, and what its tables take of the
 * disk. Pages are counted, which are the same on every machine.
 */
export async function runMillions(size: Size): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-millions-'));
  const service = await Service.start({ dataDir });
  try {
    const url = await embeddedUrl(dataDir);
    const recorder = await StatementRecorder.start(url);
    await withClient(url, (client) => measureAt({ dataDir, service, url, recorder, client }, size));
    await recorder.stop();
    await service.stop();
  } finally {
    await service.kill();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measureAt(place: Place, size: Size): Promise<void> {
  const { client, service } = place;
  const { organization, admin } = await new Seed(new Caller(service.url, await service.firstToken())).organization();
  const filled = await fillMeasured(admin);
  const templateId = await fillTemplate(admin, size.secrets);
  const { rows } = await client.query('select id from project');
  await client.query('vacuum analyze');
  const few = await worksOf(place, organization.id, filled);
  const begun = performance.now();
  await copyProject(client, templateId, size.projects - 1);
  console.log(`filled in ${cell((performance.now() - begun) / 1_000)} s\n`);
  const many = await worksOf(place, organization.id, filled);
  printWorks(few, many);
  await printSizes(client);
  await rewrite(
    client,
    rows.map(({ id }) => id),
  );
  await printWear(client);
}

/** All requests, to a node that keeps no replies. */
async function worksOf({ recorder, dataDir, url }: Place, organizationId: string, ground: Millions): Promise<Works> {
  const node = await Service.start({
    env: {
      DATABASE_URL: recorder.url,
      ROOT_KEY: `file:${join(dataDir, 'root-key')}`,
      REPLY_CACHE_MIB: '0',
      GRAPHQL_LIMITS: 'tokens=4000,cost=10000000,objects=10000000',
    },
  });
  const worker = await Worker.connect(url, organizationId);
  try {
    const there = { ...ground, admin: ground.admin.at(node.url), viewer: ground.viewer.at(node.url) };
    const works = new Map<string, Answered>();
    for (const request of REQUESTS) works.set(request.name, await measured(request, there, recorder, worker));
    return works;
  } finally {
    await worker.close();
    await node.kill();
    await node.dispose();
  }
}

async function measured(
  { send }: Request,
  ground: Millions,
  recorder: StatementRecorder,
  worker: Worker,
): Promise<Answered> {
  let fewest: readonly Executed[] | null = null;
  let refusal = '';
  for (let time = 0; time <= TIMES; time += 1) {
    recorder.executed.length = 0;
    const { status, body } = await send(ground);
    const code = body?.errors?.[0]?.extensions?.code ?? body?.code;
    if (code !== undefined) refusal = `${status} ${code}`;
    const executed = [...recorder.executed];
    // The first time fills what the node keeps.
    if (time > 0 && executed.length < (fewest?.length ?? Number.POSITIVE_INFINITY)) fewest = executed;
  }
  return { ...(await worker.workOf(fewest ?? [])), refusal };
}

function printWorks(few: Works, many: Works): void {
  console.log('| Request | Statements | Rows | Buffers, few projects | Buffers |\n|---|---|---|---|---|');
  for (const [name, { statements, rows, buffers, refusal }] of many) {
    const counts = [statements, rows, few.get(name)?.buffers ?? 0, buffers].map(cell);
    console.log(`| ${[name, ...counts].join(' | ')}${refusal === '' ? '' : ` (${refusal})`} |`);
  }
  for (const [name, { buffers, heaviest }] of many) {
    const before = few.get(name)?.buffers ?? 0;
    if (!hasGrown(before, buffers)) continue;
    console.log(`\n${name}: ${cell(before)} to ${cell(buffers)} buffers, ${cell(heaviest.buffers)} of them in`);
    console.log(`${heaviest.text.trim()}\nof ${heaviest.params.map((value) => String(value).slice(0, 60)).join(', ')}`);
  }
}

/** By more than the greater height of indexes. */
const hasGrown = (before: number, after: number): boolean => after > 1.5 * before + 50;
