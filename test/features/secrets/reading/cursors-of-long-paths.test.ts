import { mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

/** Seven names of 255 characters and one more: as long as a path may be. */
const PATH = `${`/${'d'.repeat(255)}`.repeat(7)}/${'e'.repeat(207)}`;
/** Three bytes each. */
const KEYS = ['A', 'B'].map((letter) => letter + '€'.repeat(254));

test('a cursor at the longest path and key is taken back by the list that gave it out', async () => {
  const { admin, project } = await strongroom.seed.project();
  const at = { projectId: project.id, environment: 'dev', secretPath: PATH };
  const secrets = KEYS.map((secretKey) => ({ secretKey, secretValue: 'x' }));
  mustSucceed(
    await admin
      .data('mutation ($input: CreateFolderInput!) { createFolder(input: $input) { __typename } }', {
        input: {
          projectId: project.id,
          environment: 'dev',
          path: PATH.slice(0, PATH.lastIndexOf('/')),
          name: 'e'.repeat(207),
        },
      })
      .then(() => admin.post('/api/v4/secrets/batch', { ...at, secrets })),
  );
  const list = (more: object) =>
    admin.get(`/api/v4/secrets?${new URLSearchParams({ ...at, limit: '1', ...more })}`).then(mustSucceed);
  const { secrets: first, nextCursor: cursor } = (await list({})).body;
  const { secrets: second } = (await list({ cursor })).body;
  expect([...first, ...second].map(({ secretKey }: { secretKey: string }) => secretKey)).toEqual(KEYS);

  const SEARCH = `query ($after: String) { searchSecrets(input: {}, first: 1, after: $after) {
    nodes { secret { secretKey } } pageInfo { endCursor } } }`;
  const { searchSecrets: one } = await admin.data(SEARCH);
  const { searchSecrets: two } = await admin.data(SEARCH, { after: one.pageInfo.endCursor });
  expect(two.nodes.map(({ secret }: { secret: { secretKey: string } }) => secret.secretKey)).toEqual(KEYS.slice(1));
});
