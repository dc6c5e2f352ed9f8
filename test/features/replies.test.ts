import { takesKey } from '../kit/operations/effects.js';
import { restOperations } from '../kit/operations/rest-requests.js';
import { PATHS } from '../kit/reference.js';
import { misfits } from '../kit/reply-misfits.js';
import { LENIENT, useSharedStrongroom } from '../kit/strongroom.js';
import { seedWorld } from '../kit/world.js';

/** Fields that no reply leaves null: the interface has them as plain strings. */
const NEVER_NULL = ['secretValue', 'secretComment', 'value', 'nextCursor'];

/** All but those that take a host that is not there, and changes with a key: `replies/every-change-once.all.test.ts` looks at their replies. */
const ASKED = restOperations().filter((operation) => !operation.needsHost && !takesKey(operation));

describe('a reply is what the API reference promises', () => {
  const strongroom = useSharedStrongroom(LENIENT, 'every operation');
  let read: Awaited<ReturnType<typeof seedWorld>>;
  beforeAll(async () => {
    read = await seedWorld(strongroom.seed);
  });

  test.each(ASKED.map((operation) => [operation.name, operation] as const))('%s', async (route, operation) => {
    const { world, admin } = operation.changes ? await seedWorld(strongroom.seed, operation.things) : read;
    const { status, body } = await operation.send(admin, world);
    expect({ status, misfits: misfits(route, body) }).toEqual({ status: 200, misfits: [] });
  });

  test('with `<hidden>` in place of values that are withheld, and not null', async () => {
    const { world, admin } = await seedWorld(strongroom.seed);
    const { body } = await admin.get(
      `/api/v4/secrets?projectId=${world.project}&environment=dev&viewSecretValue=false`,
    );
    expect(misfits('GET /api/v4/secrets', body)).toEqual([]);
    expect(body.secrets[0]).toMatchObject({ secretValue: '<hidden>', secretValueHidden: true });
  });

  test('and the reference does not call a field nullable that never is', () => {
    // The version that a deletion leaves behind has no value.
    const others = Object.entries(PATHS).filter(([path]) => !path.includes('/versions'));
    const nullable = [...JSON.stringify(others).matchAll(/"(\w+)":\{"type":\["string","null"\]/g)].map(
      ([, name]) => name,
    );
    expect(nullable.filter((name) => NEVER_NULL.includes(name as string))).toEqual([]);
  });
});
