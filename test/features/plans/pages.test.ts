import { type Caller, mustSucceed } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { StatementRecorder } from '../../kit/statement-recorder.js';
import { Strongroom } from '../../kit/strongroom.js';
import { Replay } from './replay.js';

const SIZES = { few: 100, many: 10_000 } as const;
const PAGE = 100;

describe('a page of a folder', () => {
  let recorder: StatementRecorder;
  let strongroom: Strongroom;
  let replay: Replay;
  let organizationId: string;
  let projectId: string;
  let admin: Caller;

  beforeAll(async () => {
    const databaseUrl = await migratedDatabase();
    recorder = await StatementRecorder.start(databaseUrl);
    strongroom = await Strongroom.start({ DATABASE_URL: recorder.url });
    const seeded = await strongroom.seed.project();
    ({ admin } = seeded);
    organizationId = seeded.organization.id;
    projectId = seeded.project.id;
    const place = { projectId, environment: 'dev' };
    for (const [name, size] of Object.entries(SIZES)) {
      mustSucceed(await admin.post('/api/v2/folders', { ...place, path: '/', name }));
      for (let from = 0; from < size; from += 1_000) {
        const secrets = Array.from({ length: Math.min(1_000, size) }, (_, at) => ({
          secretKey: `KEY_${String(from + at).padStart(6, '0')}`,
          secretValue: 'value',
        }));
        mustSucceed(await admin.post('/api/v4/secrets/batch', { ...place, secretPath: `/${name}`, secrets }));
      }
    }
    replay = await Replay.create();
    await replay.fill(databaseUrl);
    await replay.sql('analyze');
  }, 300_000);

  afterAll(async () => {
    await replay?.close();
    await strongroom?.stop();
    await recorder?.stop();
  });

  const list = (folder: string, more: string) =>
    admin.get(`/api/v4/secrets?projectId=${projectId}&environment=dev&secretPath=/${folder}&limit=${PAGE}${more}`);

  const asks: Readonly<Record<string, (folder: keyof typeof SIZES) => Promise<number>>> = {
    'in REST': async (folder) => mustSucceed(await list(folder, '')).body.secrets.length,
    'in GraphQL': async (folder) => {
      const document = `query ($id: ID!, $path: String) {
        secrets(projectId: $id, environment: "dev", secretPath: $path, first: ${PAGE}) { nodes { secretKey secretValue } } }`;
      return (await admin.data(document, { id: projectId, path: `/${folder}` })).secrets.nodes.length;
    },
    'in an environment': (folder) =>
      nested(`list: secretConnection(path: $path, first: ${PAGE}) { nodes { secretKey secretValue } }`, folder),
  };

  const nested = async (document: string, folder: string): Promise<number> => {
    const { project } = await admin.data(
      `query ($id: ID!, $path: String) { project(id: $id) { environments { ${document} } } }`,
      {
        id: projectId,
        path: `/${folder}`,
      },
    );
    return project.environments[0].list.nodes.length;
  };

  test.each(Object.entries(asks))(
    'takes as much of the database for 10,000 secrets as for 100 (%s)',
    async (_, ask) => {
      const read = async (folder: keyof typeof SIZES): Promise<number> => {
        recorder.executed.length = 0;
        expect(await ask(folder)).toBe(PAGE);
        // Background tasks send statements at any moment.
        const ofSecrets = recorder.executed.filter(({ text }) => text.includes('from secret s'));
        const works = await replay.measure(organizationId, ofSecrets);
        return works.reduce((sum, work) => sum + work.read, 0);
      };
      const few = await read('few');
      expect(few).toBeGreaterThan(PAGE);
      expect(await read('many')).toBeLessThanOrEqual(1.2 * few);
    },
  );
});
