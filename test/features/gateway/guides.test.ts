import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildSchema, parse, validate } from 'graphql';
import { operationName } from '../../../src/kernel/pages/html.js';
import type { SearchEntry } from '../../../src/kernel/pages/search-entries.js';
import { searchIn } from '../../../src/kernel/pages/search-index.js';
import { EXAMPLE_OPERATIONS } from '../../../src/start/example-operations.js';
import type { Reply } from '../../kit/caller.js';
import { anchorsOf, markdownFiles } from '../../kit/documents.js';
import { Rotating } from '../../kit/rotating.js';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT);
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const open = (path: string): Promise<Reply> => strongroom.admin.anonymous.get(path, BROWSER);
const linksOf = (page: string): string[] =>
  [...page.matchAll(/ href="([^"]+)"/g)].map(([, href]) => (href as string).replaceAll('&amp;', '&'));
const idsOf = (page: string): Set<string> =>
  new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id as string));

/** Every guide that can be reached from the start page, by address. */
async function readGuides(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const waiting = ['/'];
  for (const address of waiting) {
    const { status, text } = await open(address);
    expect({ address, status }).toEqual({ address, status: 200 });
    pages.set(address, text);
    const more = linksOf(text)
      .map((href) => new URL(href, `http://here${address}`))
      .filter(({ host, pathname }) => host === 'here' && /^\/guides(\/|$)/.test(pathname))
      .map(({ pathname }) => pathname);
    for (const path of more) if (!waiting.includes(path)) waiting.push(path);
  }
  return pages;
}

describe('the guides', () => {
  test('can all be reached from the start page, each document for users and operators', async () => {
    const pages = await readGuides();
    const documents = markdownFiles()
      .map(({ path }) => path)
      .filter((path) => /^(README\.md|schema\/README\.md|src\/docs\/[^/]+\.md)$/.test(path));
    const addresses = documents.map((path) =>
      path === 'README.md'
        ? '/guides'
        : path === 'schema/README.md'
          ? '/guides/calling-the-api'
          : `/guides/${path.slice(9, -3)}`,
    );
    expect([...pages.keys()]).toEqual(expect.arrayContaining(addresses));
    expect(pages.get('/guides/secrets')).toContain('<h1 id="secrets">');
  });

  test('have only links that lead to a page and a heading of it', async () => {
    const pages = await readGuides();
    const broken: string[] = [];
    for (const [address, page] of pages) {
      for (const href of new Set(linksOf(page))) {
        const { host, pathname, hash } = new URL(href, `http://here${address}`);
        if (host !== 'here') continue;
        if (!pages.has(pathname)) pages.set(pathname, (await open(pathname)).status === 200 ? 'there' : 'missing');
        const target = pages.get(pathname) as string;
        const isTask = pathname === '/graphql' && hash.startsWith('#task=');
        if (target === 'missing') broken.push(`${address}: ${href}`);
        else if (hash !== '' && !isTask && !idsOf(target).has(decodeURIComponent(hash.slice(1))))
          broken.push(`${address}: ${href}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test('have the anchors of their documents', async () => {
    for (const [path, address] of [
      ['src/docs/operating.md', '/guides/operating'],
      ['schema/README.md', '/guides/calling-the-api'],
    ] as const) {
      const text = markdownFiles().find((file) => file.path === path)?.text as string;
      const ids = idsOf((await open(address)).text);
      expect([...anchorsOf(text)].filter((anchor) => !ids.has(anchor))).toEqual([]);
    }
  });

  test('are pages without a script, under a policy that allows none', async () => {
    for (const path of ['/guides', '/guides/secrets', '/guides/graphql-by-task', '/guides/graphql-operations']) {
      const { headers, text } = await open(path);
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; style-src 'self'; img-src 'self'; base-uri/,
      );
      expect(text).not.toMatch(/<script|<style| style="/);
    }
  });

  test('describe every operation of the schema', async () => {
    const schema = buildSchema(await readFile(join(import.meta.dirname, '../../../schema/schema.graphql'), 'utf8'));
    const ids = idsOf((await open('/guides/graphql-operations')).text);
    const fields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) =>
      Object.keys(type?.getFields() ?? {}).filter((name) => !name.startsWith('_')),
    );
    expect(fields.filter((name) => !ids.has(name))).toEqual([]);
  });

  test('answer 404 to what is no guide, and show the files that they name', async () => {
    expect((await open('/guides/nothing')).status).toBe(404);
    expect(await strongroom.admin.anonymous.get('/guides/nothing', { accept: 'application/json' })).toBeError(
      404,
      'ROUTE_NOT_FOUND',
    );
    const alerts = await open('/guides/alert-rules.yaml');
    expect([alerts.status, alerts.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  });
});

test('the guides of a service that does not tell its schema describe no operation of it, and lead nowhere else', async () => {
  const node = await strongroom.startSecondNode({ env: { INTROSPECTION: 'false' } });
  try {
    const read = async (path: string) => {
      const response = await fetch(node.url + path, { headers: BROWSER });
      return { status: response.status, text: await response.text() };
    };
    expect((await read('/guides/graphql-operations')).status).toBe(404);
    const kinds = (JSON.parse((await read('/assets/search.json')).text) as SearchEntry[]).map(({ kind }) => kind);
    expect([...new Set(kinds)].sort()).toEqual(['REST', 'guide', 'task']);
    for (const path of ['/guides', '/guides/calling-the-api', '/guides/graphql-by-task'])
      expect((await read(path)).text).not.toMatch(/href="(?:\/schema\.graphql|\/guides\/graphql-operations)/);
  } finally {
    await node.stop();
  }
});

describe('the tasks', () => {
  test('are at least twenty documents that fit the schema, each with a name of its own', async () => {
    const schema = buildSchema(await readFile(join(import.meta.dirname, '../../../schema/schema.graphql'), 'utf8'));
    expect(EXAMPLE_OPERATIONS.length).toBeGreaterThanOrEqual(20);
    expect(new Set(EXAMPLE_OPERATIONS.map(operationName)).size).toBe(EXAMPLE_OPERATIONS.length);
    for (const { query } of EXAMPLE_OPERATIONS) {
      const faults = validate(schema, parse(query)).map(({ message }) => message);
      expect({ query, faults }).toEqual({ query, faults: [] });
    }
  });

  test('have each a place on their page, with a link that opens it in the explorer', async () => {
    const { text } = await open('/guides/graphql-by-task');
    const links = linksOf(text);
    for (const name of EXAMPLE_OPERATIONS.map(operationName)) expect(links).toContain(`/graphql#task=${name}`);
  });

  test('each do what their title says, with the IDs of the caller among their variables', async () => {
    const rotating = await Rotating.start(strongroom);
    try {
      const { admin, project } = rotating;
      const rotation = await rotating.create();
      const [key] = await strongroom.seed.secrets(admin, project, 'dev', 1);
      const at = { projectId: project.id, environment: 'dev' };
      const { secrets } = await admin.data(
        'query ($at: String!, $projectId: ID!) { secrets(projectId: $projectId, environment: $at) { nodes { id secretKey } } }',
        { projectId: project.id, at: 'dev' },
      );
      const secretId = secrets.nodes.find(({ secretKey }: { secretKey: string }) => secretKey === key).id as string;
      const machine = await strongroom.seed.caller(admin);
      const { accessTokens } = await admin.data('query ($id: ID!) { accessTokens(identityId: $id) { nodes { id } } }', {
        id: machine.identityId,
      });
      const input = (name: string): object =>
        EXAMPLE_OPERATIONS.find((it) => operationName(it) === name)?.variables?.input as object;
      /** What a caller fills in. */
      const own: Readonly<Record<string, Record<string, unknown>>> = {
        AddProjectMember: {
          input: { ...input('AddProjectMember'), projectId: project.id, memberId: machine.identityId },
        },
        CreateSecret: { input: { ...input('CreateSecret'), ...at } },
        UpdateSecret: { input: { ...input('UpdateSecret'), ...at } },
        CompareEnvironments: { input: { ...input('CompareEnvironments'), projectId: project.id } },
        PromoteSecrets: { input: { ...input('PromoteSecrets'), projectId: project.id, secretIds: [secretId] } },
        RestoreEnvironment: {
          input: { ...input('RestoreEnvironment'), projectId: project.id, environment: 'staging' },
        },
        WhoCanRead: { secretId },
        WhoHasRead: { secretId },
        RevokeToken: { id: accessTokens.nodes[0].id },
        RotateNow: { id: rotation.id },
      };
      const data: Record<string, Record<string, unknown>> = {};
      for (const example of EXAMPLE_OPERATIONS) {
        const name = operationName(example);
        const needsProject = example.query.includes('$projectId: ID!');
        const variables = { ...example.variables, ...(needsProject && { projectId: project.id }), ...own[name] };
        const { status, body } = await admin.graphql(example.query, variables);
        expect({ name, status, errors: body.errors }).toEqual({ name, status: 200, errors: undefined });
        data[name] = body.data;
      }
      expect(data).toMatchObject({
        CompareEnvironments: {
          compareEnvironments: { nodes: expect.arrayContaining([expect.objectContaining({ secretKey: key })]) },
        },
        ExplainAccess: { explainAccess: { isAllowed: true } },
        ProductionSecrets: { searchSecrets: { nodes: [] } },
        PromoteSecrets: { copySecrets: { secretIds: [expect.any(String)] } },
        RotateNow: { rotateSecrets: { secretRotation: { status: 'SUCCESS' } } },
        WhoCanRead: {
          secret: {
            readers: { nodes: [{ origin: { slug: 'admin' } }, { origin: { slug: 'viewer' } }] },
          },
        },
      });
      expect((await machine.graphql('{ viewer { name } }')).status).toBe(401);
    } finally {
      await rotating.stop();
    }
  });
});

describe('the search', () => {
  const readEntries = async () => (await strongroom.admin.anonymous.get('/assets/search.json')).body as SearchEntry[];

  test('leads only to what exists', async () => {
    const entries = await readEntries();
    expect(entries.length).toBeGreaterThan(500);
    const ids = new Map<string, string>();
    for (const { address } of entries) {
      const [path = '', anchor] = address.split('#');
      if (!ids.has(path)) {
        const { status, text } = await strongroom.admin.anonymous.get(path, { accept: 'text/html' });
        expect({ path, status }).toEqual({ path, status: 200 });
        ids.set(path, text);
      }
      if (path.startsWith('/guides')) expect(ids.get(path)).toContain(`id="${anchor}"`);
    }
  });

  test('shows texts of guides without marks, and their examples as they are', async () => {
    const guides = (await readEntries()).filter(({ kind }) => kind === 'guide');
    const texts = guides.map(({ text }) => text).join('\n');
    expect(texts).toContain('searchSecrets(input: { environments: ["prod"] })');
    expect(texts).not.toMatch(/\]\((?:[\w./-]+\.md)?#|\]\(https?:/);
  });

  test('gives current operations first, and deprecated ones last', async () => {
    const found = searchIn(await readEntries())('list secrets');
    expect(found[0]).toMatchObject({ kind: 'REST', title: 'List secrets', name: 'GET /api/v4/secrets listSecrets' });
    const isDeprecated = found.map((it) => it.isDeprecated);
    expect(isDeprecated.indexOf(true)).toBeGreaterThan(5);
    expect(isDeprecated.slice(isDeprecated.indexOf(true)).every(Boolean)).toBe(true);
    expect(found.map(({ name }) => name)).toContain('GET /api/v3/secrets/raw listSecretsV3');
  });

  test('knows what to use for a task that has other words', async () => {
    const find = searchIn(await readEntries());
    for (const [words, ...titles] of [
      [
        'secrets of all production environments',
        'searchSecrets',
        'Secrets of all projects and environments',
        'List all production secrets',
      ],
      ['who can read a secret', 'Find out who can read a secret, and why'],
      ['revoke token', 'Revoke a token', 'revokeAccessToken'],
      ['expiring certificates', 'List the certificates that expire within 30 days', 'certificates'],
      ['compare enviroments', 'Compare environments', 'compareEnvironments'],
      ['kubernetes', 'Kubernetes'],
      ['rotate password now', 'Rotate a credential now', 'rotateSecrets'],
      ['create project', 'Create a project', 'createProject'],
      ['new env', 'createEnvironment'],
      ['backup', 'Backup'],
    ] as const) {
      const found = find(words)
        .slice(0, 6)
        .map(({ title }) => title);
      expect({ words, found }).toEqual({ words, found: expect.arrayContaining([...titles]) });
    }
    expect(find('xyzzyqwv')).toEqual([]);
  });
});
