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

  test('is told of a secret without its value, but only to who may read that', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    mustSucceed(await admin.post('/api/v2/folders', { ...at, name: 'app', path: '/' }));
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references are written so
    const values = {
      SHOWN: '${prod.lib.NONE} ${SEALED} ${dev.BASE} ${SEALED}',
      SEALED: '${SHOWN}',
      PLAIN: '$ {SHOWN}',
    };
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references are written so
    const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
    mustSucceed(await admin.post('/api/v4/secrets/batch', { ...at, secretPath: '/app', secrets }));
    const document = `query ($id: ID!) { secrets(projectId: $id, environment: "dev", secretPath: "/app", viewSecretValue: false) {
      nodes { secretKey secretValue references { environmentSlug secretPath secretKey } } } }`;
    const read = async (who: Caller) => (await who.data(document, { id: project.id })).secrets.nodes;
    const named = (environmentSlug: string, secretPath: string, secretKey: string) => ({
      environmentSlug,
      secretPath,
      secretKey,
    });
    const shown = [named('dev', '/app', 'SEALED'), named('dev', '/', 'BASE'), named('prod', '/lib', 'NONE')];
    const all = [
      { secretKey: 'PLAIN', secretValue: null, references: [] },
      { secretKey: 'SEALED', secretValue: null, references: [named('dev', '/app', 'SHOWN')] },
      { secretKey: 'SHOWN', secretValue: null, references: shown },
    ];
    expect(await read(admin)).toEqual(all);
    const { caller } = await callerWithRules(
      strongroom,
      admin,
      project.id,
      reads(['describeSecret']),
      reads(['readValue'], { secretName: 'SHOWN' }),
    );
    const hidden = all.map((secret) => (secret.secretKey === 'SHOWN' ? secret : { ...secret, references: null }));
    expect(await read(caller)).toEqual(hidden);
    // No value was opened, but what it names is a part of it.
    const opened = await strongroom.sql(
      `select action, facts from audit_record where class = 'value-read' and project_id = $1 order by sequence`,
      [project.id],
    );
    expect(opened).toEqual([3, 1].map((count) => ({ action: 'secret:list-references', facts: { count } })));
  });

  test('is told of each secret up to a hundred names, and of a response up to what it may have', async () => {
    const { admin, project } = await strongroom.seed.project();
    const secretValue = Array.from({ length: 150 }, (_, index) => `\${N_${String(index).padStart(3, '0')}}`).join(' ');
    await strongroom.seed.secrets(admin, project, 'dev', 250, (secret) => ({ ...secret, secretValue }));
    const document = `query ($id: ID!, $first: Int) { secrets(projectId: $id, environment: "dev", viewSecretValue: false, first: $first) {
      nodes { references { secretKey } } } }`;
    const { secrets } = await admin.data(document, { id: project.id, first: 2 });
    const names = secrets.nodes.map(({ references }: { references: { secretKey: string }[] }) =>
      references.map(({ secretKey }) => secretKey),
    );
    const first = Array.from({ length: 100 }, (_, index) => `N_${String(index).padStart(3, '0')}`);
    expect(names).toEqual([first, first]);
    const refused = await admin.graphql(document, { id: project.id, first: 250 });
    expect(JSON.stringify(refused.body)).toContain('QUERY_TOO_COMPLEX');
  });
});
