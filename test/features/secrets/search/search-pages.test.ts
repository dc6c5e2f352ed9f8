import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { type Place, seedPlaces } from '../scope/places.js';

const SEARCH = `query ($input: SearchSecretsInput!, $first: Int, $after: String) {
  searchSecrets(input: $input, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor }
    nodes { project { slug } secret { secretKey environmentSlug secretPath } }
  }
}`;

interface Found extends Place {
  readonly project: string;
}

/** Some keys are in every folder of every project, some in one folder of each, and some once. */
const SECRETS: readonly Found[] = ['a', 'b', 'c'].flatMap((project) =>
  ['dev', 'prod'].flatMap((environment) =>
    ['/', '/app', '/lib'].flatMap((path) => {
      const at = { project, environment, path, tags: path === '/app' ? ['hot'] : [] };
      const once = project === 'b' && environment === 'dev' ? [`DB_${path.length}`, `X_${path.length}`] : [];
      const keys = ['DB_URL', 'XY', ...(path === '/lib' ? ['DB_ME', 'Y'] : []), ...once];
      return keys.map((key) => ({ ...at, key }));
    }),
  ),
);

/** Filters, and the secrets that match. */
const FILTERS: readonly (readonly [object, (secret: Found) => boolean])[] = [
  [{}, () => true],
  [{ key: { equals: 'DB_URL' } }, ({ key }) => key === 'DB_URL'],
  [{ key: { equals: 'DB_1' } }, ({ key }) => key === 'DB_1'],
  [{ key: { startsWith: 'DB_' } }, ({ key }) => key.startsWith('DB_')],
  [{ key: { glob: '*Y' } }, ({ key }) => key.endsWith('Y')],
  [{ tagSlugs: ['hot'] }, ({ tags }) => tags.includes('hot')],
  [{ environments: ['prod'], key: { equals: 'XY' } }, ({ environment, key }) => environment === 'prod' && key === 'XY'],
  [{ secretPath: '/*p*' }, ({ path }) => path === '/app'],
];

const textOf = ({ key, project, environment, path }: Omit<Found, 'tags'>): string =>
  [key, project, environment, path].join(' ');

describe('pages of a search', () => {
  const strongroom = useSharedStrongroom();
  const slugs = new Map<string, string>();
  let admin: Caller;
  let inFolder: Caller;
  let inBoth: Caller;

  beforeAll(async () => {
    ({ admin } = await strongroom.seed.organization());
    const ids: string[] = [];
    for (const name of ['c', 'a', 'b']) {
      const { id, slug } = await strongroom.seed.projectOf(admin, { slug: `${name}-project` });
      slugs.set(slug, name);
      ids.push(id);
      await seedPlaces(
        admin,
        id,
        SECRETS.filter(({ project }) => project === name),
      );
    }
    const [c, a] = ids as [string, string];
    const rules = [
      {
        subject: 'secrets',
        action: ['describeSecret', 'readValue'],
        conditions: { secretPath: { $in: ['/app', '/'] } },
      },
    ];
    inFolder = (await callerWithRules(strongroom, admin, a, ...rules)).caller;
    inBoth = (await callerWithRules(strongroom, admin, a, ...rules)).caller;
    const member = `/api/v2/workspace/${c}/identity-memberships/${inBoth.identityId}`;
    mustSucceed(await admin.post(member, { roles: [{ role: 'viewer' }] }));
  });

  const pagesOf = async (caller: Caller, input: object, first: number): Promise<string[]> => {
    const found: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const { searchSecrets } = await caller.data(SEARCH, { input, first, after });
      for (const { project, secret } of searchSecrets.nodes)
        found.push(
          textOf({
            key: secret.secretKey,
            project: slugs.get(project.slug) as string,
            environment: secret.environmentSlug,
            path: secret.secretPath,
          }),
        );
      ({ hasNextPage: more, endCursor: after } = searchSecrets.pageInfo);
    }
    return found;
  };

  test.each([1, 2, 5, 16, 100])(
    'of %i secrets have all that match and that the caller may see, once and in order',
    async (first) => {
      const callers: readonly (readonly [Caller, (secret: Found) => boolean])[] = [
        [admin, () => true],
        [inFolder, ({ project, path }) => project === 'a' && path !== '/lib'],
        [inBoth, ({ project, path }) => project === 'c' || (project === 'a' && path !== '/lib')],
      ];
      for (const [caller, isSeen] of callers)
        for (const [input, matches] of FILTERS) {
          const expected = SECRETS.filter((secret) => isSeen(secret) && matches(secret)).map(textOf);
          expect(await pagesOf(caller, input, first)).toEqual(expected.toSorted());
        }
    },
  );
});
