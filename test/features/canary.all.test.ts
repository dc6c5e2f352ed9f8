import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller, mustSucceed, type Reply, type RequestOptions } from '../kit/caller.js';
import { formsOf, foundIn, foundInFiles, MARK, type Needle } from '../kit/canary.js';
import { embeddedPostgres, embeddedUrl } from '../kit/processes.js';
import { Seed, type SeededProject } from '../kit/seed.js';
import { Service } from '../kit/service.js';
import { tableContents, withClient } from '../kit/tables.js';

/** Tokens of the right form whose characters are the marker. */
const markedToken = (fill: string): string =>
  mintToken(Buffer.from((MARK + fill.repeat(43)).slice(0, 43), 'base64url'));

/** Unknown fields of bodies are refused. */
const STRICT = { prefer: 'handling=strict' };

/** Longer than any name that an error repeats. */
const LONG_NAME = MARK.repeat(3);

let planted = 0;
/** A secret that nobody may find again; each is another one. */
function canary(): string {
  planted += 1;
  return `${MARK} ${planted} /+ä€"\\`;
}

describe('after a session full of secrets, good requests and bad ones', () => {
  const bootstrapToken = markedToken('B');
  const rootKey = randomBytes(32);
  const needles: Needle[] = [...formsOf('marker', MARK), ...formsOf('root key', rootKey)];
  /** Everything that a refused caller was told. */
  const reported: Reply[] = [];
  let service: Service;
  let admin: Caller;
  let project: SeededProject;

  const place = () => ({ projectId: project.id, environment: 'dev', secretPath: '/' });

  /** A secret with a canary in everything that is sealed. */
  const secret = (secretKey: string) => ({
    secretKey,
    secretValue: canary(),
    secretComment: canary(),
    secretMetadata: [{ key: 'k', value: canary(), isEncrypted: true }],
  });

  /** A token that the service made: no marker, so it is looked for by itself. */
  function tracked(name: string, caller: Caller): Caller {
    needles.push(...formsOf(name, caller.token as string), ...formsOf(name, (caller.token as string).slice(4, 47)));
    return caller;
  }

  async function goodSession(): Promise<void> {
    const seed = new Seed(admin);
    project = await seed.projectOf(admin);
    mustSucceed(
      await admin.patch(`/api/v1/projects/${project.id}`, { secretDetectionIgnoreValues: [canary(), canary()] }),
    );
    const { secretKey: _, ...single } = secret('');
    // Sent twice with a key: the answer is stored.
    const key = { 'idempotency-key': MARK };
    for (const times of ['once', 'again']) {
      const reply = mustSucceed(await admin.post('/api/v4/secrets/ONE', { ...place(), ...single }, key));
      expect(reply.headers['idempotency-replayed']).toBe(times === 'again' ? 'true' : undefined);
    }
    mustSucceed(await admin.patch('/api/v4/secrets/ONE', { ...place(), ...single, secretValue: canary() }));
    const secrets = Array.from({ length: 40 }, (_each, index) => secret(`KEY_${index}`));
    mustSucceed(await admin.post('/api/v4/secrets/batch', { ...place(), secrets }));
    const changes = [secret('KEY_1'), secret('KEY_2')];
    mustSucceed(await admin.patch('/api/v4/secrets/batch', { ...place(), secrets: changes }));
    await admin.data('mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }', {
      input: { ...place(), ...secret('BY_GRAPHQL') },
    });
    await admin.data(
      `mutation { createSecret(input: { projectId: "${project.id}", environment: "dev", secretPath: "/", secretKey: "LITERAL",
        secretValue: ${JSON.stringify(canary())} }) { secret { id secretValue } } }`,
    );
    const list = mustSucceed(await admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`));
    expect(list.text.split(MARK).length).toBeGreaterThan(100);
    mustSucceed(await admin.get(`/api/v4/secrets/KEY_3?projectId=${project.id}&environment=dev`));
    mustSucceed(await admin.get(`/api/v1/projects/${project.id}`));
    mustSucceed(await admin.delete('/api/v4/secrets/KEY_4', place()));
    await files();
    await tokens(seed);
  }

  async function files(): Promise<void> {
    const content = JSON.stringify({ FROM_FILE: canary(), KEY_5: canary() });
    for (const dryRun of [true, false])
      mustSucceed(
        await admin.post('/api/v4/secrets/import', { ...place(), format: 'json', content, mode: 'overwrite', dryRun }),
      );
    const { text } = mustSucceed(
      await admin.get(
        `/api/v4/secrets/export?projectId=${project.id}&environment=dev&format=yaml&includeComments=true`,
      ),
    );
    expect(text.split(MARK).length).toBeGreaterThan(80);
  }

  async function tokens(seed: Seed): Promise<void> {
    const machine = tracked(
      'identity token',
      await seed.caller(admin, { project: project.id, tokenAuth: { accessTokenTTL: 60, accessTokenMaxTTL: 600 } }),
    );
    mustSucceed(await machine.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`));
    mustSucceed(await machine.post('/api/v1/auth/token/renew', { accessToken: machine.token }));
    const { createUser } = await admin.data(
      'mutation { createUser(input: { username: "ann@example.com" }) { user { id } } }',
    );
    const { createPersonalAccessToken } = await admin.data(
      'mutation ($userId: ID!) { createPersonalAccessToken(input: { userId: $userId }) { accessToken } }',
      { userId: createUser.user.id },
    );
    const person = tracked('personal token', new Caller(service.url, createPersonalAccessToken.accessToken));
    await person.data('query { organization { id } }');
    await logins(machine.identityId);
    reported.push(await person.get(`/api/v1/projects/${project.id}`), await machine.post('/api/v2/workspace', {}));
    mustSucceed(await machine.post('/api/v1/auth/token/revoke', { accessToken: machine.token }));
    reported.push(await machine.get('/api/v1/projects'));
    reported.push(await machine.post('/api/v1/auth/token/renew', { accessToken: machine.token }));
  }

  async function logins(identityId: string): Promise<void> {
    const path = `/api/v1/auth/universal-auth/identities/${identityId}`;
    const { clientId } = mustSucceed(await admin.post(path, {})).body.identityUniversalAuth;
    const key = { 'idempotency-key': `${MARK}-2` };
    const { clientSecret } = mustSucceed(await admin.post(`${path}/client-secrets`, {}, key)).body;
    reported.push(await admin.post(`${path}/client-secrets`, {}, key));
    tracked('client secret', new Caller(service.url, clientSecret));
    const login = '/api/v1/auth/universal-auth/login';
    const { accessToken } = mustSucceed(await admin.anonymous.post(login, { clientId, clientSecret })).body;
    tracked('token of a login', new Caller(service.url, accessToken));
    mustSucceed(await admin.get(`${path}/client-secrets`));
    reported.push(await admin.anonymous.post(login, { clientId, clientSecret: canary() }));
    reported.push(await admin.anonymous.post(login, { clientId: canary(), clientSecret }));
    reported.push(await admin.anonymous.post(login, { clientId, clientSecret, [`${MARK} key`]: canary() }, STRICT));
  }

  /**
   * A canary in each place of a request. All of these are refused. Unknown keys and fields are no names or long ones: a short
   * name is told, so that a misspelling can be found.
   */
  function badRequests(): RequestOptions[] {
    const [text, url] = [canary(), encodeURIComponent(canary())];
    const secrets = '/api/v4/secrets';
    const at = `projectId=${project.id}&environment=dev`;
    const get = (path: string, headers = {}): RequestOptions => ({ method: 'GET', path, headers });
    const send = (method: string, path: string, body: unknown): RequestOptions => ({ method, path, body });
    const raw = (rawBody: string | Buffer, headers = {}): RequestOptions => ({
      method: 'POST',
      path: `${secrets}/X`,
      rawBody,
      headers,
    });
    return [
      ...[`/${url}`, `/api/v1/projects/${url}`, `/api/v1/projects/slug/${url}`, `${secrets}/id/${url}`].map((it) =>
        get(it),
      ),
      get(`${secrets}/${url}?${at}`),
      get(`/api/v1/projects/${url}%ZZ`),
      get(`/api/v1/projects/${url.repeat(30)}`),
      ...[`${url}=1`, `projectId=${url}&environment=dev`, `projectId=${project.id}&environment=${url}`].map((it) =>
        get(`${secrets}?${it}`),
      ),
      ...['secretPath', 'metadataFilter', 'limit', 'cursor', 'viewSecretValue', 'recursive', 'other'].map((name) =>
        get(`${secrets}?${at}&${name}=${url}`),
      ),
      ...[`Bearer ${MARK}`, `Basic ${MARK}`, `Bearer ${markedToken('X')}`, MARK].map((authorization) =>
        get('/api/v1/projects', { authorization }),
      ),
      get('/api/v1/projects', { 'x-large': MARK.repeat(6_000) }),
      raw('{}', { 'idempotency-key': `${MARK} ${MARK}` }),
      ...['content-type', 'content-encoding'].map((name) => raw('{}', { [name]: MARK })),
      raw(gzipSync(text), { 'content-encoding': 'gzip' }),
      raw(`{"secretValue": "${MARK}`),
      raw(`"${MARK}"`),
      raw(Buffer.concat([Buffer.from(`{"secretValue":"${MARK}`), Buffer.of(0xff, 0xfe), Buffer.from('"}')])),
      raw(JSON.stringify({ secretValue: MARK.repeat(70_000) })),
      send('POST', `${secrets}/X`, { ...place(), secretValue: [text] }),
      { ...send('POST', `${secrets}/X`, { ...place(), secretValue: text, [`${MARK} key`]: text }), headers: STRICT },
      send('POST', `${secrets}/X`, { ...place(), secretValue: `${text}\ud800` }),
      send('POST', `${secrets}/X`, { ...place(), secretValue: `${text}\u0000`, environment: 'none' }),
      send('POST', `${secrets}/ONE`, { ...place(), secretValue: text }),
      send('POST', `${secrets}/X`, { ...place(), secretValue: text, secretPath: `/${MARK}` }),
      send('POST', `${secrets}/X`, { ...place(), secretValue: text, tagIds: [text] }),
      send('POST', `${secrets}/${url.repeat(9)}`, { ...place(), secretValue: text }),
      send('PATCH', `${secrets}/NONE`, { ...place(), secretValue: text }),
      send('POST', `${secrets}/batch`, { ...place(), secrets: [secret('TWICE'), secret('TWICE')] }),
      send('POST', `${secrets}/batch`, { ...place(), secrets: [secret('ONE')] }),
      send('POST', `${secrets}/batch`, { ...place(), secrets: { [`${MARK} key`]: text } }),
      ...[
        ['dotenv', text],
        ['dotenv', `A=${text}\nB ${text}`],
        ['json', text],
        ['json', `{"${text}": 1}`],
        ['json', `{"A": ${text}`],
        ['yaml', text],
        ['yaml', `A: &${MARK} "${text}`],
        ['yaml', `A:\n  *${MARK}`],
      ].map(([format, content]) => send('POST', `${secrets}/import`, { ...place(), format, content })),
      send('POST', `${secrets}/import`, { ...place(), format: 'dotenv', content: `ONE='${MARK}'` }),
      send('POST', `${secrets}/import`, { ...place(), format: text, content: text, mode: text, dryRun: text }),
      get(`${secrets}/export?${at}&format=${url}`),
      send('POST', '/api/v2/workspace', { projectName: [text], type: text }),
      send('POST', '/api/v1/identities', { name: text.repeat(9), organizationId: text, role: text }),
      send('POST', '/api/v1/auth/token/renew', { accessToken: text }),
      send('POST', '/api/v1/auth/token/revoke', { accessToken: markedToken('Y') }),
      send(MARK.toUpperCase().slice(0, 8), '/api/v1/projects', undefined),
      ...badGraphQL(text).map((body) => send('POST', '/graphql', body)),
      get(`/graphql?query=${url}`),
    ];
  }

  function badGraphQL(text: string): unknown[] {
    const literal = JSON.stringify(text);
    const create = 'mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }';
    return [
      ...[
        `{ ${LONG_NAME} }`,
        `{ project(${LONG_NAME}: 1) { id } }`,
        `{ project(id: ${literal}`,
        `query ${LONG_NAME} { ${LONG_NAME}`,
        text,
      ],
      ...[`{ project(id: ${literal}) { id } }`, `{ projects(first: ${literal}) { nodes { id } } }`],
      ...[
        `{ projects(type: ${LONG_NAME}) { nodes { id } } }`,
        `{ projects @${LONG_NAME} { nodes { id } } }`,
        `{ ...${LONG_NAME} }`,
      ],
      `{ secrets(projectId: "${project.id}", environment: ${literal}) { nodes { id } } }`,
      `mutation { createSecret(input: { ${LONG_NAME}: ${literal} }) { secret { id } } }`,
    ]
      .map((query): unknown => ({ query }))
      .concat([
        { query: create, variables: { input: { ...place(), secretKey: 'X', secretValue: [text] } } },
        {
          query: create,
          variables: { input: { ...place(), secretKey: 'X', secretValue: text, [`${MARK} key`]: text } },
        },
        { query: create, variables: { input: { ...place(), secretKey: 'ONE', secretValue: text } } },
        { query: create, variables: { input: { ...place(), secretKey: text.repeat(9), secretValue: text } } },
        { query: create, variables: { input: text } },
        { query: create, variables: text },
        { query: '{ projects { nodes { id } } }', operationName: MARK },
        { query: 'query ($f: Int) { projects(first: $f) { nodes { id } } }', variables: { f: text } },
        { query: 'query ($t: ProjectType) { projects(type: $t) { nodes { id } } }', variables: { t: text } },
        { query: 'query ($i: ID!) { project(id: $i) { id } }', variables: { i: text } },
        { query: { [`${MARK} key`]: text } },
        [{ query: text }],
      ]);
  }

  /** Bytes that are no request at all. */
  const brokenRequest = (text: string): Promise<Buffer> =>
    new Promise((resolve) => {
      const chunks: Buffer[] = [];
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => socket.write(text));
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(Buffer.concat(chunks)));
    });

  beforeAll(async () => {
    service = await Service.start({
      env: { LOG_LEVEL: 'trace', BOOTSTRAP_TOKEN: bootstrapToken, ROOT_KEY: rootKey.toString('base64') },
    });
    admin = new Caller(service.url, bootstrapToken);
    await goodSession();
    for (const request of badRequests()) {
      for (const caller of [admin, admin.anonymous]) reported.push(await caller.request(request));
    }
  });

  afterAll(async () => {
    await service.kill();
    await service.dispose();
  });

  test('every bad request was refused with an error that has none of them', async () => {
    const accepted = reported.filter(
      ({ status, body }) => status < 400 && (body?.errors === undefined || body.errors.length === 0),
    );
    expect(accepted.map(({ status, text }) => [status, text])).toEqual([]);
    expect(reported.filter(({ status }) => status === 500).map(({ text }) => text)).toEqual([]);
    for (const { status, text, headers } of reported) {
      expect([status, text, foundIn(Buffer.from(text + JSON.stringify(headers)), needles)]).toEqual([status, text, []]);
    }
    for (const line of [`${MARK}\r\n\r\n`, `GET /${MARK} HTTP/9.9\r\n\r\n`, `GET / HTTP/1.1\r\n${MARK}\r\n\r\n`])
      expect(foundIn(await brokenRequest(line), needles)).toEqual([]);
    expect(reported.length).toBeGreaterThan(140);
  });

  test('the log at level trace has none of them', () => {
    expect(service.output).not.toContain(bootstrapToken);
    expect(foundIn(Buffer.from(service.output), needles)).toEqual([]);
  });

  test('the page of metrics has none of them', async () => {
    const { status, text } = await admin.anonymous.get('/metrics');
    expect(status).toBe(200);
    expect(foundIn(Buffer.from(text), needles)).toEqual([]);
  });

  test('no table has one of them as text', async () => {
    const contents = await tableContents(await embeddedUrl(service.dataDir));
    expect(contents.secret?.length).toBeGreaterThan(40);
    for (const [table, rows] of Object.entries(contents)) {
      expect([table, foundIn(Buffer.from(rows.join('\n')), needles)]).toEqual([table, []]);
    }
  });

  test('no process of the database has one of them in its arguments or environment', async () => {
    const pids = await embeddedPostgres(service.dataDir);
    expect(pids.length).toBeGreaterThan(3);
    const files = [
      ...pids.flatMap((pid) => [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`]),
      `/proc/${service.child.pid}/cmdline`,
    ];
    for (const file of files)
      expect([file, foundIn(await readFile(file).catch(() => Buffer.alloc(0)), needles)]).toEqual([file, []]);
  });

  test('no file of the data directory has one of them after a checkpoint: tables, write-ahead log and log included', async () => {
    await withClient(await embeddedUrl(service.dataDir), async (client) => {
      // Proves that the search finds what is there.
      await client.query(`create table planted as select 'findable-${'x'.repeat(8)}' as text`);
      await client.query('checkpoint');
    });
    const found = await foundInFiles(service.dataDir, formsOf('planted', `findable-${'x'.repeat(8)}`), ['ballast']);
    expect(found.some((name) => name.includes('/base/'))).toBe(true);
    expect(found.some((name) => name.includes('/pg_wal/'))).toBe(true);
    expect(await foundInFiles(service.dataDir, needles, ['bootstrap-token', 'ballast'])).toEqual([]);
  });
});
