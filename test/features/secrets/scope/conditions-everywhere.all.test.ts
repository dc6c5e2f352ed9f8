import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { graphqlOperations } from '../../../kit/operations/graphql.js';
import { restOperations } from '../../../kit/operations/rest-requests.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import { sample } from '../../../kit/scope.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { CANARY, seedWorld, type World } from '../../../kit/world.js';

const strongroom = useSharedStrongroom();
const reads = [...restOperations(), ...graphqlOperations()].filter(({ changes }) => !changes);
const named = (offset: number) =>
  sample(
    reads.map((each) => [each.name, each] as const),
    4,
    offset,
  );

let world: World;
let admin: Caller;

beforeAll(async () => {
  ({ world, admin } = await seedWorld(strongroom.seed));
});

/** A caller who may do everything in the project of the world but what these rules take back. */
async function everythingBut(...rules: readonly GivenRule[]): Promise<Caller> {
  const path = `/api/v1/projects/${world.project}/roles/slug/admin`;
  const { permissions } = mustSucceed(await admin.get(path)).body.role;
  const bySubject = Map.groupBy(permissions as GivenRule[], ({ subject }) => subject);
  // `read` of secrets is the older word for the two beside it.
  const all = [...bySubject].map(([subject, each]) => ({
    subject,
    action: each.flatMap(({ action }) => action).filter((action) => `${subject}:${action}` !== 'secrets:read'),
  }));
  return (await callerWithRules(strongroom, admin, world.project, ...all, ...rules)).caller;
}

const onTag = (action: readonly string[]): GivenRule => ({
  subject: 'secrets',
  action,
  inverted: true,
  conditions: { secretTags: { $in: [world.tagSlug] } },
});

describe('a secret that rules hide', () => {
  let caller: Caller;
  beforeAll(async () => {
    caller = await everythingBut(onTag(['describeSecret', 'readValue']));
  });

  test.each(named(0))('is in no answer: %s', async (_, operation) => {
    const reply = await operation.send(caller, world);

    for (const part of [world.secretKey, ...['value', 'comment', 'metadata'].map((part) => `${CANARY} ${part}`)]) {
      expect(reply.text).not.toContain(part);
    }
    expect(reply.status).toBeLessThan(500);
  });
});

describe('a value that rules hide', () => {
  let caller: Caller;
  beforeAll(async () => {
    caller = await everythingBut(onTag(['readValue']));
  });

  test.each(named(2))('is in no answer: %s', async (_, operation) => {
    const reply = await operation.send(caller, world);

    expect(reply.text).not.toContain(`${CANARY} value`);
  });

  test('while its secret is in the lists', async () => {
    const path = `/api/v4/secrets?projectId=${world.project}&environment=dev`;

    expect((await caller.get(path)).text).toContain(world.secretKey);
  });
});

test('what they hide is shown to an admin', async () => {
  const replies = await Promise.all(reads.map((operation) => operation.send(admin.patient, world)));

  expect(replies.filter(({ text }) => text.includes(world.secretKey)).length).toBeGreaterThan(10);
  expect(replies.filter(({ text }) => text.includes(`${CANARY} value`)).length).toBeGreaterThan(5);
});
