import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { composeServices } from '@apollo/composition';
import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { Caller, mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { sample } from '../../kit/scope.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { makeWorld, seedWorld, type World } from '../../kit/world.js';

const strongroom = useSharedStrongroom(LENIENT);
const FILE = join(import.meta.dirname, '../../../schema/subgraph.graphql');

const ENTITIES = `query ($of: [_Any!]!) { _entities(representations: $of) {
  __typename
  ... on Project { id slug }
  ... on Secret { id secretKey secretValue }
  ... on Certificate { id serialNumber commonName }
} }`;

let world: World;
let admin: Caller;
/** Of another organization. */
let foreign: World;
beforeAll(async () => {
  ({ world, admin } = await seedWorld(strongroom.seed));
  ({ world: foreign } = await seedWorld(strongroom.seed));
});

const entitiesOf = async (who: Caller, ...of: unknown[]) => (await who.graphql(ENTITIES, { of })).body;

describe('_service', () => {
  test('is the committed schema for gateways, without a token too', async () => {
    const committed = await readFile(FILE, 'utf8');
    const { _service } = await admin.anonymous.data('{ _service { sdl } }');
    expect(_service.sdl === committed).toBe(true);
  });
});

describe('_entities', () => {
  test('finds resources by their keys, in order, each with a record of its own', async () => {
    const { certificate } = await admin.data('query ($id: ID!) { certificate(id: $id) { serialNumber } }', {
      id: world.certificate,
    });
    const reply = mustSucceed(
      await admin.graphql(ENTITIES, {
        of: [
          { __typename: 'Secret', id: world.secret.toUpperCase() },
          { __typename: 'Project', slug: world.projectSlug },
          { __typename: 'Project', id: world.project, deployments: 'of another subgraph' },
          { __typename: 'Certificate', serialNumber: certificate.serialNumber },
        ],
      }),
    );
    const project = { __typename: 'Project', id: world.project, slug: world.projectSlug };
    expect(reply.body.data._entities).toEqual([
      { __typename: 'Secret', id: world.secret, secretKey: world.secretKey, secretValue: expect.any(String) },
      project,
      project,
      { __typename: 'Certificate', id: world.certificate, ...certificate, commonName: expect.any(String) },
    ]);
    const rows = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
    expect(rows.map(({ action }) => action).sort()).toEqual(['certificate:get', 'project:get', 'secret:get']);
    expect(rows.find(({ action }) => action === 'secret:get')?.facts).toMatchObject({ viewedValues: true });
  });

  test('has an error of its own for a representation that names nothing, and the others stand', async () => {
    const wrong = [
      ...['text', 7, null, [world.project], {}, { __typename: 'Project' }, { __typename: 'Project', id: 7 }],
      ...[
        { __typename: 'PageInfo', id: world.project },
        { __typename: 'constructor', id: world.project },
      ],
      { __typename: 'Secret', slug: world.projectSlug },
      { __typename: { Project: 1 }, id: world.project },
    ].filter((one) => one !== null);
    const good = { __typename: 'Project', id: world.project };
    const { data, errors } = await entitiesOf(admin, good, ...wrong, good);
    expect(data._entities.map((found: unknown) => found !== null)).toEqual([true, ...wrong.map(() => false), true]);
    expect(errors.map(({ path }: { path: unknown[] }) => path)).toEqual(wrong.map((_, at) => ['_entities', at + 1]));
    for (const { extensions } of errors) expect(extensions.code).toBe('VALIDATION_FAILED');
    expect(errors[0].extensions.details).toMatchObject([{ path: 'representations[1]', code: 'INVALID_TYPE' }]);
    expect(JSON.stringify(errors)).not.toContain(world.projectSlug);
  });

  test('finds nothing of another type, and reads nothing of it', async () => {
    const reply = await admin.graphql(ENTITIES, { of: [{ __typename: 'Project', id: world.secret }] });
    expect(reply.body.data._entities).toEqual([null]);
    expect(await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']])).toEqual([]);
  });

  test('refuses text that no column can have, as any request, and takes what is no id for one that nobody has', async () => {
    const named = [
      { __typename: 'Project', slug: 'a\0b' },
      { __typename: 'Project', slug: '\ud800' },
    ];
    expect(await admin.graphql(ENTITIES, { of: named })).toBeError(422, 'VALIDATION_FAILED');
    const { data, errors } = await entitiesOf(admin, { __typename: 'Project', id: 'no-id' });
    expect([data, errors]).toEqual([{ _entities: [null] }, undefined]);
  });

  test('tells nobody what each field took', async () => {
    const headers = { 'apollo-federation-include-trace': 'ftv1' };
    const { body } = await admin.graphql(ENTITIES, { of: [{ __typename: 'Project', id: world.project }] }, headers);
    expect(body.extensions).toBeUndefined();
  });

  test('needs a token', async () => {
    expect(await admin.anonymous.graphql(ENTITIES, { of: [] })).toBeError(401, 'TOKEN_MISSING');
  });

  test('shows nothing that the caller may not see, and has the denial in the audit trail', async () => {
    const { caller } = await callerWithRules(strongroom, admin, world.project, {
      subject: 'secrets',
      action: ['describeSecret', 'readValue'],
      conditions: { environment: 'prod' },
    });
    const secret = { __typename: 'Secret', id: world.secret };
    const tag = { __typename: 'Tag', id: world.tag };
    const denied = await caller.graphql(ENTITIES, { of: [secret, tag] });
    expect(denied.body).toEqual({ data: { _entities: [null, null] } });
    const rows = await strongroom.auditRows('request_id = $1', [denied.headers['x-request-id']]);
    expect(rows.map(({ action, outcome }) => [action, outcome])).toEqual([['tags:read', 'denied']]);
    const stranger = (await strongroom.seed.organization()).admin;
    const { data } = await entitiesOf(
      stranger,
      secret,
      { __typename: 'Project', id: world.project },
      { __typename: 'Project', slug: world.projectSlug },
    );
    expect(data._entities).toEqual([null, null, null]);
  });

  test('takes the same statements whether nobody has a key, or a stranger, or a project of colleagues', async () => {
    const colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const neighbour = await makeWorld(colleague, world.organization);
    const ask = async (of: object): Promise<number> => {
      const { result, count } = await strongroom.statements(() => admin.data(ENTITIES, { of: [of] }));
      expect(result._entities).toEqual([null]);
      return count;
    };
    const byId = await ask({ __typename: 'Project', id: randomUUID() });
    for (const id of [foreign.project, neighbour.project, foreign.secret])
      expect(await ask({ __typename: 'Project', id })).toBe(byId);
    const bySlug = await ask({ __typename: 'Project', slug: 'nobody-has-it' });
    for (const slug of sample([foreign.projectSlug, neighbour.projectSlug], 2))
      expect(await ask({ __typename: 'Project', slug })).toBe(bySlug);
  });

  test('refuses to choose between two certificates with one serial number', async () => {
    const { certificate } = await admin.data('query ($id: ID!) { certificate(id: $id) { serialNumber pem } }', {
      id: world.certificate,
    });
    const other = await admin.data(
      'mutation ($input: CreateProjectInput!) { createProject(input: $input) { project { id } } }',
      { input: { name: `certificates ${randomUUID()}`, type: 'CERT_MANAGER' } },
    );
    await admin.data(
      'mutation ($input: ImportCertificateInput!) { importCertificate(input: $input) { certificate { id } } }',
      {
        input: { projectId: other.createProject.project.id, certificate: certificate.pem },
      },
    );
    const { data, errors } = await entitiesOf(admin, {
      __typename: 'Certificate',
      serialNumber: certificate.serialNumber,
    });
    expect(data._entities).toEqual([null]);
    expect(errors).toMatchObject([
      {
        path: ['_entities', 0],
        extensions: { details: [{ path: 'representations[0].serialNumber', code: 'TOO_MANY' }] },
      },
    ]);
  });

  test('finds at most 1,000 at once, with a constant number of statements', async () => {
    const BARE = 'query ($of: [_Any!]!) { _entities(representations: $of) { id } }';
    const of = Array.from({ length: 1_001 }, (_, at) =>
      at % 2 === 0 ? { __typename: 'Project', id: randomUUID() } : { __typename: 'Project', slug: `none-${at}` },
    );
    expect(await admin.graphql(BARE, { of })).toBeError(422, 'VALIDATION_FAILED');
    const { result, count } = await strongroom.statements(() => admin.graphql(BARE, { of: of.slice(1) }));
    expect(result.body.data._entities).toHaveLength(1_000);
    expect(count).toBeLessThanOrEqual(5);
  });
});

describe('in a company’s graph', () => {
  /** Another subgraph: deployments, of which each knows the ID of its project. */
  const DEPLOYMENTS = `
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable"])
    type Query { deployments: [Deployment!]! }
    type Deployment { name: String! project: Project }
    type Project @key(fields: "id") { id: ID! deployments: [Deployment!]! }`;
  const cleanup: (() => Promise<unknown>)[] = [];
  afterAll(async () => {
    for (const step of cleanup.reverse()) await step();
  });
  let gateway: string;
  const ask = (who: Caller, query: string) => new Caller(gateway, who.token).post('/', { query });

  beforeAll(async () => {
    const deployments = () => [
      { name: 'web', project: { __typename: 'Project', id: world.project } },
      { name: 'gone', project: { __typename: 'Project', id: randomUUID() } },
    ];
    const other = new ApolloServer({
      plugins: [ApolloServerPluginInlineTraceDisabled()],
      schema: buildSubgraphSchema([
        {
          typeDefs: parse(DEPLOYMENTS),
          resolvers: {
            Query: { deployments },
            Project: {
              deployments: ({ id }: { id: string }) => deployments().filter(({ project }) => project.id === id),
            },
          },
        },
      ]),
    });
    const { url } = await startStandaloneServer(other, { listen: { port: 0, host: '127.0.0.1' } });
    cleanup.push(() => other.stop());
    const { supergraphSdl, errors } = composeServices([
      { name: 'strongroom', url: `${admin.url}/graphql`, typeDefs: parse(await readFile(FILE, 'utf8')) },
      { name: 'deployments', url, typeDefs: parse(DEPLOYMENTS) },
    ]);
    expect(errors).toBeUndefined();
    const server = new ApolloServer<{ authorization?: string }>({
      gateway: new ApolloGateway({
        supergraphSdl: supergraphSdl as string,
        buildService: ({ url: at }) =>
          new RemoteGraphQLDataSource<{ authorization?: string }>({
            ...(at === undefined ? {} : { url: at }),
            willSendRequest: ({ request, context }) => {
              if (context.authorization !== undefined)
                request.http?.headers.set('authorization', context.authorization);
            },
          }),
      }),
    });
    const started = await startStandaloneServer(server, {
      listen: { port: 0, host: '127.0.0.1' },
      context: async ({ req: { headers } }) =>
        headers.authorization === undefined ? {} : { authorization: headers.authorization },
    });
    cleanup.push(() => server.stop());
    gateway = started.url;
  });

  test('one query joins what two services know', async () => {
    const reply = await ask(
      admin,
      '{ deployments { name project { slug environments { slug } deployments { name } } } }',
    );
    expect(reply.body.data).toEqual({
      deployments: [
        {
          name: 'web',
          project: {
            slug: world.projectSlug,
            environments: expect.arrayContaining([{ slug: 'dev' }]),
            deployments: [{ name: 'web' }],
          },
        },
        { name: 'gone', project: null },
      ],
    });
    const back = await ask(admin, `{ node(id: "${world.project}") { ... on Project { slug deployments { name } } } }`);
    expect(back.body).toEqual({ data: { node: { slug: world.projectSlug, deployments: [{ name: 'web' }] } } });
  });

  test('an input of which one field is given passes, and two are refused', async () => {
    const used = (input: string) => ask(admin, `{ whereUsed(input: { ${input} }) { nodes { __typename } } }`);
    const place = `projectId: "${world.project}", environment: "dev"`;
    const [folder, secret] = [
      `folder: { ${place}, path: "/" }`,
      `secret: { ${place}, secretKey: "${world.secretKey}" }`,
    ];
    expect((await used(folder)).body).toMatchObject({ data: { whereUsed: { nodes: expect.any(Array) } } });
    expect((await used(`${folder}, ${secret}`)).body.errors).toHaveLength(1);
  });

  test('a stranger sees nothing of it', async () => {
    const stranger = (await strongroom.seed.organization()).admin;
    const { data } = (await ask(stranger, '{ deployments { name project { slug } } }')).body;
    expect(data.deployments).toEqual([
      { name: 'web', project: null },
      { name: 'gone', project: null },
    ]);
  });
});
