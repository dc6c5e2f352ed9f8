import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { serversOf, signalProcesses } from '../../src/kernel/postgres/processes.js';
import { runningProcesses } from './processes.js';
import { Service } from './service.js';
import { until } from './until.js';

const ROOT = resolve(import.meta.dirname, '../..');
const WITHIN_MS = 60_000;

describe('a test run that is cut off', () => {
  let folder: string;
  let cluster = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'run-'));
  });
  afterAll(async () => {
    signalProcesses([...inFolder().map(({ pid }) => pid), ...serversOf(cluster)], 'SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  /** Processes of a run whose temporary files are there, but its Postgres. */
  const inFolder = () => runningProcesses().filter(({ environment }) => environment.includes(folder));

  test('leaves no process and no database, and ends nothing of another run', async () => {
    const forever = [process.execPath, '-e', 'setInterval(() => undefined, 1_000)'] as const;
    const another = await Service.spawn({ command: forever });
    const jest = [join(ROOT, 'node_modules/jest/bin/jest.js'), '--config', join(ROOT, 'test/kit/jest.config.mjs')];
    const run = spawn(
      process.execPath,
      ['--experimental-vm-modules', ...jest, 'test/features/project-templates/drift.test.ts'],
      { cwd: ROOT, stdio: 'ignore', env: { ...process.env, TMPDIR: folder } },
    );
    const ended = once(run, 'exit');
    await until('a service', WITHIN_MS, () => {
      expect(run.exitCode).toBeNull();
      return inFolder().filter(({ environment }) => environment.includes('DATA_DIR=')).length > 0;
    });
    const [data = ''] = (await readdir(folder)).filter((name) => name.startsWith('strongroom-test-postgres-'));
    cluster = join(folder, data, 'postgres');
    expect(serversOf(cluster)).not.toEqual([]);

    run.kill('SIGKILL');
    await ended;

    await until('its processes to end', WITHIN_MS, () => inFolder().length === 0);
    expect(serversOf(cluster)).toEqual([]);
    expect(await readdir(folder)).not.toContain(data);
    expect(existsSync(join('/dev/shm', data))).toBe(false);
    expect(another.child).toMatchObject({ exitCode: null, signalCode: null });
    await another.kill();
    await another.dispose();
  });
});
