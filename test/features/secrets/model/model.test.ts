import { propertySeed } from '../../../kit/property-seed.js';
import { sample } from '../../../kit/scope.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { differencesIn } from '../../../kit/trail.js';
import { ENVIRONMENTS, generator, Session } from './actions.js';

/** Sequences of writes, each from a seed that its name tells. */
const SEEDS = sample([1, 2, 3], 3).map((number) => propertySeed + number);
const WRITES = 200;
const COMPARED_EVERY = 10;

describe('random writes, moves, renames, imports and restores leave what a simple model says', () => {
  const strongroom = useSharedStrongroom();
  const projects: string[] = [];

  /** The clock that stamps versions, in milliseconds: no write is as near as one of these. */
  const now = async (): Promise<string> => {
    const [row] = await strongroom.sql<{ now: Date }>('select clock_timestamp() as now from pg_sleep(0.003)');
    await strongroom.sql('select pg_sleep(0.003)');
    return (row as { now: Date }).now.toISOString();
  };

  test.each(SEEDS)('seed %d', async (seed) => {
    const { admin, project } = await strongroom.seed.project();
    projects.push(project.id);
    await admin.patch(`/api/v1/projects/${project.id}`, { pitVersionLimit: 100 });
    const session = new Session(admin, project.id, generator(seed), now);
    await session.start();
    const { model } = session;

    const asListed = async (folderId: string) => {
      const { environment } = model.folders.get(folderId) as { environment: string };
      const at = { projectId: project.id, environment, secretPath: model.pathOf(folderId) };
      const options = { expandSecretReferences: 'true', include_imports: 'true' };
      const { body } = await admin.get(`/api/v4/secrets?${new URLSearchParams({ ...at, ...options })}`);
      const pairs = (secrets: { secretKey: string; secretValue: string }[]) =>
        secrets.map(({ secretKey, secretValue }) => [secretKey, secretValue]);
      return {
        secrets: pairs(body.secrets),
        imports: Object.fromEntries(
          body.imports.map((entry: { environment: string; secretPath: string; secrets: never[] }) => [
            `${entry.environment} ${entry.secretPath}`,
            pairs(entry.secrets),
          ]),
        ),
      };
    };
    const asModelled = (folderId: string) => ({
      secrets: model.list(folderId),
      imports: Object.fromEntries(
        model
          .importedBy(folderId)
          .map((id) => [`${model.folders.get(id)?.environment} ${model.pathOf(id)}`, model.list(id)]),
      ),
    });

    try {
      for (let write = 1; write <= WRITES; write += 1) {
        await session.step();
        if (write % COMPARED_EVERY !== 0) continue;
        for (const folderId of [...model.folders.keys()]) {
          expect(await asListed(folderId)).toEqual(asModelled(folderId));
        }
      }
      for (const environment of ENVIRONMENTS) {
        const at = { projectId: project.id, environment, recursive: 'true', expandSecretReferences: 'true' };
        const { body } = await admin.get(`/api/v4/secrets?${new URLSearchParams(at)}`);
        const here = [...model.folders.keys()].filter((id) => model.folders.get(id)?.environment === environment);
        expect(body.secrets).toHaveLength(here.reduce((sum, id) => sum + model.inFolder(id).length, 0));
      }
    } catch (error) {
      throw new Error(`${(error as Error).message}\nafter:\n${session.log.slice(-25).join('\n')}`, { cause: error });
    }
  });

  test('and the audit trail says the same of every secret', async () => {
    expect(await differencesIn(strongroom, projects)).toEqual([]);
  });
});
