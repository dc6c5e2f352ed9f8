import fc from '../../../kit/properties.js';
import { rounds } from '../../../kit/scope.js';
import { type Caller, useSharedStrongroom } from '../../../kit/strongroom.js';

/** One random write. What it names need not be there: then it is refused, and changes nothing. */
interface Step {
  readonly kind: 'write' | 'rename' | 'swap' | 'move' | 'delete' | 'delete folder';
  readonly from: string;
  readonly to: string;
  readonly key: string;
  readonly other: string;
  readonly value: string;
}

const folder = fc.constantFrom('/', '/app', '/app/deep', '/other');
const key = fc.constantFrom('A', 'B', 'C');
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('write', 'write', 'write', 'rename', 'swap', 'move', 'delete', 'delete folder'),
  from: folder,
  to: folder,
  key,
  other: key,
  value: fc.constantFrom('1', '2', '3'),
});

/** What came out of the random steps: a state for every moment. */
interface Moment {
  readonly at: string;
  readonly state: Readonly<Record<string, string>>;
}

describe('after random writes', () => {
  const strongroom = useSharedStrongroom();

  /** Place and key of every secret of an environment, with its value. */
  async function stateOf(caller: Caller, place: { projectId: string; environment: string }) {
    const { body } = await caller.get(`/api/v4/secrets?${new URLSearchParams({ ...place, recursive: 'true' })}`);
    const secrets: { secretPath: string; secretKey: string; secretValue: string }[] = body.secrets;
    return Object.fromEntries(secrets.map((it) => [`${it.secretPath}:${it.secretKey}`, it.secretValue]));
  }

  async function make(caller: Caller, place: { projectId: string; environment: string }, it: Step): Promise<void> {
    const secretPath = it.from;
    const batch = (secrets: object[], more: object = {}) =>
      caller.patch('/api/v4/secrets/batch', { ...place, secretPath, secrets, ...more });
    const [parent, name] = [it.from.replace(/\/[^/]*$/, '') || '/', it.from.replace(/^.*\//, '')];
    switch (it.kind) {
      case 'write':
        if (name !== '') await caller.post('/api/v2/folders', { ...place, path: parent, name });
        await batch([{ secretKey: it.key, secretValue: it.value }], { mode: 'upsert' });
        return;
      case 'rename':
        await batch([{ secretKey: it.key, newSecretName: it.other }]);
        return;
      case 'swap':
        await batch([
          { secretKey: it.key, newSecretName: it.other },
          { secretKey: it.other, newSecretName: it.key },
        ]);
        return;
      case 'move': {
        const search = new URLSearchParams({ ...place, secretPath });
        const { body } = await caller.get(`/api/v4/secrets/${it.key}?${search}`);
        await caller.post('/api/v4/secrets/move', {
          projectId: place.projectId,
          sourceEnvironment: place.environment,
          sourceSecretPath: it.from,
          destinationEnvironment: it.value === '3' ? 'prod' : place.environment,
          destinationSecretPath: it.value === '3' ? '/' : it.to,
          secretIds: [body.secret?.id ?? 'none'],
          shouldOverwrite: true,
        });
        return;
      }
      case 'delete':
        await caller.delete(`/api/v4/secrets/${it.key}`, { ...place, secretPath });
        return;
      case 'delete folder':
        if (name !== '') await caller.delete(`/api/v2/folders/${name}`, { ...place, path: parent, forceDelete: true });
    }
  }

  const inReach = (state: Moment['state'], path: string) =>
    Object.fromEntries(
      Object.entries(state).filter(
        ([name]) => path === '/' || name.startsWith(`${path}:`) || name.startsWith(`${path}/`),
      ),
    );

  test('a restore to any moment makes the folder what it was, leaves the rest, and does nothing the second time', async () => {
    const scenario = fc.tuple(
      fc.array(step, { minLength: 30, maxLength: 30 }),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom('/', '/app')), { minLength: 4, maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(scenario, async ([steps, restores]) => {
        const { admin, project } = await strongroom.seed.project();
        await admin.patch(`/api/v1/projects/${project.id}`, { pitVersionLimit: 100 });
        const place = { projectId: project.id, environment: 'dev' };
        const moments: Moment[] = [];
        const remember = async () => {
          const [row] = await strongroom.sql<{ now: Date }>('select now()');
          moments.push({ at: String(row?.now.toISOString()), state: await stateOf(admin, place) });
        };
        await remember();
        for (const each of steps) {
          await make(admin, place, each);
          await remember();
        }
        for (const [pick, secretPath] of restores) {
          const { at, state } = moments[pick % moments.length] as Moment;
          const before = await stateOf(admin, place);
          const body = { ...place, secretPath, recursive: true, at };
          const reply = await admin.post('/api/v1/secrets/restore', body);
          if (reply.body.code === 'FOLDER_NOT_FOUND') continue;
          expect(reply.status).toBe(200);
          const wanted = { ...before };
          for (const name of Object.keys(inReach(before, secretPath))) delete wanted[name];
          expect(await stateOf(admin, place)).toEqual({ ...wanted, ...inReach(state, secretPath) });
          const again = (await admin.post('/api/v1/secrets/restore', body)).body;
          expect([again.created, again.changed, again.deleted]).toEqual([[], [], []]);
          await remember();
        }
      }),
      { numRuns: rounds(5) },
    );
  });
});
