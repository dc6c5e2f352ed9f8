import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import type { SeededProject } from '../../kit/seed.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const REST = 'isScanLimitReached nodes { __typename } edges { cursor } pageInfo { hasNextPage endCursor }';

/** The lists that look for their rows among others, each with what it is asked of a project. */
const LISTS: readonly (readonly [name: string, document: string, input: (projectId: string) => object])[] = [
  [
    'searchSecrets',
    `query ($input: SearchSecretsInput!, $after: String) { list: searchSecrets(input: $input, after: $after) { ${REST} } }`,
    (projectId) => ({ projectIds: [projectId] }),
  ],
  [
    'compareEnvironments',
    `query ($input: CompareEnvironmentsInput!, $after: String) { list: compareEnvironments(input: $input, after: $after) { ${REST} } }`,
    (projectId) => ({ projectId, environments: ['dev', 'prod'] }),
  ],
  [
    'whereUsed',
    `query ($input: WhereUsedInput!, $after: String) { list: whereUsed(input: $input, after: $after) { ${REST} } }`,
    (projectId) => ({ secret: { projectId, environment: 'dev', secretKey: 'TARGET' } }),
  ],
  [
    'duplicateValues',
    `query ($input: DuplicateValuesInput, $after: String) { list: duplicateValues(input: $input, after: $after) { ${REST} } }`,
    (projectId) => ({ projectIds: [projectId] }),
  ],
];

const plain = (cursor: string): string => Buffer.from(cursor, 'base64url').toString('latin1');
const INVALID = [{ path: 'after', code: 'INVALID_CURSOR', message: 'must be a cursor from this list' }];

/** A list may stop at a row that its caller may not know of, and says where: the cursor must not tell what stands there. */
describe('the cursor of a list that stopped at a hidden row', () => {
  const strongroom = useSharedStrongroom();
  let admin: Caller;
  let caller: Caller;
  let project: SeededProject;
  let others: SeededProject;

  beforeAll(async () => {
    ({ admin, project } = await strongroom.seed.project());
    others = await strongroom.seed.projectOf(admin);
    const put = async (projectId: string, environment: string, secretKey: string) => {
      const value = { projectId, environment, secretPath: '/', secretValue: `value of ${secretKey}` };
      mustSucceed(await admin.post(`/api/v4/secrets/${secretKey}`, value));
    };
    for (const { id } of [project, others]) await put(id, 'dev', 'TARGET');
    await put(project.id, 'prod', 'HIDDEN');
    // Postgres plans by what it knew before: a project with few secrets.
    await strongroom.sql('analyze secret, secret_reference');
    // Copies of a row stand in for ten thousand writes; their values need not open.
    await strongroom.sql(
      `with copied as (
         insert into secret (id, organization_id, project_id, environment_id, folder_id, key, value_sealed, value_digest, actor_kind, actor_id)
         select gen_random_uuid(), organization_id, project_id, environment_id, folder_id, key || '_' || (n + 10000), value_sealed,
           sha256((n / 2)::text::bytea), actor_kind, actor_id
         from secret, generate_series(1, 10050) as n where project_id = $1 and key = 'HIDDEN'
         returning id, project_id
       )
       insert into secret_reference (secret_id, project_id, environment, path, key)
       select id, project_id, 'dev', '/', 'TARGET' from copied`,
      [project.id],
    );
    const rule = {
      subject: 'secrets',
      action: ['describeSecret', 'readValue'],
      conditions: { secretName: 'TARGET' },
    };
    ({ caller } = await callerWithRules(strongroom, admin, project.id, rule));
    const roles = [{ role: 'viewer' }];
    const memberships = `/api/v2/workspace/${others.id}/identity-memberships/${caller.identityId}`;
    mustSucceed(await admin.post(memberships, { roles }));
  });

  const refusal = (reply: Reply): unknown => {
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    return reply.body.errors[0].extensions.details;
  };

  describe.each(LISTS)('of %s', (_name, document, input) => {
    const stopped = async (): Promise<string> => {
      const { list } = await caller.data(document, { input: input(project.id) });
      expect([list.isScanLimitReached, list.pageInfo.hasNextPage]).toEqual([true, true]);
      return list.pageInfo.endCursor;
    };

    test('tells nothing of that row, and goes on from it', async () => {
      const cursor = await stopped();
      expect(cursor).toMatch(/^[\w-]+$/);
      expect(plain(cursor)).not.toMatch(/HIDDEN|prod|reference|[0-9a-f]{64}/);
      expect(plain(cursor)).not.toContain(project.slug);
      const { list } = await caller.data(document, { input: input(project.id), after: cursor });
      expect([list.isScanLimitReached, list.pageInfo.hasNextPage]).toEqual([false, false]);
    });

    test('is refused when any bit of it is another, as one that was made up is', async () => {
      const cursor = await stopped();
      const bytes = Buffer.from(cursor, 'base64url');
      const changed = [0, 20, 35, 60, bytes.length - 1].map((at) => {
        const copy = Buffer.from(bytes);
        copy[at] = (copy[at] ?? 0) ^ 1;
        return copy.toString('base64url');
      });
      const invented = ['["/","HIDDEN_10004"]', '["HIDDEN_19999","x","prod","/"]', `["${'0'.repeat(64)}"]`].map(
        (text) => Buffer.from(text).toString('base64url'),
      );
      for (const after of [...changed, ...invented, `${cursor}A`, `${cursor}=`, cursor.slice(0, -4), 'x', ''])
        expect(refusal(await caller.graphql(document, { input: input(project.id), after }))).toEqual(INVALID);
    });

    test('is refused by any other list and by the same list of another project', async () => {
      const cursor = await stopped();
      const elsewhere = await caller.graphql(document, { input: input(others.id), after: cursor });
      expect(refusal(elsewhere)).toEqual(INVALID);
      for (const [name, otherDocument, otherInput] of LISTS)
        if (name !== _name) {
          const reply = await caller.graphql(otherDocument, { input: otherInput(project.id), after: cursor });
          expect(refusal(reply)).toEqual(INVALID);
        }
    });
  });

  test.each(LISTS)(
    'of a row that %s shows is sealed as well, and the same in the reply wherever it stands',
    async (_name, document, input) => {
      const { list } = await admin.data(document, { input: input(project.id) });
      const cursors = list.edges.map(({ cursor }: { cursor: string }) => cursor);
      expect(new Set(cursors).size).toBe(list.nodes.length);
      expect(cursors.at(-1)).toBe(list.pageInfo.endCursor);
      expect(plain(cursors[0])).not.toMatch(/HIDDEN|TARGET|[0-9a-f]{64}/);
    },
  );

  test('of a search goes on whether its values are asked for or not, and not for another question', async () => {
    const [, document] = LISTS[0] as (typeof LISTS)[number];
    const question = { projectIds: [project.id], key: { startsWith: 'H' } };
    const { list } = await caller.data(document, { input: question });
    const after = list.pageInfo.endCursor;
    const ask = (changes: object) => caller.graphql(document, { input: { ...question, ...changes }, after });
    mustSucceed(await ask({ viewSecretValue: true, environments: null }));
    expect(refusal(await ask({ key: { startsWith: 'HID' } }))).toEqual(INVALID);
    expect(refusal(await ask({ environments: ['prod'] }))).toEqual(INVALID);
  });
});
