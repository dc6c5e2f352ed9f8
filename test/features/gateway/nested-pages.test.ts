import { type Caller, mustSucceed } from '../../kit/caller.js';
import fc from '../../kit/properties.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const SECRETS = `query ($id: ID!, $first: Int!, $after: String) { project(id: $id) { environments(slugs: ["dev"]) {
  secrets(first: $first, after: $after, recursive: true) { nodes { secretKey } pageInfo { hasNextPage endCursor } }
} } }`;
const FOLDERS = `query ($id: ID!, $first: Int!, $after: String) { project(id: $id) { environments(slugs: ["dev"]) {
  folders(first: $first, after: $after) { nodes { name } pageInfo { hasNextPage endCursor } }
} } }`;

interface Kind {
  readonly make: (admin: Caller, projectId: string, names: readonly string[]) => Promise<unknown>;
  readonly drop: (admin: Caller, projectId: string, name: string) => Promise<unknown>;
  readonly page: (
    admin: Caller,
    variables: Record<string, unknown>,
  ) => Promise<{ names: string[]; hasNextPage: boolean; endCursor: string | null }>;
}

// biome-ignore lint/suspicious/noExplicitAny: a reply of any shape
const devOf = ({ project }: any) => project.environments[0];

const KINDS: Readonly<Record<string, Kind>> = {
  secrets: {
    make: async (admin, projectId, names) =>
      mustSucceed(
        await admin.post('/api/v4/secrets/batch', {
          ...{ projectId, environment: 'dev' },
          secrets: names.map((secretKey) => ({ secretKey, secretValue: 'x' })),
        }),
      ),
    drop: async (admin, projectId, name) =>
      mustSucceed(
        await admin.graphql(
          'mutation ($input: DeleteSecretByKeyInput!) { deleteSecretByKey(input: $input) { __typename } }',
          { input: { projectId, environment: 'dev', secretKey: name } },
        ),
      ),
    page: async (admin, variables) => {
      const { nodes, pageInfo } = devOf(await admin.data(SECRETS, variables)).secrets;
      return { ...pageInfo, names: nodes.map(({ secretKey }: { secretKey: string }) => secretKey) };
    },
  },
  folders: {
    make: async (admin, projectId, names) => {
      for (const name of names)
        mustSucceed(await admin.post('/api/v2/folders', { projectId, environment: 'dev', name }));
    },
    drop: async (admin, projectId, name) =>
      mustSucceed(
        await admin.graphql(
          'mutation ($input: DeleteFolderByNameInput!) { deleteFolderByName(input: $input) { __typename } }',
          { input: { projectId, environment: 'dev', name } },
        ),
      ),
    page: async (admin, variables) => {
      const { nodes, pageInfo } = devOf(await admin.data(FOLDERS, variables)).folders;
      return { ...pageInfo, names: nodes.map(({ name }: { name: string }) => name) };
    },
  },
};

/** Names that stay, in any case and with signs that sort differently by other collations. */
const STAYING = ['A1', 'B_2', 'C3', 'Z9', 'a1', 'b-2', 'c3'];
const COMING = ['A0', 'B-2', 'D4', 'Y8', '_x', 'a0', 'z9'];
const GOING = ['A5', 'B5', 'M5', 'a5', 'q5'];

describe.each(Object.entries(KINDS))('pages of %s inside of an answer', (_, { make, drop, page }) => {
  test('never repeat or skip one that stays, while others come and go before and after the cursor', async () => {
    const { admin } = await strongroom.seed.organization();
    const step = fc.record({ first: fc.integer({ min: 1, max: 4 }), come: fc.nat(2), go: fc.nat(2) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 12, maxLength: 12 }),
        fc.shuffledSubarray(COMING, { minLength: COMING.length }),
        fc.shuffledSubarray(GOING, { minLength: GOING.length }),
        async (steps, coming, going) => {
          const project = await strongroom.seed.projectOf(admin);
          await make(admin, project.id, [...STAYING, ...GOING]);
          const [come, go] = [[...coming], [...going]];
          const seen: string[] = [];
          let after: string | null = null;
          for (const { first, come: makes, go: drops } of [...steps, ...steps]) {
            const { names, hasNextPage, endCursor } = await page(admin, { id: project.id, first, after });
            expect(names.length).toBeLessThanOrEqual(first);
            seen.push(...names);
            if (!hasNextPage) break;
            after = endCursor;
            const made = come.splice(0, makes);
            if (made.length > 0) await make(admin, project.id, made);
            for (const name of go.splice(0, drops)) await drop(admin, project.id, name);
          }
          expect(seen.filter((name) => STAYING.includes(name))).toEqual(STAYING);
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen).toEqual([...seen].sort((one, other) => (one < other ? -1 : 1)));
        },
      ),
      { numRuns: 4 },
    );
  });

  test('refuse what is no cursor', async () => {
    const { admin, project } = await strongroom.seed.project();
    const reply = await admin.graphql(SECRETS, { id: project.id, first: 1, after: 'x' });
    expect(JSON.stringify(reply.body.errors)).toContain('INVALID_CURSOR');
  });
});
