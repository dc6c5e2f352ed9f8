import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { ALERTS, EMAIL, makeAlert, seedProject, WEBHOOK } from './kit.js';

const strongroom = useSharedStrongroom();

/** A project with alerts of these names, the last one first in lists. */
async function seedAlerts(...bodies: readonly object[]) {
  const { admin, project } = await seedProject(strongroom);
  for (const body of bodies) await makeAlert(admin, project.id, body as Readonly<Record<string, unknown>>);
  const list = async (query = '') => mustSucceed(await admin.get(`${ALERTS}?projectId=${project.id}${query}`)).body;
  return { admin, project, list };
}

const namesOf = ({ alerts }: { alerts: readonly { name: string }[] }): string[] => alerts.map(({ name }) => name);

// A run changes nothing of the alert: `If-Match` looks at one that is shown alone.
const withoutRun = ({ lastRun: _, ...alert }: { id: string; lastRun: unknown }) => alert;

describe('the list of certificate alerts', () => {
  test('has those of the project, newest first, as they are shown one by one', async () => {
    const { admin, list } = await seedAlerts({ name: 'a' }, { name: 'c' }, { name: 'b' });
    await seedAlerts({ name: 'of another project' });
    const found = await list();
    expect([namesOf(found), found.total]).toEqual([['b', 'c', 'a'], 3]);
    for (const alert of found.alerts)
      expect(mustSucceed(await admin.get(`${ALERTS}/${alert.id}`)).body.alert).toEqual(withoutRun(alert));
    expect(await seedAlerts().then(({ list: listNone }) => listNone())).toEqual({ alerts: [], total: 0 });
  });

  test('is filtered by name, event and whether they notify, and counts what is left', async () => {
    const { list } = await seedAlerts(
      { name: '100% of_it', enabled: false },
      { name: 'Shop', eventType: 'renewal' },
      { name: 'workSHOP', eventType: 'renewal', enabled: false },
    );
    const cases = {
      '&search=sHop': ['workSHOP', 'Shop'],
      '&search=%25': ['100% of_it'],
      '&search=f_i': ['100% of_it'],
      '&search=f%25i': [],
      '&search=': ['workSHOP', 'Shop', '100% of_it'],
      '&eventType=renewal': ['workSHOP', 'Shop'],
      '&enabled=false': ['workSHOP', '100% of_it'],
      '&enabled=true': ['Shop'],
      '&enabled=false&eventType=renewal&search=o': ['workSHOP'],
    };
    for (const [query, names] of Object.entries(cases)) {
      const found = await list(query);
      expect([query, namesOf(found), found.total]).toEqual([query, names, names.length]);
    }
  });

  test('comes in pages, by number and by cursor', async () => {
    const { list } = await seedAlerts(...['a', 'b', 'c', 'd', 'e'].map((name) => ({ name })));
    expect(await list('&limit=2&offset=1')).toMatchObject({ alerts: [{ name: 'd' }, { name: 'c' }], total: 5 });
    expect(namesOf(await list('&offset=4'))).toEqual(['a']);
    expect(await list('&offset=5&limit=1')).toEqual({ alerts: [], total: 5 });
    const first = await list('&limit=3');
    const second = await list(`&limit=3&cursor=${first.nextCursor}`);
    expect([namesOf(first), namesOf(second), second.nextCursor]).toEqual([['e', 'd', 'c'], ['b', 'a'], undefined]);
  });

  test('refuses what it does not know', async () => {
    const { admin, project } = await seedAlerts();
    for (const query of [
      'enabled=no',
      'enabled=1',
      'enabled=',
      'eventType=expiry',
      'limit=0',
      'limit=1001',
      'offset=-1',
      'offset=x',
      'page=2',
    ])
      expect(await admin.get(`${ALERTS}?projectId=${project.id}&${query}`)).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.get(ALERTS)).toBeError(422, 'VALIDATION_FAILED');
    const { project: foreign } = await seedProject(strongroom);
    expect(await admin.get(`${ALERTS}?projectId=${foreign.id}`)).toBeError(404, 'PROJECT_NOT_FOUND');
  });
});

const NESTED = `query ($first: Int, $eventType: CertificateEventType) { projects(first: 6, type: CERT_MANAGER) { nodes {
  name
  certificateAlerts { nodes { name channels { id ... on EmailAlertChannel { recipients } ... on WebhookAlertChannel { url } } } }
  page: certificateAlerts(first: $first, eventType: $eventType) {
    nodes { name project { id } channels { id ... on WebhookAlertChannel { hasSigningSecret } } }
    totalCount pageInfo { hasNextPage endCursor }
  }
} } }`;

/** Projects with alerts of two channels each. */
async function seedProjects(size: number): Promise<Caller> {
  const { admin } = await strongroom.seed.organization();
  for (let made = 0; made < size; made += 1) {
    const { id } = await strongroom.seed.projectOf(admin, { type: 'cert-manager' });
    for (let alert = 0; alert < size; alert += 1)
      await makeAlert(admin, id, { name: `alert ${alert}`, eventType: 'renewal', channels: [EMAIL, WEBHOOK] });
  }
  return admin;
}

describe('alerts inside of projects', () => {
  test('are those of each project, filtered and in pages', async () => {
    const admin = await seedProjects(2);
    const { projects } = await admin.data(NESTED, { first: 1, eventType: 'RENEWAL' });
    const channels = [{ recipients: EMAIL.config.recipients }, { url: expect.stringContaining('https://hooks.') }];
    for (const project of projects.nodes)
      expect(project).toMatchObject({
        certificateAlerts: {
          nodes: [
            { name: 'alert 1', channels },
            { name: 'alert 0', channels },
          ],
        },
        page: { nodes: [{ name: 'alert 1' }], totalCount: 2, pageInfo: { hasNextPage: true } },
      });
    const none = await admin.data(NESTED, { eventType: 'ISSUANCE' });
    for (const { page } of none.projects.nodes) expect(page).toMatchObject({ nodes: [], totalCount: 0 });
  });

  test('are null with an error for who may not read them', async () => {
    const { admin, project } = await seedAlerts({ name: 'a' });
    const viewer = await strongroom.seed.caller(admin, { project: project.id });
    const { data, errors } = (await viewer.graphql(NESTED, {})).body;
    expect(data.projects.nodes).toMatchObject([{ certificateAlerts: null, page: null }]);
    expect(errors).toMatchObject([
      { extensions: { code: 'PERMISSION_DENIED' } },
      { extensions: { code: 'PERMISSION_DENIED' } },
    ]);
  });

  test('take the same statements however many there are, as lists do', async () => {
    const counts: number[][] = [];
    for (const size of [1, 5]) {
      const admin = await seedProjects(size);
      const { projects } = await admin.data('{ projects(type: CERT_MANAGER) { nodes { id } } }');
      const [{ id }] = projects.nodes;
      const nested = await strongroom.statements(() => admin.data(NESTED, { first: 6 }));
      const list = await strongroom.statements(() => admin.get(`${ALERTS}?projectId=${id}&limit=10`));
      expect(list.result.body.total).toBe(size);
      counts.push([nested.count, list.count]);
    }
    expect(counts[1]).toEqual(counts[0]);
  });

  test('are found by their ids', async () => {
    const { admin, project } = await seedProject(strongroom);
    const { id } = await makeAlert(admin, project.id, { channels: [EMAIL] });
    const document = `query ($id: ID!) { node(id: $id) { __typename id
      ... on CertificateAlert { name channels { ... on EmailAlertChannel { recipients } } } } }`;
    expect((await admin.data(document, { id })).node).toMatchObject({
      __typename: 'CertificateAlert',
      id,
      channels: [{ recipients: EMAIL.config.recipients }],
    });
    const { admin: stranger } = await seedProject(strongroom);
    expect((await stranger.data(document, { id })).node).toBeNull();
    const [row] = await strongroom.auditRows(`project_id = $1 and action = 'certificate-alert:get'`, [project.id]);
    expect(row?.facts).toEqual({ alertId: id });
  });
});
