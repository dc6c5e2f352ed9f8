import { mustSucceed } from '../../kit/caller.ts';
import { Rotating, type Rotation } from '../../kit/rotating.ts';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.ts';

describe('a rotation', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let rotating: Rotating;
  beforeAll(async () => {
    rotating = await Rotating.start(strongroom);
  });
  afterAll(() => rotating?.stop());

  test('tells of its secret until when the value is valid at least, in one statement for all', async () => {
    const keys = ['VALID_ONE', 'VALID_TWO', 'VALID_OFF', 'VALID_NONE'];
    const schedules = [{ rotationInterval: 7 }, { rotationInterval: 30 }, { isAutoRotationEnabled: false }];
    const made: Rotation[] = [];
    for (const [index, schedule] of schedules.entries())
      made.push(await rotating.create({ ...schedule, secretsMapping: { serviceToken: keys[index] } }));
    const place = { projectId: rotating.project.id, environment: 'dev', secretPath: '/', secretValue: 'v' };
    mustSucceed(await rotating.admin.post('/api/v4/secrets/VALID_NONE', place));
    // A token lives until the rotation after the next.
    const daysAfter = (index: number, days: number) =>
      new Date(Date.parse(made[index]?.nextRotationAt ?? '') + days * 86_400_000).toISOString();
    const fields = keys.map(
      (key) => `${key}: secretByKey(projectId: $p, environment: "dev", secretKey: "${key}") { validAtLeastUntil }`,
    );
    const shown = await rotating.admin.data(`query ($p: ID!) { ${fields.join(' ')} }`, { p: rotating.project.id });
    const until = keys.map((key) => shown[key].validAtLeastUntil);
    expect(until).toEqual([daysAfter(0, 7), daysAfter(1, 30), null, null]);
    const listed = async (selection: string) =>
      (
        await strongroom.statements(() =>
          rotating.admin.data(
            `query ($p: ID!) { secrets(projectId: $p, environment: "dev") { nodes { ${selection} } } }`,
            {
              p: rotating.project.id,
            },
          ),
        )
      ).count;
    expect(await listed('secretKey validAtLeastUntil')).toBe((await listed('secretKey')) + 1);
  });
});
