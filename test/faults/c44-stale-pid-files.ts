import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mustSucceed } from '../kit/caller.ts';
import { embeddedPostgres } from '../kit/processes.ts';
import { type Check, expectThat, expectWithin, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';

const READY_WITHIN_MS = 15_000;
/** Both name the server, and Postgres refuses to start on either. */
const PID_FILES = ['postmaster.pid', '.s.PGSQL.5432.lock'];

/** What a dead service has left behind. Answers what undoes it. */
type Leave = (installation: Installation) => Promise<() => void>;
const nothing = (): void => undefined;

async function writePidFiles({ dataDir }: Installation, edit: (content: string) => string): Promise<void> {
  for (const name of PID_FILES) {
    const path = join(dataDir, 'postgres', name);
    await writeFile(path, edit(await readFile(path, 'utf8')));
  }
}

const stale: Leave = async ({ service, dataDir }) => {
  await service.kill();
  expectThat((await stat(join(dataDir, 'postgres/postmaster.pid'))).size > 0, 'the kill left no pid file');
  return nothing;
};

const empty: Leave = async (installation) => {
  await installation.service.kill();
  await writePidFiles(installation, () => '');
  return nothing;
};

/** The pid of the dead server has gone to another process of its account. */
const reused: Leave = async (installation) => {
  await installation.service.kill();
  const { uid, gid } = await stat(join(installation.dataDir, 'postgres'));
  const other: ChildProcess = spawn('sleep', ['600'], { uid, gid, cwd: '/', stdio: 'ignore' });
  await once(other, 'spawn');
  await writePidFiles(installation, (content) => content.replace(/^\d+/, String(other.pid)));
  return () => {
    expectThat(other.exitCode === null && other.signalCode === null, 'the other process was ended');
    other.kill();
  };
};

/** Only the service died: its server goes on. */
const orphan: Leave = async ({ service, dataDir }) => {
  service.signal('SIGKILL');
  await service.exit();
  expectThat((await embeddedPostgres(dataDir)).length > 0, 'the server ended with its service');
  return nothing;
};

const KINDS: Readonly<Record<string, Leave>> = { stale, empty, reused, orphan };

/** Processes of the server that are nobody's child among them. */
async function servers(dataDir: string): Promise<number> {
  const pids = await embeddedPostgres(dataDir);
  const parents = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      return Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
    }),
  );
  return parents.filter((parent) => parent > 0 && !pids.includes(parent)).length;
}

export const check: Check = {
  id: 'C44',
  title: 'pid files that lie, and a server that was left behind',
  fullTimes: 5,
  needsQuiet: true,
  run: (times) =>
    withInstallation(async (installation) => {
      const project = await (await installation.seed()).projectOf(await installation.admin());
      let slowestMs = 0;
      await repeat(times, async () => {
        for (const [kind, leave] of Object.entries(KINDS)) {
          const undo = await leave(installation);
          const readyMs = await installation.start();
          undo();
          expectWithin(READY_WITHIN_MS, readyMs, `${kind}: the next start`);
          expectThat((await servers(installation.dataDir)) === 1, `${kind}: there is not one server`);
          mustSucceed(await (await installation.admin()).get(`/api/v1/projects/${project.id}`));
          slowestMs = Math.max(slowestMs, readyMs);
        }
      });
      return `${Object.keys(KINDS).join(', ')}: one server each, slowest ready ${(slowestMs / 1_000).toFixed(1)} s`;
    }),
};
