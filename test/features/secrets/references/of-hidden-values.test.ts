import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

/** Which secrets a value names is a part of the value. */
describe('what a value refers to', () => {
  const strongroom = useSharedStrongroom();

  const reads = (action: readonly string[], conditions?: GivenRule['conditions']): GivenRule => ({
    subject: 'secrets',
    action,
    ...(conditions === undefined ? {} : { conditions }),
  });

  test('is told by the uses of a secret, or of a folder, only to who may read the value', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references are written so
    const values = { BASE: 'b', SEALED: 'prefix-${BASE}', SHOWN: '${BASE}' };
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references are written so
    const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
    mustSucceed(await admin.post('/api/v4/secrets/batch', { ...at, secrets }));
    const document = 'query ($input: WhereUsedInput!) { whereUsed(input: $input) { nodes { secretKey usedKey } } }';
    const uses = async (who: Caller): Promise<string[][]> => {
      const inputs = [{ secret: { ...at, secretKey: 'BASE' } }, { folder: { ...at, path: '/' } }];
      const replies = await Promise.all(inputs.map((input) => who.data(document, { input })));
      return replies.map(({ whereUsed }) =>
        whereUsed.nodes.map((use: Record<string, string>) => `${use.secretKey} ${use.usedKey}`),
      );
    };
    const folders: GivenRule = { subject: 'secret-folders', action: ['read'] };
    const withRules = async (...rules: readonly GivenRule[]): Promise<Caller> =>
      (await callerWithRules(strongroom, admin, project.id, folders, ...rules)).caller;
    const all = ['SEALED BASE', 'SHOWN BASE'];
    const describes = reads(['describeSecret']);
    expect(await uses(await withRules(describes))).toEqual([[], []]);
    expect(await uses(await withRules(describes, reads(['readValue'], { secretName: 'SHOWN' })))).toEqual([
      ['SHOWN BASE'],
      ['SHOWN BASE'],
    ]);
    // Of what is named it is enough to know.
    expect(await uses(await withRules(describes, reads(['readValue'], { secretName: { $ne: 'BASE' } })))).toEqual([
      all,
      all,
    ]);
    expect(await uses(admin)).toEqual([all, all]);
  });
});
