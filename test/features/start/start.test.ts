import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Caller } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { freePort } from '../../kit/free-port.js';
import { embeddedPostgres, embeddedUrl } from '../../kit/processes.js';
import { type Ended, runProgram } from '../../kit/programs.js';
import { Service, type ServiceOptions } from '../../kit/service.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';

const hasTerminal = spawnSync('script', ['--version']).status === 0;
const PROGRAM = `${resolve('node_modules/.bin/node')} ${resolve('.build/src/main.js')}`;
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
const TOKEN = /srt_[A-Za-z0-9_-]{49}/g;

/** Runs the curl line of the screen, which must answer 200. */
async function pasteCurl(screen: string): Promise<void> {
  const line = /^ *(curl [^\r\n]*)/m.exec(screen)?.[1] as string;
  const pasted = spawnSync('/bin/sh', ['-c', `${line} -w '\\n%{http_code}'`], { encoding: 'utf8' });
  const [body, status] = pasted.stdout.split('\n');
  expect([pasted.status, status]).toEqual([0, '200']);
  expect(JSON.parse(body as string)).toEqual({ projects: [] });
}

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

  test('prints one screen without the token, whose curl line, pasted into a shell, answers 200', async () => {
    const { output, url } = service;
    const screen = output.slice(output.indexOf('\nStrongroom is ready'));
    expect(screen.split('\n').length).toBeLessThanOrEqual(24);
    expect(screen).toContain(`Strongroom is ready at ${url}`);
    expect(output).not.toContain('srt_');
    expect(screen).toContain(`$(cat ${join(dataDir, 'bootstrap-token')})`);
    await pasteCurl(screen);
  });

  test('keeps the token in a file of its own, and nothing in the directory for others to read', async () => {
    expect(await readFile(join(dataDir, 'bootstrap-token'), 'utf8')).toMatch(/^srt_[A-Za-z0-9_-]{49}\n$/);
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
      const token = await service.firstToken();
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
  /** The directory of a service that has been stopped; nobody has used its token. */
  let begun: string;
  const running: Service[] = [];
  /** A start that is not the first one: a copy is made faster than a database. */
  const copyBegun = () => promisify(execFile)('cp', ['-a', begun, dataDir]);

  const start = async (options: ServiceOptions = {}): Promise<Service> => {
    const service = await Service.start({ dataDir, ...options });
    running.push(service);
    return service;
  };

  beforeAll(async () => {
    begun = join(await mkdtemp(join(tmpdir(), 'strongroom-begun-')), 'data');
    expect(await (await Service.start({ dataDir: begun })).stop()).toBe(0);
  });
  afterAll(() => rm(join(begun, '..'), { recursive: true, force: true }));

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
    const env = { ROOT_KEY: rootKey, METRICS_TOKEN: metricsToken, LOG_LEVEL: 'info' };
    const { child } = await start({ env: { DATABASE_URL: await migratedDatabase(), ...env } });
    const environment = await readFile(`/proc/${child.pid}/environ`, 'latin1');
    expect(environment).toContain('LOG_LEVEL=info');
    expect(environment).toContain('ROOT_KEY=***');
    for (const secret of [rootKey, metricsToken]) expect(environment).not.toContain(secret);
  });

  test('prints no token the second time, and finds everything as it was', async () => {
    const first = await start();
    const token = await first.firstToken();
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
    expect(addresses).toEqual(['', '/console', '/graphql', '/docs', '/guides'].map((path) => second.url + path));
    const admin = new Caller(second.url, token);
    expect((await admin.get(`/api/v1/projects/${project.id}`)).body.project).toMatchObject({ name: 'Kept' });
    const read = await admin.get(`/api/v4/secrets/KEPT?projectId=${project.id}&environment=dev`);
    expect(read.body.secret.secretValue).toBe('as it was');
    expect(await readFile(join(dataDir, 'root-key'))).toEqual(rootKey);
  });

  (hasTerminal ? test : test.skip)('prints the token once on a terminal, in a line that works', async () => {
    const service = await start({
      command: ['script', '--quiet', '--return', '--flush', '--command', PROGRAM, '/dev/null'],
    });
    const token = await service.firstToken();
    await until('the whole screen', 20_000, () => service.output.includes('/docs'));
    expect(new Set(service.output.match(TOKEN))).toEqual(new Set([token]));
    await pasteCurl(service.output);
    // The terminal passes no signal on.
    running.splice(running.indexOf(service), 1);
    await service.kill();

    const later = await start();
    expect(later.output).not.toMatch(TOKEN);
  });

  test('says that its first token expired when nobody used it within a day', async () => {
    await copyBegun();
    const service = await start();
    const token = await service.firstToken();
    const query = async (text: string): Promise<unknown[]> =>
      withClient(await embeddedUrl(dataDir), async (client) => (await client.query(text)).rows);
    const [unused] = await query(
      'select extract(epoch from expires_at - created_at)::integer as seconds from access_token',
    );
    expect(unused).toEqual({ seconds: 86_400 });
    await query(`update access_token set expires_at = now(), created_at = now() - interval '1 day'`);
    const refused = await new Caller(service.url, token).get('/api/v1/projects');
    expect(refused).toBeError(401, 'TOKEN_EXPIRED');
    running.splice(running.indexOf(service), 1);
    expect(await service.stop()).toBe(0);

    const second = await start();
    expect(second.output).toContain('expired because nobody used it within a day. `npm run recover-admin`');
    await query(`update access_token set expires_at = now() + interval '1 minute'`);
    const admin = new Caller(second.url, token);
    expect((await admin.get('/api/v1/projects')).status).toBe(200);
    expect(await query('select expires_at from access_token')).toEqual([{ expires_at: null }]);
  });

  test('says after a first start that failed where the token lies, until it is used', async () => {
    const port = await freePort();
    const failed = await Service.spawn({ dataDir, env: { PORT: String(port) } });
    // Taken once the start has found it free, and is making its database.
    await until('the data directory', 30_000, () => stat(join(dataDir, 'postgres-password')));
    const taken = createServer().listen(port, '127.0.0.1');
    await once(taken, 'listening');
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
    expect(printed.stderr).toContain('no existing installation accepts it');
    const help = spawnSync('npm', ['run', '--silent', 'token', '--', '--help'], { encoding: 'utf8' });
    expect(help.stdout).toContain('`npm run recover-admin`');
    expect(help.stdout).not.toMatch(TOKEN);
    const token = printed.stdout.trim();
    const { url, output } = await start({ env: { BOOTSTRAP_TOKEN: token } });
    expect((await new Caller(url, token).get('/api/v1/projects')).status).toBe(200);
    expect(output).toContain('curl -s -H "Authorization: Bearer $BOOTSTRAP_TOKEN"');
    expect(output).not.toContain(token);
    expect(await readdir(dataDir)).not.toContain('bootstrap-token');
  });

  const recover = (env: Record<string, string> = {}, ...args: string[]): Promise<Ended> =>
    runProgram('recover-admin', { DATA_DIR: dataDir, ...env }, ...args);

  test('has a new admin for whoever has the database and the root key', async () => {
    await copyBegun();
    const service = await start();
    await withClient(await embeddedUrl(dataDir), (client) => client.query('update access_token set is_revoked = true'));
    const [recovered, ...refused] = await Promise.all([
      recover(),
      recover({ ROOT_KEY: randomBytes(32).toString('base64') }),
      recover({}, '--organization', 'nobody'),
    ]);
    for (const { code, stdout } of refused) expect([code, stdout]).toEqual([78, '']);
    expect([recovered.code, recovered.stdout]).toEqual([0, expect.stringMatching(/^srt_[A-Za-z0-9_-]{49}\n$/)]);

    const admin = new Caller(service.url, recovered.stdout.trim());
    expect((await admin.post('/api/v2/workspace', { projectName: 'Reached again' })).status).toBe(200);
    expect((await admin.post('/api/v1/job-kinds/jobs:delete-finished/pause', {})).status).toBe(200);
    const { rows } = await withClient(await embeddedUrl(dataDir), (client) =>
      client.query(
        `select facts, actor_kind, isfinite(expires_on) as ends from audit_record where action = 'installation:recover-admin'`,
      ),
    );
    const identityId = /^Made the identity (\S+), "recovered-admin"/.exec(recovered.stderr)?.[1];
    expect(rows).toEqual([
      { facts: expect.objectContaining({ identityId, isInstallationAdmin: true }), actor_kind: 'system', ends: false },
    ]);
    const [token] = (await admin.get(`/api/v1/auth/token-auth/identities/${identityId}/tokens`)).body.tokens;
    expect(token).toMatchObject({ accessTokenTTL: 86_400, accessTokenMaxTTL: 86_400 });
  });

  test('has none before there is a database', async () => {
    expect(await recover()).toMatchObject({ code: 78, stderr: expect.stringContaining('DATA_DIR has no database') });
  });

  test('has one of a single organization too, made while the service is stopped', async () => {
    await copyBegun();
    const { stdout } = await recover({}, '--organization', 'default');
    const admin = new Caller((await start()).url, stdout.trim());
    expect((await admin.get('/api/v1/projects')).body).toEqual({ projects: [] });
    expect((await admin.post('/api/v1/job-kinds/jobs:delete-finished/pause', {})).status).toBe(403);
  });

  test('works for two in two directories at once, each with data of its own', async () => {
    await copyBegun();
    const services = await Promise.all([start(), start({ dataDir: join(home, 'other') })]);
    const tokens = await Promise.all(services.map((service) => service.firstToken()));
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
    const service = await start({ uid: NOBODY });
    expect((await new Caller(service.url, await service.firstToken()).get('/api/v1/projects')).status).toBe(200);
    expect((await stat(join(dataDir, 'bootstrap-token'))).uid).toBe(NOBODY);
    for (const pid of await embeddedPostgres(dataDir)) expect((await stat(`/proc/${pid}`)).uid).toBe(NOBODY);
  });
});
