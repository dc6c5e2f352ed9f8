import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { mintToken } from '../../../src/kernel/crypto/token.js';
import { freshDatabase, migratedDatabase } from '../../kit/databases.ts';
import { freePort } from '../../kit/free-port.ts';
import { Authority, type ServerCertificate } from '../../kit/outside/authority.ts';
import { Relay } from '../../kit/relay.ts';
import { Service } from '../../kit/service.ts';
import { until } from '../../kit/until.ts';

const ROOT_KEY = randomBytes(32).toString('base64');

/** A database at a port, whether or not anybody listens there. */
function at(databaseUrl: string, port: number): string {
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return url.href;
}

describe('a database that is away at start', () => {
  test('is waited for, and the service starts when it is there', async () => {
    const databaseUrl = await freshDatabase();
    const port = await freePort();
    const service = await Service.spawn({ env: { DATABASE_URL: at(databaseUrl, port), ROOT_KEY } });
    await until('the wait', 20_000, () => service.output.includes('"msg":"waiting for the database"'));
    const relay = await Relay.start(databaseUrl, port);
    await service.ready(50_000);
    expect(service.output).toContain('"reason":"DATABASE_URL names a server that refuses connections; is it running?"');
    expect(await service.stop()).toBe(0);
    await service.dispose();
    await relay.stop();
  });

  test('is not waited for any longer once the service is told to stop', async () => {
    const url = at(await freshDatabase(), await freePort());
    const service = await Service.spawn({ env: { DATABASE_URL: url, ROOT_KEY, DATABASE_WAIT_SECONDS: '3600' } });
    await until('the wait', 20_000, () => service.output.includes('"msg":"waiting for the database"'));
    service.signal('SIGTERM');
    expect(await service.exit()).toBe(75);
    await service.dispose();
  });
});

test('a data directory is not needed, and not made, with a database, a root key and a token', async () => {
  const home = await mkdtemp(join(tmpdir(), 'strongroom-no-data-'));
  const dataDir = join(home, 'data');
  const env = { DATABASE_URL: await migratedDatabase(), ROOT_KEY, BOOTSTRAP_TOKEN: mintToken() };
  const service = await Service.start({ dataDir, env });
  const status = await fetch(`${service.url}/api/v1/projects`, {
    headers: { Authorization: `Bearer ${env.BOOTSTRAP_TOKEN}` },
  });
  expect(status.status).toBe(200);
  expect(await service.stop()).toBe(0);
  await expect(stat(dataDir)).rejects.toThrow('ENOENT');
  await rm(home, { recursive: true });
});

/** What a client of Postgres sends before it begins TLS. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Offers TLS before a database that has none, as Postgres does. */
async function withTls(databaseUrl: string, certificate: ServerCertificate): Promise<{ server: Server; port: number }> {
  const url = new URL(databaseUrl);
  const host = decodeURIComponent(url.hostname);
  const server = createServer((near) => {
    near.on('error', () => undefined);
    near.once('data', (first) => {
      if (!first.equals(TLS_REQUEST)) return near.destroy();
      near.write('S');
      const secured = new TLSSocket(near, { isServer: true, ...certificate });
      const far = host.startsWith('/')
        ? connect({ path: `${host}/.s.PGSQL.${url.port || 5432}` })
        : connect({ host, port: Number(url.port || 5432) });
      secured.on('error', () => far.destroy());
      far.on('error', () => secured.destroy());
      secured.pipe(far).pipe(secured);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { server, port: (server.address() as { port: number }).port };
}

describe('a database with TLS', () => {
  let home: string;
  let databaseUrl: string;
  let right: { server: Server; port: number };
  let other: { server: Server; port: number };

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'strongroom-tls-'));
    databaseUrl = await migratedDatabase();
    const authority = await Authority.create();
    await writeFile(join(home, 'ca.pem'), authority.pem);
    right = await withTls(databaseUrl, await authority.issue(['127.0.0.1']));
    other = await withTls(databaseUrl, await authority.issue(['db.example.com']));
  });

  afterAll(async () => {
    for (const { server } of [right, other]) server.close();
    await rm(home, { recursive: true });
  });

  test('is used when its authority is given', async () => {
    const url = `${at(databaseUrl, right.port)}?sslmode=verify-full&sslrootcert=${home}/ca.pem`;
    const service = await Service.start({ env: { DATABASE_URL: url, ROOT_KEY } });
    expect(await service.stop()).toBe(0);
    await service.dispose();
  });

  test.each([
    [
      'of an unknown authority',
      () => `${at(databaseUrl, right.port)}?sslmode=verify-full`,
      /authority is unknown; set sslrootcert/,
    ],
    [
      'of another host',
      () => `${at(databaseUrl, other.port)}?sslmode=verify-full&sslrootcert=${home}/ca.pem`,
      /certificate is for another host/,
    ],
    [
      'with a file that is missing',
      () => `${at(databaseUrl, right.port)}?sslmode=verify-full&sslrootcert=${home}/none.pem`,
      /names a file of a certificate or key that does not exist/,
    ],
  ])('%s is refused in words', async (_case, url, line) => {
    const service = await Service.spawn({ env: { DATABASE_URL: url(), ROOT_KEY } });
    expect(await service.exit()).toBe(78);
    expect(service.output).toMatch(/^strongroom: [^\n]+\n$/);
    expect(service.output).toMatch(line);
    await service.dispose();
  });

  test('is required where the server has none, which is said', async () => {
    const relay = await Relay.start(databaseUrl);
    const service = await Service.spawn({ env: { DATABASE_URL: `${relay.url}?sslmode=verify-full`, ROOT_KEY } });
    expect(await service.exit()).toBe(78);
    expect(service.output).toBe('strongroom: DATABASE_URL requires TLS, which the server does not offer\n');
    await service.dispose();
    await relay.stop();
  });
});

test('requests are logged at level info when that is asked for', async () => {
  const env = { DATABASE_URL: await migratedDatabase(), ROOT_KEY, ACCESS_LOG: 'true', LOG_LEVEL: 'info' };
  const service = await Service.start({ env });
  await fetch(`${service.url}/api/v1/projects?name=canary`);
  const line = await until('the line', 20_000, () => /\{[^\n]*"msg":"request completed"\}/.exec(service.output)?.[0]);
  expect(JSON.parse(line)).toMatchObject({ level: 30, method: 'GET', route: '/api/v1/projects', status: 401 });
  expect(service.output).not.toContain('canary');
  expect(await service.stop()).toBe(0);
  await service.dispose();
});
