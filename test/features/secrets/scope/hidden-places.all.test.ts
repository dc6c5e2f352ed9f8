import { type Caller, isTooBusy, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../../kit/strongroom.js';

/** More than a list looks at. */
const HIDDEN = 10_050;

const END = 'isScanLimitReached pageInfo { hasNextPage }';

/** The lists that look for their rows among others, each with what it is asked, and how many rows the caller has in it. */
const LISTS: readonly (readonly [name: string, document: string, input: (projectId: string) => object, own: number])[] =
  [
    [
      'searchSecrets',
      `query ($input: SearchSecretsInput!) { list: searchSecrets(input: $input) { ${END}
        nodes { secret { secretKey environmentSlug secretPath } } } }`,
      (projectId) => ({ projectIds: [projectId] }),
      5,
    ],
    [
      'compareEnvironments',
      `query ($input: CompareEnvironmentsInput!) { list: compareEnvironments(input: $input) { ${END}
        nodes { secretPath secretKey verdict sides { environmentSlug presence valueGroup } } } }`,
      (projectId) => ({ projectId, environments: ['dev', 'prod', 'staging'], recursive: true }),
      5,
    ],
    [
      'whereUsed',
      `query ($input: WhereUsedInput!) { list: whereUsed(input: $input) { ${END}
        nodes { kind environmentSlug secretPath secretKey usedKey } } }`,
      (projectId) => ({ secret: { projectId, environment: 'dev', secretPath: '/open', secretKey: 'TARGET' } }),
      4,
    ],
    [
      'duplicateValues',
      `query ($input: DuplicateValuesInput) { list: duplicateValues(input: $input) { ${END}
        nodes { count secrets { secretKey environmentSlug secretPath } } } }`,
      (projectId) => ({ projectIds: [projectId] }),
      1,
    ],
  ];

interface At {
  readonly environment: string;
  readonly secretPath: string;
}
const at = (environment: string, secretPath: string): At => ({ environment, secretPath });
const ACTIONS = ['describeSecret', 'readValue'];
const secrets = (conditions?: GivenRule['conditions'], inverted = false): GivenRule => ({
  subject: 'secrets',
  action: ACTIONS,
  inverted,
  ...(conditions === undefined ? {} : { conditions }),
});

/** Rules, where the caller's own rows are, and between them in the order of the lists where it sees none. */
const PLACES: readonly (readonly [name: string, rules: readonly GivenRule[], seen: readonly [At, At], hidden: At])[] = [
  [
    'environment',
    [secrets({ environment: { $in: ['dev', 'staging'] } })],
    [at('dev', '/open'), at('staging', '/open')],
    at('prod', '/open'),
  ],
  [
    'environment, in a rule that forbids, beside one about tags',
    [secrets(), secrets({ environment: 'prod' }, true), secrets({ secretTags: { $in: ['top'] } }, true)],
    [at('dev', '/open'), at('staging', '/open')],
    at('prod', '/open'),
  ],
  [
    'path',
    [secrets({ secretPath: { $glob: '/{open,zone}' } })],
    [at('dev', '/open'), at('dev', '/zone')],
    at('dev', '/shut'),
  ],
];

async function put(
  admin: Caller,
  projectId: string,
  place: At,
  { keys, value }: { keys: readonly string[]; value: string },
) {
  const secrets = keys.map((secretKey) => ({ secretKey, secretValue: value }));
  mustSucceed(await admin.post('/api/v4/secrets/batch', { projectId, ...place, secrets }));
}

/** Copies of a row stand in for ten thousand writes; their values need not open. */
async function hide(
  strongroom: SharedStrongroom,
  admin: Caller,
  { projectId, place }: { projectId: string; place: At },
) {
  await put(admin, projectId, place, { keys: ['HIDDEN'], value: 'hidden' });
  await strongroom.sql(
    `with copied as (
       insert into secret (id, organization_id, project_id, environment_id, folder_id, key, value_sealed, value_digest, actor_kind, actor_id)
       select gen_random_uuid(), organization_id, project_id, environment_id, folder_id, key || '_' || (n + 10000), value_sealed,
         sha256((n / 2)::text::bytea), actor_kind, actor_id
       from secret, generate_series(1, ${HIDDEN}) as n where project_id = $1 and key = 'HIDDEN'
       returning id, project_id
     )
     insert into secret_reference (secret_id, project_id, environment, path, key)
     select id, project_id, 'dev', '/open', 'TARGET' from copied`,
    [projectId],
  );
}

/** Where a list stops tells of the rows before it: whoever writes rows among them finds out which they are. */
describe.each(PLACES)('secrets that rules hide by %s', (_name, rules, seen, hidden) => {
  const strongroom = useSharedStrongroom();
  let admin: Caller;
  let caller: Caller;
  let projectId: string;

  beforeAll(async () => {
    const seeded = await strongroom.seed.project();
    admin = seeded.admin;
    projectId = seeded.project.id;
    for (const environment of ['dev', 'prod', 'staging'])
      for (const name of ['open', 'shut', 'zone'])
        mustSucceed(await admin.post('/api/v2/folders', { projectId, environment, path: '/', name }));
    const [first, last] = seen;
    await put(admin, projectId, first, { keys: ['TARGET'], value: 'target' });
    await put(admin, projectId, first, { keys: ['A', 'Y'], value: '${dev.open.TARGET}' });
    await put(admin, projectId, last, { keys: ['B', 'Z'], value: '${dev.open.TARGET}' });
    ({ caller } = await callerWithRules(strongroom, admin, projectId, ...rules));
  });

  test('are passed over by every list, which is the same whether there are any, in the same few statements', async () => {
    const ask = async () => {
      const replies: Record<string, { list: { nodes: object[] }; count: number }> = {};
      for (const [name, document, input] of LISTS) {
        const ask = () => strongroom.statements(() => caller.graphql(document, { input: input(projectId) }));
        let asked = await ask();
        // A busy machine refuses some, after fewer statements or none.
        for (let left = 20; left > 0 && isTooBusy(asked.result); left -= 1) asked = await ask();
        replies[name] = { list: mustSucceed(asked.result).body.data.list, count: asked.count };
      }
      return replies;
    };
    await ask();
    const before = await ask();
    for (const [name, , , own] of LISTS) {
      expect(before[name]?.list).toMatchObject({ isScanLimitReached: false, pageInfo: { hasNextPage: false } });
      expect([name, before[name]?.list.nodes.length]).toEqual([name, own]);
      expect(before[name]?.count).toBeLessThanOrEqual(7);
    }
    await hide(strongroom, admin, { projectId, place: hidden });
    expect(await ask()).toEqual(before);
  });
});

describe('secrets of a project where the caller may know of none', () => {
  const strongroom = useSharedStrongroom();

  test('are passed over by a search of all its projects, though a rule looks at their names', async () => {
    const { admin, project: own } = await strongroom.seed.project();
    const other = await strongroom.seed.projectOf(admin);
    await put(admin, own.id, at('dev', '/'), { keys: ['A', 'Z'], value: 'own' });
    await hide(strongroom, admin, { projectId: other.id, place: at('dev', '/') });
    const { caller } = await callerWithRules(strongroom, admin, own.id, secrets());
    const role = {
      slug: 'reader',
      name: 'reader',
      permissions: [{ ...secrets({ secretName: 'X' }), action: 'readValue' }],
    };
    mustSucceed(await admin.post(`/api/v1/projects/${other.id}/roles`, role));
    const membership = `/api/v2/workspace/${other.id}/identity-memberships/${caller.identityId}`;
    mustSucceed(await admin.post(membership, { roles: [{ role: 'reader' }] }));
    const [, document] = LISTS[0] as (typeof LISTS)[number];
    const { list } = await caller.data(document, { input: {} });
    expect(list).toMatchObject({ isScanLimitReached: false, pageInfo: { hasNextPage: false } });
    expect(list.nodes.map(({ secret }: { secret: { secretKey: string } }) => secret.secretKey)).toEqual(['A', 'Z']);
  });
});
