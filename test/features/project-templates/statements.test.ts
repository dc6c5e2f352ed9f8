import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { makeGroup, makeIdentity, makeTemplate, makeUser, READER, TEMPLATES } from './kit.js';

const strongroom = useSharedStrongroom();

const DRIFT = `environments { difference } roles { difference }
  members { difference user { id } group { id } identity { id } }`;
const SHOW = `query ($projectId: ID!) { projectTemplateDrift(projectId: $projectId) { ${DRIFT} } }`;
const APPLY = `mutation ($input: ApplyProjectTemplateInput!) { applyProjectTemplate(input: $input) {
  applied { ${DRIFT} } left { ${DRIFT} } kept { slug } } }`;

const range = (size: number, prefix: string): string[] => Array.from({ length: size }, (_, at) => `${prefix}-${at}`);
const environments = (slugs: readonly string[], name: string) =>
  slugs.map((slug, at) => ({ slug, name: `${name} ${slug}`, position: at + 1 }));
const roles = (slugs: readonly string[], action: string) =>
  slugs.map((slug) => ({ slug, name: slug, permissions: [{ subject: 'secrets', action: [action] }] }));
const members = <T>(size: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: size }, make));

/** A project in which this many of everything differ from its template, in each way. */
async function differing(size: number): Promise<{ admin: Caller; projectId: string }> {
  const { admin } = await strongroom.seed.organization();
  const [staying, joining] = [await members(size, () => makeUser(admin)), await members(size, () => makeUser(admin))];
  const identities = await members(size, () => makeIdentity(admin));
  const groups = await members(size, async () => makeGroup(admin, (await makeUser(admin)).id));
  const [shared, added] = [range(size, 'shared'), range(size, 'added')];
  const { id, name } = await makeTemplate(admin, {
    roles: [READER, ...roles(shared, 'describeSecret')],
    environments: environments(shared, 'Old'),
    users: staying.map(({ username }) => ({ username, roles: ['viewer'] })),
  });
  const { project } = mustSucceed(await admin.post('/api/v2/workspace', { projectName: 'Shop', template: name })).body;
  const at = `/api/v1/projects/${project.id}`;
  for (const [index, slug] of range(size, 'extra').entries()) {
    mustSucceed(await admin.post(`${at}/environments`, { name: slug, slug }));
    for (const body of roles([slug, `held-${index}`], 'readValue')) mustSucceed(await admin.post(`${at}/roles`, body));
    await strongroom.seed.caller(admin, { project: project.id, projectRoles: [`held-${index}`] });
  }
  mustSucceed(
    await admin.patch(`${TEMPLATES}/${id}`, {
      roles: [READER, ...roles([...shared, ...added], 'create')],
      environments: environments([...shared, ...added], 'New'),
      users: [...staying, ...joining].map(({ username }) => ({ username, roles: ['reader'] })),
      groups: groups.map(({ slug }) => ({ groupSlug: slug, roles: ['reader'] })),
      identities: identities.map((identity) => ({ identityId: identity.id, roles: ['reader'] })),
      projectManagedIdentities: range(size, 'own').map((own) => ({ name: own, roles: ['viewer'] })),
    }),
  );
  return { admin, projectId: project.id };
}

test('drift and applying take the same statements however much differs', async () => {
  const counts: number[][] = [];
  for (const size of [1, 4]) {
    const { admin, projectId } = await differing(size);
    const input = { projectId, parts: ['ENVIRONMENTS', 'ROLES', 'MEMBERS'], removes: true };
    const shown = await strongroom.statements(() => admin.data(SHOW, { projectId }));
    expect(shown.result.projectTemplateDrift.members).toHaveLength(6 * size);
    const dry = await strongroom.statements(() => admin.data(APPLY, { input: { ...input, dryRun: true } }));
    const done = await strongroom.statements(() => admin.data(APPLY, { input }));
    const { applied, left, kept } = done.result.applyProjectTemplate;
    expect(applied.environments).toHaveLength(3 * size);
    expect(applied.roles).toHaveLength(4 * size);
    expect(applied.members).toHaveLength(6 * size);
    expect({ left, kept }).toEqual({ left: { environments: [], roles: [], members: [] }, kept: [] });
    counts.push([shown.count, dry.count, done.count]);
  }
  expect(counts[1]).toEqual(counts[0]);
});
