import { mustSucceed } from '../../../kit/caller.js';
import { callerWithRules } from '../../../kit/rules.js';
import { type Caller, type Reply, useSharedStrongroom } from '../../../kit/strongroom.js';

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: references are written so

const strongroom = useSharedStrongroom();
const SECRETS = '/api/v4/secrets';

interface Scene {
  readonly admin: Caller;
  /** A user who may do all with secrets of dev, but for knowing of `LOCAL` in `/closed` and reading `BLIND`. */
  readonly writer: Caller;
  readonly projectId: string;
  readonly at: Readonly<
    Record<'root' | 'open' | 'closed', { projectId: string; environment: string; secretPath: string }>
  >;
  /** Ids by key. */
  readonly ids: ReadonlyMap<string, string>;
}

let scene: Scene;

beforeAll(async () => {
  const { admin, project } = await strongroom.seed.project();
  const projectId = project.id;
  const inDev = { projectId, environment: 'dev' };
  const folder = (secretPath: string) => ({ ...inDev, secretPath });
  const at = { root: folder('/'), open: folder('/open'), closed: folder('/closed') };
  for (const name of ['open', 'closed']) mustSucceed(await admin.post('/api/v2/folders', { ...inDev, name }));
  const ids = new Map<string, string>();
  const put = async (key: string, secretValue: string, place: object = at.root): Promise<void> => {
    ids.set(key, mustSucceed(await admin.post(`${SECRETS}/${key}`, { ...place, secretValue })).body.secret.id);
  };
  await put('CORE', 'core', { projectId, environment: 'prod', secretPath: '/' });
  await put('TAKEN', 'plain');
  await put('URL', '${prod.CORE}/${LOCAL}');
  await put('BESIDE', '${LOCAL}');
  await put('BLIND', '${prod.CORE}');
  await put('BLANK', 'nothing');
  for (const key of ['URL', 'BLIND', 'BLANK'])
    mustSucceed(
      await admin.patch(`${SECRETS}/${key}`, { ...at.root, secretValue: key === 'URL' ? '${prod.CORE}' : 'x' }),
    );
  const all = ['describeSecret', 'readValue', 'create', 'edit', 'delete'];
  const { slug } = await callerWithRules(
    strongroom,
    admin,
    projectId,
    { subject: 'secrets', action: all, conditions: { environment: 'dev' } },
    {
      subject: 'secrets',
      action: ['describeSecret'],
      inverted: true,
      conditions: { secretPath: '/closed', secretName: 'LOCAL' },
    },
    { subject: 'secrets', action: ['readValue'], inverted: true, conditions: { secretName: { $glob: 'BL*' } } },
  );
  const writer = await strongroom.seed.user(admin, { project: projectId, projectRoles: [slug] });
  mustSucceed(await writer.post(`${SECRETS}/BLANK`, { ...at.root, type: 'personal', secretValue: 'own' }));
  scene = { admin, writer, projectId, at, ids };
});

type Write = (value: string, place: 'root' | 'closed') => Promise<Reply>;

let made = 0;
const freshKey = (): string => {
  made += 1;
  return `NEW_${made}`;
};
const into = (place: 'root' | 'closed') => scene.at[place];
const file = (key: string, value: string) => ({ format: 'json', content: JSON.stringify({ [key]: value }) });
const brought =
  (mode: string, more: object = {}): Write =>
  (value, place) =>
    scene.writer.post(`${SECRETS}/import`, { ...into(place), ...file(freshKey(), value), mode, ...more });

/** Each way to write a value, and where an error names it. */
const WAYS: [string, Write, path: string][] = [
  [
    'a creation',
    (secretValue, place) => scene.writer.post(`${SECRETS}/${freshKey()}`, { ...into(place), secretValue }),
    'secretValue',
  ],
  [
    'creations of many',
    (secretValue, place) =>
      scene.writer.post(`${SECRETS}/batch`, {
        ...into(place),
        secrets: [
          { secretKey: freshKey(), secretValue: 'fine' },
          { secretKey: freshKey(), secretValue },
        ],
      }),
    'secrets[1].secretValue',
  ],
  [
    'a change',
    async (secretValue, place) => {
      const key = freshKey();
      mustSucceed(await scene.admin.post(`${SECRETS}/${key}`, { ...into(place), secretValue: 'before' }));
      return scene.writer.patch(`${SECRETS}/${key}`, { ...into(place), secretValue });
    },
    'secretValue',
  ],
  [
    'an upsert',
    (secretValue, place) =>
      scene.writer.patch(`${SECRETS}/batch`, {
        ...into(place),
        mode: 'upsert',
        secrets: [{ secretKey: freshKey(), secretValue }],
      }),
    'secrets[0].secretValue',
  ],
  [
    'a change of what is not there and is passed over',
    (secretValue, place) =>
      scene.writer.patch(`${SECRETS}/batch`, {
        ...into(place),
        mode: 'ignore',
        secrets: [{ secretKey: freshKey(), secretValue }],
      }),
    'secrets[0].secretValue',
  ],
  ['a file', brought('create-only'), 'content[1].entry[1]'],
  ['a file that writes over', brought('overwrite'), 'content[1].entry[1]'],
  ['a dry run of a file', brought('overwrite', { dryRun: true }), 'content[1].entry[1]'],
  [
    'a file with a key that is taken',
    (value) =>
      scene.writer.post(`${SECRETS}/import`, { ...scene.at.root, ...file('TAKEN', value), mode: 'skip-existing' }),
    'content[1].entry[1]',
  ],
  [
    'an own value',
    async (secretValue, place) => {
      const key = freshKey();
      mustSucceed(await scene.admin.post(`${SECRETS}/${key}`, { ...into(place), secretValue: 'shared' }));
      return scene.writer.post(`${SECRETS}/${key}`, { ...into(place), type: 'personal', secretValue });
    },
    'secretValue',
  ],
  [
    'a change of an own value',
    (secretValue) => scene.writer.patch(`${SECRETS}/BLANK`, { ...scene.at.root, type: 'personal', secretValue }),
    'secretValue',
  ],
];

const HIDDEN = ['${prod.CORE}', 'x ${prod.NOT_THERE}', '${nowhere.at.all.KEY} ${TAKEN}', '${dev.closed.LOCAL}'];

describe('a value may refer only to what its writer may describe', () => {
  test.each(WAYS)('%s', async (_, write, path) => {
    const replies = await Promise.all(HIDDEN.map((value) => write(value, 'root')));

    for (const reply of replies) {
      expect(reply).toBeError(403, 'PERMISSION_DENIED');
      expect(reply.body.details).toEqual([{ path, code: 'describeSecret', message: expect.any(String) }]);
      expect(reply.text).not.toMatch(/CORE|NOT_THERE|nowhere|closed|prod/);
    }
    const fine = await write('${TAKEN} ${dev.NOT_THERE} ${dev.open.gone.KEY} ${}', 'root');
    expect(fine.status === 200 ? 'done' : fine.text).toBe('done');
  });

  test('also by a reference without a place', async () => {
    for (const [name, write, path] of WAYS.slice(0, 4)) {
      const reply = await write('${LOCAL}', 'closed');
      expect([name, reply.status, reply.body.details?.[0]?.path]).toEqual([name, 403, path]);
    }
  });
});

describe('what a value refers to already', () => {
  const change = (key: string, body: object) => scene.writer.patch(`${SECRETS}/${key}`, { ...scene.at.root, ...body });

  test('may stay in it for a writer who may read it, and nothing beside that', async () => {
    mustSucceed(await change('URL', { secretValue: 'https://${prod.CORE}' }));
    expect(await change('URL', { secretValue: '${prod.CORE}${prod.OTHER}' })).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await change('URL', { secretValue: 'gone' }));
    expect(await change('URL', { secretValue: '${prod.CORE}' })).toBeError(403, 'PERMISSION_DENIED');
  });

  test('may not be written again by who may not read it', async () => {
    mustSucceed(await scene.admin.patch(`${SECRETS}/BLIND`, { ...scene.at.root, secretValue: '${prod.CORE}' }));
    expect(await change('BLIND', { secretValue: '${prod.CORE}' })).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await change('BLIND', { secretComment: 'the value stays' }));
  });
});

const transfer = (verb: 'moveSecrets' | 'copySecrets', key: string, destination: string): Promise<Reply> =>
  scene.writer.graphql(
    `mutation ($input: ${verb === 'moveSecrets' ? 'MoveSecretsInput' : 'CopySecretsInput'}!) { ${verb}(input: $input) { secretIds } }`,
    {
      input: {
        projectId: scene.projectId,
        source: { environment: 'dev', secretPath: '/' },
        destination: { environment: 'dev', secretPath: destination },
        secretIds: [scene.ids.get(key)],
      },
    },
  );
const codeOf = ({ body }: Reply): string => body.errors?.[0]?.extensions.code ?? 'done';
const detailsOf = ({ body }: Reply) => body.errors?.[0]?.extensions.details;

describe('a value that comes to another folder', () => {
  test('must not refer beside it to what the writer may not describe there', async () => {
    for (const verb of ['copySecrets', 'moveSecrets'] as const) {
      const reply = await transfer(verb, 'BESIDE', '/closed');
      expect([codeOf(reply), detailsOf(reply)?.[0]?.path]).toEqual(['PERMISSION_DENIED', 'secretIds[0]']);
    }
    expect(codeOf(await transfer('moveSecrets', 'BESIDE', '/open'))).toBe('done');
  });

  test('keeps what it refers to by place in a move; a copy is a new value', async () => {
    const { admin, at, ids } = scene;
    const { secret } = mustSucceed(
      await admin.post(`${SECRETS}/FAR`, { ...at.root, secretValue: '${prod.CORE}' }),
    ).body;
    (ids as Map<string, string>).set('FAR', secret.id);

    expect(codeOf(await transfer('copySecrets', 'FAR', '/open'))).toBe('PERMISSION_DENIED');
    expect(codeOf(await transfer('moveSecrets', 'FAR', '/open'))).toBe('done');
  });
});

describe('a restore', () => {
  const restore = (key: string, version = 1): Promise<Reply> =>
    scene.writer.graphql(
      'mutation ($input: RestoreSecretInput!) { restoreSecret(input: $input) { secret { version } } }',
      { input: { id: scene.ids.get(key), version } },
    );
  /** What becomes of a restore of a folder to before the change of its one secret, as a preview and done. */
  const restoreAll = async (name: string, key: string): Promise<string[]> => {
    const { admin, writer, projectId } = scene;
    const inDev = { projectId, environment: 'dev' };
    mustSucceed(await admin.post('/api/v2/folders', { ...inDev, name }));
    const place = { ...inDev, secretPath: `/${name}` };
    mustSucceed(await admin.post(`${SECRETS}/${key}`, { ...place, secretValue: '${prod.CORE}' }));
    const [now] = await strongroom.sql('select clock_timestamp() as at');
    mustSucceed(await admin.patch(`${SECRETS}/${key}`, { ...place, secretValue: 'x' }));
    const document =
      'mutation ($input: RestoreSecretsInput!) { restoreSecrets(input: $input) { changed { secretKey } } }';
    const replies: string[] = [];
    for (const dryRun of [true, false])
      replies.push(codeOf(await writer.graphql(document, { input: { ...place, at: now?.at, dryRun } })));
    return replies;
  };

  test('brings back what a version refers to, to who may read it', async () => {
    expect(codeOf(await restore('URL'))).toBe('done');
  });

  test('is refused to who may not, whatever the version refers to', async () => {
    const replies = [await restore('BLIND'), await restore('BLANK')];
    expect(replies.map(codeOf)).toEqual(['PERMISSION_DENIED', 'PERMISSION_DENIED']);
    expect(detailsOf(replies[0] as Reply)).toEqual(detailsOf(replies[1] as Reply));
  });

  test('must not bring a reference beside to where the writer may not describe what it leads to', async () => {
    const { admin, at, ids, projectId } = scene;
    const { secret } = mustSucceed(await admin.post(`${SECRETS}/OLD`, { ...at.root, secretValue: '${LOCAL}' })).body;
    (ids as Map<string, string>).set('OLD', secret.id);
    mustSucceed(await admin.patch(`${SECRETS}/OLD`, { ...at.root, secretValue: 'new' }));
    const moved = await admin.graphql(
      'mutation ($input: MoveSecretsInput!) { moveSecrets(input: $input) { secretIds } }',
      {
        input: {
          projectId,
          source: { environment: 'dev', secretPath: '/' },
          destination: { environment: 'dev', secretPath: '/closed' },
          secretIds: [secret.id],
        },
      },
    );
    expect(codeOf(moved)).toBe('done');

    const reply = await restore('OLD');
    expect([codeOf(reply), detailsOf(reply)?.[0]?.path]).toEqual(['PERMISSION_DENIED', 'version']);
    expect(codeOf(await restore('OLD', 2))).toBe('done');
  });

  test('of a folder follows the same rule, in its preview too', async () => {
    expect(await restoreAll('seen', 'SEEN')).toEqual(['done', 'done']);
    expect(await restoreAll('unseen', 'BL')).toEqual(['PERMISSION_DENIED', 'PERMISSION_DENIED']);
  });
});

test('a writer who may describe everything refers to anything', async () => {
  for (const secretValue of HIDDEN)
    mustSucceed(await scene.admin.post(`${SECRETS}/${freshKey()}`, { ...scene.at.root, secretValue }));
});

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: references are written so
