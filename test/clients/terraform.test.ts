import { FakeDatatool } from '../kit/datatool.js';
import { LENIENT, type Reply, useSharedStrongroom } from '../kit/strongroom.js';
import { inProject, type Resource, type Sent, type State } from './terraform-plan.js';
import { inOrganization } from './terraform-plan-access.js';
import { outside } from './terraform-plan-rotations.js';

/**
 * The requests of the Terraform provider, as its sources have them. An apply whose reads do not hold what was written, or
 * that are not the same a second time, is a plan that is never empty.
 */
describe('a plan of the Terraform provider', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  const resources: readonly Resource[] = [...inProject, ...inOrganization, ...outside];
  let datatool: FakeDatatool;
  beforeAll(async () => {
    datatool = (await FakeDatatool.start()).unref();
  });
  afterAll(() => datatool.stop());

  test('creates, reads, changes and deletes every resource, and finds nothing to change in between', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const at: State = { organization, datatool };
    const send = ([method, path, body]: Sent): Promise<Reply> =>
      admin.request({ method, path, headers: { 'user-agent': 'terraform' }, ...(body === undefined ? {} : { body }) });
    const succeed = async (sent: Sent): Promise<Reply> => {
      const reply = await send(sent);
      expect([...sent.slice(0, 2), reply.status, reply.status === 200 ? '' : reply.text]).toEqual([
        ...sent.slice(0, 2),
        200,
        '',
      ]);
      return reply;
    };
    const refresh = async (): Promise<unknown[][]> => {
      const found: unknown[][] = [];
      for (const { read } of resources) {
        const bodies: unknown[] = [];
        for (const sent of read(at)) bodies.push((await succeed(sent)).body);
        found.push(bodies);
      }
      return found;
    };
    const expected = (then: boolean) =>
      resources.map(({ name, reads, readsThen }) => [name, ((then ? readsThen : undefined) ?? reads)(at)]);
    const named = (found: unknown[][]) => found.map((bodies, index) => [resources[index]?.name, bodies]);

    for (const { name, create, under } of resources) {
      const { body } = await succeed(create(at));
      at[name] = under === undefined ? body : body[under];
    }
    const first = await refresh();
    expect(named(first)).toMatchObject(expected(false));
    expect(await refresh()).toEqual(first);

    for (const { update } of resources) if (update !== undefined) await succeed(update(at));
    const second = await refresh();
    expect(named(second)).toMatchObject(expected(true));
    expect(await refresh()).toEqual(second);

    for (const { name, remove, read, readsAfter } of resources.toReversed()) {
      if (remove === undefined) continue;
      await succeed(remove(at));
      const { status, body } = await send(read(at)[0] as Sent);
      expect([name, status, body]).toMatchObject(
        readsAfter === undefined ? [name, 404, { statusCode: 404 }] : [name, 200, readsAfter],
      );
    }
  });
});
