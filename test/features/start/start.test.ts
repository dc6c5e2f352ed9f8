import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Caller } from '../../kit/caller.js';
import { embeddedPostgres } from '../../kit/processes.js';
import { Service, type ServiceOptions } from '../../kit/service.js';
import { until } from '../../kit/until.js';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
const TOKEN = /srt_[A-Za-z0-9_-]{49}/g;

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe('a first start without any configuration', () => {
  let home: string;
  let dataDir: string;
  let service: Service;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'strongroom-start-'));
    dataDir = join(home, 'data');
    service = await Service.start({ dataDir, env: { LOG_LEVEL: 'info' } });
  });

  afterAll(async () => {
    expect(await service.stop()).toBe(0);
    await rm(home, { recursive: true, force: true });
  });

  test('prints one screen whose curl line, pasted into a shell, answers 200', async () => {
    const { output, url } = service;
    const screen = output.slice(output.indexOf('\nStrongroom is ready'));
    expect(screen.split('\n').length).toBeLessThanOrEqual(24);
    expect(screen).toContain(`Strongroom is ready at ${url}`);
    expect(new Set(screen.match(TOKEN)).size).toBe(1);

    const line = /^ *(curl .*)$/m.exec(screen)?.[1] as string;
    const pasted = spawnSync('/bin/sh', ['-c', `${line} -w '\\n%{http_code}'`], { encoding: 'utf8' });
    const [body, status] = pasted.stdout.split('\n');
    expect([pasted.status, status]).toEqual([0, '200']);
    expect(JSON.parse(body as string)).toEqual({ projects: [] });
  });

  test('keeps the printed token in a file of its own, and nothing in the directory for others to read', async () => {
    expect(await readFile(join(dataDir, 'bootstrap-token'), 'utf8')).toBe(`${service.output.match(TOKEN)?.[0]}\n`);
    expect(await modeOf(dataDir)).toBe('700');
    for (const name of await readdir(dataDir)) {
      expect([name, await modeOf(join(dataDir, name))]).toEqual([name, expect.stringMatching(/^[67]00$/)]);
    }
    expect(await modeOf(join(dataDir, 'bootstrap-token'))).toBe('600');
    expect(await modeOf(join(dataDir, 'root-key'))).toBe('600');
  });

  test('refuses a directory that another running service has, and leaves that one alone', async () => {
    const second = await Service.spawn({ dataDir });
    expect(await second.exit()).toBe(78);
    expect(second.output).toMatch(/^strongroom: DATA_DIR is used by another running service[^\n]*\n$/);
    expect((await new Caller(service.url, null).get('/readyz')).status).toBe(200);
  });

  // Needs root, whose database runs under another account.
  (isRoot ? test : test.skip)(
    'works for root in a directory that only root may enter, with the database as a plain account',
    async () => {
      expect(await modeOf(home)).toBe('700');
      const token = service.output.match(TOKEN)?.[0] as string;
      expect((await new Caller(service.url, token).get('/api/v1/projects')).status).toBe(200);
      const pids = await embeddedPostgres(dataDir);
      expect(pids.length).toBeGreaterThan(0);
      for (const pid of pids) expect((await stat(`/proc/${pid}`)).uid).not.toBe(0);
    },
  );
});

describe('a start with little or no configuration', () => {
  let home: string;
  let dataDir: string;
  const running: Service[] = [];

  const start = async (options: ServiceOptions = {}): Promise<Service> => {
    const service = await Service.start({ dataDir, ...options });
    running.push(service);
    return service;
  };

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'strongroom-start-'));
    dataDir = join(home, 'data');
  });

  afterEach(async () => {
    for (const service of running.splice(0)) expect(await service.stop()).toBe(0);
    await rm(home, { recursive: true, force: true });
  });

  test('leaves no secret of its configuration in the environment that the system shows of it', async () => {
    const rootKey = randomBytes(32).toString('base64');
    const metricsToken = randomBytes(20).toString('hex');
    const { child } = await start({ env: { ROOT_KEY: rootKey, METRICS_TOKEN: metricsToken, LOG_LEVEL: 'info' } });
    const environment = await readFile(`/proc/${child.pid}/environ`, 'latin1');
    expect(environment).toContain('LOG_LEVEL=info');
    expect(environment).toContain('ROOT_KEY=***');
    for (const secret of [rootKey, metricsToken]) expect(environment).not.toContain(secret);
  });

  test('prints no token the second time, and finds everything as it was', async () => {
    const first = await start();
    const token = first.output.match(TOKEN)?.[0] as string;
    const { project } = (
      await new Caller(first.url, token).post('/api/v2/workspace', {
        projectName: 'Kept',
        shouldCreateDefaultEnvs: true,
      })
    ).body;
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    const created = await new Caller(first.url, token).post('/api/v4/secrets/KEPT', {
      ...at,
      secretValue: 'as it was',
    });
    expect(created.status).toBe(200);
    const rootKey = await readFile(join(dataDir, 'root-key'));
    expect(await running.pop()?.stop()).toBe(0);

    const second = await start();
    expect(second.output).not.toContain('srt_');
    const addresses = second.output.match(/https?:\S+/g);
    expect(addresses).toEqual([second.url, `${second.url}/graphql`, `${second.url}/docs`]);
    const admin = new Caller(second.url, token);
    expect((await admin.get(`/api/v1/projects/${project.id}`)).body.project).toMatchObject({ name: 'Kept' });
    const read = await admin.get(`/api/v4/secrets/KEPT?projectId=${project.id}&environment=dev`);
    expect(read.body.secret.secretValue).toBe('as it was');
    expect(await readFile(join(dataDir, 'root-key'))).toEqual(rootKey);
  });

  test('says after a first start that failed where the token lies, until it is used', async () => {
    const listenOn = async (wanted: number): Promise<NetServer> => {
      const server = createServer().listen(wanted, '127.0.0.1');
      await once(server, 'listening');
      return server;
    };
    const free = await listenOn(0);
    const { port } = free.address() as AddressInfo;
    await new Promise((closed) => free.close(closed));
    const failed = await Service.spawn({ dataDir, env: { PORT: String(port) } });
    // Taken once the start has found it free, and is making its database.
    await until('the data directory', 10_000, () => stat(join(dataDir, 'postgres-password')));
    const taken = await listenOn(port);
    expect(await failed.exit()).toBe(78);
    taken.close();
    expect(failed.output).toBe(`strongroom: PORT ${port} is already in use on this machine; choose another port\n`);
    expect(await embeddedPostgres(dataDir)).toEqual([]);
    expect(failed.output).not.toMatch(TOKEN);

    const path = join(dataDir, 'bootstrap-token');
    const reminder = `The token of the first admin has not been used yet. It is in ${path}\n`;
    const second = await start();
    expect(second.output).toContain(reminder);
    expect(second.output).not.toMatch(TOKEN);
    const token = (await readFile(path, 'utf8')).trim();
    expect((await new Caller(second.url, token).get('/api/v1/projects')).status).toBe(200);
    running.splice(running.indexOf(second), 1);
    expect(await second.stop()).toBe(0);
    expect((await start()).output).not.toContain(path);
  });

  test('takes as its first token one that npm run token printed', async () => {
    const printed = spawnSync('npm', ['run', '--silent', 'token'], { encoding: 'utf8' });
    expect([printed.status, printed.stdout]).toEqual([0, expect.stringMatching(/^srt_[A-Za-z0-9_-]{49}\n$/)]);
    const token = printed.stdout.trim();
    const { url } = await start({ env: { BOOTSTRAP_TOKEN: token } });
    expect((await new Caller(url, token).get('/api/v1/projects')).status).toBe(200);
  });

  test('works for two in two directories at once, each with data of its own', async () => {
    const services = await Promise.all([start(), start({ dataDir: join(home, 'other') })]);
    const tokens = services.map(({ output }) => output.match(TOKEN)?.[0] as string);
    const statuses = async (shift: number): Promise<number[]> =>
      Promise.all(
        services.map(async ({ url }, index) => {
          const token = tokens[(index + shift) % 2] as string;
          return (await new Caller(url, token).get('/api/v1/projects')).status;
        }),
      );
    expect(await statuses(0)).toEqual([200, 200]);
    expect(await statuses(1)).toEqual([401, 401]);
  });

  // Only root may start a process as somebody else; for a plain user every other test here is that case.
  (isRoot ? test : test.skip)('works for a plain user in a directory that it alone may enter', async () => {
    await chmod(home, 0o711);
    await mkdir(dataDir, { mode: 0o700 });
    await chown(dataDir, NOBODY, NOBODY);
    const { output, url } = await start({ uid: NOBODY });
    const token = output.match(TOKEN)?.[0] as string;
    expect((await new Caller(url, token).get('/api/v1/projects')).status).toBe(200);
    expect((await stat(join(dataDir, 'bootstrap-token'))).uid).toBe(NOBODY);
    for (const pid of await embeddedPostgres(dataDir)) expect((await stat(`/proc/${pid}`)).uid).toBe(NOBODY);
  });
});
