import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Caller, mustSucceed } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';

/** What the loads run on: a service on an embedded database of its own, with something in it. */
export interface Ground {
  readonly service: Service;
  readonly admin: Caller;
  readonly projectId: string;
  readonly identityId: string;
}

/** Folders with this many secrets each. */
const LISTS = [10, 100, 1_000] as const;
const PROJECTS = 20;

/**
 * Starts the built service and fills it.
 *
 * @param profileDir where V8 is to leave a CPU profile when the service stops
 */
export async function withGround<T>(profileDir: string | undefined, work: (ground: Ground) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-bench-'));
  const env: Record<string, string> = { RATE_LIMIT: 'off' };
  if (profileDir !== undefined) env.NODE_OPTIONS = `--cpu-prof --cpu-prof-dir=${profileDir}`;
  const service = await Service.start({ dataDir, env });
  try {
    const token = (await readFile(join(dataDir, 'bootstrap-token'), 'utf8')).trim();
    const admin = new Caller(service.url, token);
    const answer = await work({ service, admin, ...(await fill(admin)) });
    await service.stop();
    return answer;
  } finally {
    await service.kill();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function fill(admin: Caller): Promise<{ projectId: string; identityId: string }> {
  const seed = new Seed(admin);
  const project = await seed.projectOf(admin);
  for (let made = 1; made < PROJECTS; made += 1) await seed.projectOf(admin);
  for (const count of LISTS) await fillFolder(seed, admin, project.id, count);
  mustSucceed(await admin.post('/api/v2/folders', { projectId: project.id, environment: 'dev', name: 'new' }));
  const { identityId } = await seed.caller(admin);
  return { projectId: project.id, identityId };
}

async function fillFolder(seed: Seed, admin: Caller, projectId: string, count: number): Promise<void> {
  const name = `of-${count}`;
  mustSucceed(await admin.post('/api/v2/folders', { projectId, environment: 'dev', name }));
  await seed.secrets(admin, { id: projectId }, 'dev', count, undefined, `/${name}`);
}
