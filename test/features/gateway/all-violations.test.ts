import type { Reply } from '../../kit/caller.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

/** The faults of a reply as `path code`, whichever interface it comes from. */
const violationsIn = ({ body }: Reply): string[] =>
  (body.errors?.[0].extensions ?? body).details.map(({ path, code }: Record<string, string>) => `${path} ${code}`);
const messagesIn = ({ body }: Reply): string[] => body.errors.map(({ message }: { message: string }) => message);
const PLACE = /^The GraphQL document (?:does not match the schema|cannot be parsed) at line \d+, column \d+/;
const reasonsIn = (reply: Reply): string[] => messagesIn(reply).map((message) => message.replace(PLACE, ''));

const CREATE = 'mutation ($mine: CreateSecretsInput!) { createSecrets(input: $mine) { secrets { id } } }';

describe('all faults of variables are told at once', () => {
  test('at every depth, by the argument and not by the name of the variable', async () => {
    const reply = await strongroom.admin.graphql(CREATE, {
      mine: {
        environment: 5,
        secretsPath: '/',
        secrets: [
          { secretKey: 'A' },
          { secretValue: 'x', secretKy: 'B' },
          'C',
          { secretKey: null, tagIds: [{}], skipMultilineEncoding: 'yes', pass4: 1 },
        ],
      },
    });

    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.errors).toHaveLength(1);
    expect(violationsIn(reply).sort()).toEqual([
      'input UNKNOWN_KEY',
      'input.environment INVALID_TYPE',
      'input.projectId MISSING',
      'input.secrets[1] UNKNOWN_KEY',
      'input.secrets[1].secretKey MISSING',
      'input.secrets[2] INVALID_TYPE',
      'input.secrets[3] UNKNOWN_KEY',
      'input.secrets[3].secretKey MISSING',
      'input.secrets[3].skipMultilineEncoding INVALID_TYPE',
      'input.secrets[3].tagIds[0] INVALID_TYPE',
    ]);
    const { details } = reply.body.errors[0].extensions;
    const unknown = details.filter(({ code }: { code: string }) => code === 'UNKNOWN_KEY');
    expect(unknown.map(({ message }: { message: string }) => message)).toEqual([
      'unknown field `secretKy`; did you mean `secretKey`?',
      'unknown field `pass4`',
      'unknown field `secretsPath`; did you mean `secretPath`?',
    ]);
  });

  test('of several variables, and of those inside of a literal', async () => {
    const document = `query ($a: Int, $b: ProjectType, $c: ID!) {
      projects(first: $a, type: $b) { nodes { id } } project(id: $c) { id }
      secrets(projectId: $c, environment: "dev") { nodes { id } } }`;
    const reply = await strongroom.admin.graphql(document, { a: 'x', b: 'SECRETS' });
    expect(violationsIn(reply)).toEqual(['first INVALID_TYPE', 'type INVALID_VALUE', 'id MISSING']);

    const literal =
      'mutation ($v: Int!) { createTag(input: { projectId: $v, slug: "a", color: "#000000" }) { __typename } }';
    expect(reasonsIn(await strongroom.admin.graphql(literal, { v: 1 }))).toEqual([
      ': the variable must be declared as ID!.',
    ]);
  });

  test('and null where a default may stand is refused, no fault of the service', async () => {
    const reply = await strongroom.admin.graphql('query ($c: ID = "x") { project(id: $c) { id } }', { c: null });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsIn(reply)).toEqual(['id INVALID_TYPE']);
  });

  test('and then all that break a rule, in a batch by index', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const secrets = [{ secretKey: 'a/b' }, { secretKey: 'B', secretComment: 'x'.repeat(10_001) }, { secretKey: '' }];
    const expected = [
      'secrets[0].secretKey INVALID',
      'secrets[1].secretComment TOO_BIG',
      'secrets[2].secretKey TOO_SMALL',
    ];

    const reply = await admin.graphql(CREATE, { mine: { ...at, secrets } });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsIn(reply)).toEqual(expected.map((violation) => `input.${violation}`));
    const rest = await admin.post('/api/v4/secrets/batch', { ...at, secrets });
    expect(violationsIn(rest)).toEqual(expected.map((violation) => `body.${violation}`));
  });
});

describe('rules below REST', () => {
  test('tell places of the REST request, whatever the argument is called', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const itself = await admin.post('/api/v2/secret-imports', {
      ...at,
      path: '/',
      import: { environment: 'dev', path: '/' },
    });
    expect(violationsIn(itself)).toEqual(['body.import.path IMPORT_OF_ITSELF']);
    expect(violationsIn(await admin.get('/api/v1/projects?cursor=x'))).toEqual(['query.cursor INVALID_CURSOR']);
    const personal = await admin.post('/api/v4/secrets/A', { ...at, type: 'personal', secretValue: 'x' });
    expect(violationsIn(personal)).toEqual(['body.type PERSONAL_NEEDS_USER']);
  });
});

describe('all faults of a document are told at once', () => {
  test('each with its place, its reason and a name that may be meant', async () => {
    const reply = await strongroom.admin.graphql(`query ($unused: Int) {
      projcts { nodes { id } }
      projects(frist: 1, type: SECRETMANAGER) { nodes @nope { idd } }
      project { id }
      projectBySlug(slug: "x")
      named: projectBySlug(slug: "x") { name { first } }
    }`);

    expect(reply).toBeError(400, 'GRAPHQL_INVALID');
    for (const { message, locations } of reply.body.errors) {
      expect(message).toMatch(PLACE);
      expect(message).toContain(`line ${locations[0].line}, column ${locations[0].column}`);
    }
    // In the order of the document.
    expect(reasonsIn(reply)).toEqual([
      ': unused variable.',
      ': unknown field `projcts` on type Query; did you mean `projects`?',
      ': unknown argument `frist` on field Query.projects; did you mean `first`?',
      ': unknown value of enum ProjectType; did you mean `SECRET_MANAGER`?',
      ': unknown directive.',
      ': unknown field `idd` on type Project; did you mean `id`?',
      ': argument id is required.',
      ': the field `projectBySlug` needs a selection of subfields, in braces.',
      ': the field `name` has no subfields; remove the braces.',
    ]);
  });

  test('but fifty of a hundred', async () => {
    const fields = Array.from({ length: 90 }, (_, at) => `nothing${at}`).join(' ');
    expect((await strongroom.admin.graphql(`{ ${fields} }`)).body.errors).toHaveLength(50);
  });

  test('but fifty of a hundred that fields have, and of each root field the first', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const secrets = Array.from({ length: 60 }, (_, n) => ({ secretKey: `KEY_${n}`, secretValue: 'x' }));
    const reply = await admin.graphql(
      `mutation ($input: CreateSecretsInput!) {
        first: createSecrets(input: $input) { secrets { project { tags(after: "x") { totalCount } } } }
        second: createSecrets(input: $input) { secrets { id } }
      }`,
      { input: { ...at, secrets } },
    );
    expect(reply.body.data).toMatchObject({ first: { secrets: expect.any(Array) }, second: null });
    expect(reply.body.errors).toHaveLength(50);
    expect(reply.body.errors.slice(0, 2)).toEqual([
      expect.objectContaining({ path: expect.arrayContaining(['first']) }),
      expect.objectContaining({ path: ['second'] }),
    ]);
  });

  test('and of one that cannot be read, the first', async () => {
    expect(reasonsIn(await strongroom.admin.graphql('{ projects(first: 1 { id } }'))).toEqual([': expected a name.']);
    expect(reasonsIn(await strongroom.admin.graphql('{ project(id: "x) }'))).toEqual([': unterminated string.']);
    expect(reasonsIn(await strongroom.admin.graphql('{ projects'))).toEqual([': expected a name.']);
  });
});
