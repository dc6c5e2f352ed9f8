import { MOMENTS, RotatingAlone } from '../../kit/rotating-alone.ts';

describe('a service that is killed while it rotates', () => {
  let alone: RotatingAlone;
  beforeAll(async () => {
    alone = await RotatingAlone.start();
  });
  afterAll(() => alone?.stop());

  test.each(MOMENTS)('when $name, another one goes on', async ({ reach }) => {
    const { rotating } = alone;
    const { id } = await rotating.create();
    await rotating.expectRotates(id);
    const letGo = await reach(alone, id);
    await alone.killAndRestart();
    await letGo();
    await rotating.endLeases();
    await rotating.settled();
    await rotating.expectWhole(id);
    expect((await rotating.get(id)).rotationStatus).toBe('success');
    // What was begun has come to its end: there is one credential more, however often it was tried.
    const [row] = await alone.sql('select generation, attempts from secret_rotation where id = $1', [id]);
    expect(row).toEqual({ generation: 3, attempts: 3 });
    await rotating.expectRotates(id);
    await rotating.expectLeavesNothing(id);
  });
});
