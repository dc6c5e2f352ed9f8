import { spawnSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Caller } from '../kit/caller.ts';
import { embeddedPostgres } from '../kit/processes.ts';
import { Seed, type SeededProject } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, repeat } from './check.ts';

const SIZE_MIB = 256;
const WRITES = 100;
const REFUSALS = 20;
const HEALTHY_WITHIN_MS = 60_000;
const CONFIGURATION = 78;

interface Counts {
  acknowledged: number;
  refused: number;
  slowestMs: number;
}

/** Writes what is left of the disk into a file. */
function fillDisk(disk: string): () => Promise<void> {
  const filler = join(disk, 'filler');
  spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k'], { stdio: 'ignore' });
  return () => rm(filler, { force: true });
}

/** Writes secrets until so many were stored or refused; each reply is 200 or a named 503. */
async function write(
  admin: Caller,
  { project, kept }: { project: SeededProject; kept: Map<string, string> },
  last: { stored: number; refused: number },
): Promise<number> {
  const [before, refusals] = [kept.size, last.refused];
  let refused = 0;
  for (let number = 0; refused < refusals && kept.size - before < last.stored; number += 1) {
    const key = `K_${kept.size}_${number}`;
    const secretValue = `${key} `.repeat(2_000);
    const body = { projectId: project.id, environment: 'dev', secretPath: '/', secretValue };
    const reply = await admin.request({ method: 'POST', path: `/api/v4/secrets/${key}`, body });
    if (reply.status === 200) kept.set(key, secretValue);
    else refused += 1;
    expectThat(reply.status === 200 || reply.status === 503, `a write was answered ${reply.status}: ${reply.text}`);
  }
  return refused;
}

async function expectKept(admin: Caller, project: SeededProject, kept: Map<string, string>): Promise<void> {
  for (const [key, value] of kept) {
    const reply = await admin.get(`/api/v4/secrets/${key}?projectId=${project.id}&environment=dev`);
    expectThat(reply.body.secret?.secretValue === value, `an acknowledged write is lost: ${reply.text.slice(0, 300)}`);
  }
}

/** Makes a data directory whose write-ahead log is on another disk. */
async function moveLog(dataDir: string, disk: string): Promise<void> {
  const service = await Service.start({ dataDir });
  expectThat((await service.stop()) === 0, 'it did not end with 0');
  const [log, moved] = [join(dataDir, 'postgres/pg_wal'), join(disk, 'pg_wal')];
  const { uid, gid } = await stat(log);
  await cp(log, moved, { recursive: true });
  expectThat(spawnSync('chown', ['-R', `${uid}:${gid}`, moved]).status === 0, 'the log keeps no owner');
  await chown(disk, uid, gid);
  await rm(log, { recursive: true });
  await symlink(moved, log);
}

/** Fills a disk under a service, makes room again; then stops it on the full disk, and starts it there. */
async function tryOnce(dataDir: string, disk: string, counts: Counts): Promise<void> {
  let service = await Service.start({ dataDir });
  try {
    const token = await service.firstToken();
    const callerOf = ({ url }: Service): Caller => new Caller(url, token);
    const project = await new Seed(callerOf(service)).projectOf(callerOf(service));
    const kept = new Map<string, string>();
    await write(callerOf(service), { project, kept }, { stored: WRITES, refused: 1 });
    expectThat(kept.size === WRITES, 'a write was refused with room on the disk');
    let makeRoom = fillDisk(disk);
    counts.refused += await write(callerOf(service), { project, kept }, { stored: 3_000, refused: REFUSALS });
    const { status } = await callerOf(service).get('/readyz');
    expectThat(status === 503, `a node that takes no writes answers ${status} when it is asked whether it is ready`);
    await makeRoom();
    const begun = performance.now();
    await until('readiness', HEALTHY_WITHIN_MS, async () => (await callerOf(service).get('/readyz')).status === 200);
    counts.slowestMs = Math.max(counts.slowestMs, performance.now() - begun);
    await expectKept(callerOf(service), project, kept);

    makeRoom = fillDisk(disk);
    const code = await service.stop();
    expectThat(code === 0, `it ended with ${code} on a full disk:\n${service.output}`);
    expectThat((await embeddedPostgres(dataDir)).length === 0, 'processes of Postgres are left');
    service = await Service.spawn({ dataDir });
    const refusal = await Promise.race([service.exit(40_000), service.ready(40_000).then(() => 'ready')]);
    if (refusal !== 'ready') {
      expectThat(refusal === CONFIGURATION, `a start on a full disk ended with ${refusal}:\n${service.output}`);
      expectThat(/^strongroom: [^\n]*disk[^\n]*\n$/.test(service.output), `it printed:\n${service.output}`);
    } else await service.stop();
    await makeRoom();
    service = await Service.start({ dataDir });
    await expectKept(callerOf(service), project, kept);
    counts.acknowledged += kept.size;
    expectThat((await service.stop()) === 0, 'it did not end with 0 with room again');
  } finally {
    await service.kill();
  }
}

export const check: Check = {
  id: 'C43',
  title: 'a full disk, of the data and of the write-ahead log alone',
  fullTimes: 5,
  needsQuiet: true,
  run: async (times) => {
    const counts: Counts = { acknowledged: 0, refused: 0, slowestMs: 0 };
    const home = await mkdtemp(join(tmpdir(), 'strongroom-disk-'));
    const mount = join(home, 'disk');
    // The server runs under another account.
    await chmod(home, 0o755);
    await mkdir(mount);
    const mountDisk = (): void => {
      const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m`, 'strongroom-test', mount]);
      expectThat(status === 0, 'this check needs the right to mount');
    };
    try {
      await repeat(times, async () => {
        mountDisk();
        await tryOnce(join(mount, 'data'), mount, counts).finally(() => spawnSync('umount', [mount]));
        mountDisk();
        const dataDir = join(home, 'data');
        const withLog = moveLog(dataDir, mount).then(() => tryOnce(dataDir, mount, counts));
        await withLog.finally(() => spawnSync('umount', [mount]));
        await rm(dataDir, { recursive: true, force: true });
      });
    } finally {
      await rm(home, { recursive: true, force: true });
    }
    const { acknowledged, refused, slowestMs } = counts;
    return `${acknowledged} acknowledged writes, 0 lost; ${refused} refused with 503; ready ${Math.ceil(slowestMs / 1000)} s after there was room`;
  },
};
