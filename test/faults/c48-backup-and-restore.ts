import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Caller, mustSucceed } from '../kit/caller.ts';
import { embeddedUrl } from '../kit/processes.ts';
import { runProgram } from '../kit/programs.ts';
import type { RotatingAlone } from '../kit/rotating-alone.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import { verifyAudit } from '../kit/verify-audit.ts';
import { type Check, expectThat, expectWithin } from './check.ts';
import { withRotating } from './rotating-times.ts';
import { SteadyWriters } from './steady-writers.ts';

const SECRETS = { full: 100_000, short: 3_000 };
const SECRETS_OF_A_PROJECT = 10_000;
const ROTATIONS = 3;
const WITHIN_MS = 600_000;
/** Longer than nodes take to find a rotation that is due. */
const QUIET_MS = 12_000;
const PAGE = 1_000;

type Project = { readonly id: string };

/** @throws Error when the program fails */
async function mustRun(name: string, env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, output, stdout } = await runProgram(name, env, ...args);
  expectThat(code === 0, `${name} ended with ${code}:\n${output}`);
  return stdout;
}

/** Reads every secret of a project. @returns how many have the value that they were given */
async function openAll(admin: Caller, project: Project): Promise<number> {
  let opened = 0;
  let cursor: string | undefined;
  do {
    const at = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = mustSucceed(
      await admin.get(`/api/v4/secrets?projectId=${project.id}&environment=prod&limit=${PAGE}${at}`),
    );
    for (const { secretKey, secretValue } of body.secrets)
      if (secretValue === `value-${Number(secretKey.slice('KEY_'.length))}`) opened += 1;
    cursor = body.nextCursor;
  } while (cursor !== undefined);
  return opened;
}

/** An installation with secrets, tokens and rotations, and what must be in its backup. */
async function fill({ rotating }: RotatingAlone, count: number): Promise<Project[]> {
  const { admin } = rotating;
  const seed = new Seed(admin);
  for (let made = 0; made < ROTATIONS; made += 1) await rotating.create();
  const projects: Project[] = [];
  for (let left = count; left > 0; left -= SECRETS_OF_A_PROJECT) {
    const project = await seed.projectOf(admin);
    await seed.secrets(admin, project, 'prod', Math.min(left, SECRETS_OF_A_PROJECT));
    projects.push(project);
  }
  return projects;
}

/** Settings of the copy: a new directory, and a new root key. */
type Copied = Readonly<Record<'DATA_DIR' | 'ROOT_KEY', string>>;

/** Takes a backup while others write, and restores it into a new embedded database. @returns how long both took */
async function copy(alone: RotatingAlone, file: string, settings: Copied): Promise<number> {
  const { admin, project } = alone.rotating;
  const writers = new SteadyWriters(admin, project, { count: 4, prefix: 'LOAD' });
  await writers.more(20);
  let began = performance.now();
  await mustRun('backup', { DATABASE_URL: alone.databaseUrl, DATA_DIR: settings.DATA_DIR }, file);
  let tookMs = performance.now() - began;
  await writers.more(20);
  await writers.end();
  began = performance.now();
  const keys = { ROOT_KEY: alone.rootKey, NEXT_ROOT_KEY: settings.ROOT_KEY };
  await mustRun('restore', { ...settings, ...keys }, file, '--tokens', 'keep', '--to-next-root-key');
  tookMs += performance.now() - began;
  return tookMs;
}

/** What a service on the restored database must do, and must not. */
async function judge(alone: RotatingAlone, service: Service, projects: readonly Project[]): Promise<number> {
  const url = await embeddedUrl(service.dataDir);
  const sql = (text: string) => withClient(url, async (client) => (await client.query(text)).rows);
  const admin = alone.rotating.admin.at(service.url);
  await sql(`update secret_rotation set next_rotation_at = now() - interval '1 minute'`);
  const calls = alone.rotating.fake.calls.length;
  const quietUntil = performance.now() + QUIET_MS;
  let opened = 0;
  for (const project of projects) opened += await openAll(admin, project);
  await delay(Math.max(0, quietUntil - performance.now()));
  const made = alone.rotating.fake.calls.length - calls;
  expectThat(made === 0, `the copy called an external system ${made} times`);
  const [row] = await sql(
    `select count(*)::int as paused from job_kind where is_paused and name like 'secret-rotations:%'`,
  );
  expectThat(row?.paused === 3, `${row?.paused} of 3 kinds of jobs of rotations are paused`);
  // With the pause lifted it calls: without this, a rotation that is not due would look the same.
  await sql('update job_kind set is_paused = false');
  await until('a call of the copy', 60_000, () => alone.rotating.fake.calls.length > calls);
  return opened;
}

export const check: Check = {
  id: 'C48',
  title: 'a backup under load, restored, opens every value and calls nobody',
  fullTimes: 1,
  needsQuiet: true,
  run: async (times) => {
    const count = process.argv.includes('--full') ? SECRETS.full : SECRETS.short;
    const counted: string[] = [];
    await withRotating(times, async (alone) => {
      const home = await mkdtemp(join(tmpdir(), 'strongroom-fault-'));
      const dataDir = join(home, 'data');
      try {
        const projects = await fill(alone, count);
        const settings = { DATA_DIR: dataDir, ROOT_KEY: randomBytes(32).toString('base64') };
        const tookMs = await copy(alone, join(home, 'backup.gz'), settings);
        expectWithin(WITHIN_MS, tookMs, 'the backup and its restore');
        await alone.service.kill();
        const env = { ALLOW_PRIVATE_TARGETS: 'true', ROOT_KEY: settings.ROOT_KEY };
        const service = await Service.start({ dataDir, env });
        try {
          const opened = await judge(alone, service, projects);
          expectThat(opened === count, `${opened} of ${count} values are as they were`);
        } finally {
          await service.stop();
        }
        const { code, output, rows } = await verifyAudit(settings);
        expectThat(code === 0, `the audit trail is not intact:\n${output}`);
        const seconds = (tookMs / 1_000).toFixed(1);
        counted.push(
          `${count} of ${count} values opened, ${rows} audit rows verified, 0 calls, copied in ${seconds} s`,
        );
      } finally {
        await rm(home, { recursive: true, force: true });
      }
    });
    return counted.join('; ');
  },
};
