import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { sample } from '../../kit/scope.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { makeWorld, seedWorld, type World } from '../../kit/world.js';

const strongroom = useSharedStrongroom(LENIENT);

/** Id of a role that is no row. */
const viewerRoleOf = async (admin: Caller, { project }: World): Promise<string> =>
  (await admin.data('query ($id: ID!) { projectRoleBySlug(projectId: $id, slug: "viewer") { id } }', { id: project }))
    .projectRoleBySlug.id;

const NODES = `query ($ids: [ID!]!) { nodes(ids: $ids) {
  __typename id
  ... on Secret { secretKey secretValue folder { path } project { id } }
  ... on Folder { path secrets { nodes { secretKey } } }
  ... on Project { slug environments { slug } }
  ... on Tag { slug }
} }`;

let world: World;
let admin: Caller;
/** Of another organization. */
let foreign: World;
beforeAll(async () => {
  ({ world, admin } = await seedWorld(strongroom.seed));
  ({ world: foreign } = await seedWorld(strongroom.seed));
});

describe('things by nothing but their ids', () => {
  test('are found as what they are, in the order of the ids, each with a record of its own', async () => {
    const { nodes: members } = (
      await admin.data('query ($id: ID!) { project(id: $id) { members { nodes { id } } } }', { id: world.project })
    ).project.members;
    const viewerRole = await viewerRoleOf(admin, world);
    const { nodes: organizationMembers } = (
      await admin.data('query ($id: ID) { organizationMembers(organizationId: $id) { nodes { id } } }', {
        id: world.subOrganization,
      })
    ).organizationMembers;
    const [organizationMember] = organizationMembers;
    const ids = [
      ...[world.secret, world.folder, world.project, world.tag, world.environment, world.import],
      ...[world.user, world.identity, world.organization, members[0].id, world.secret.toUpperCase()],
      ...[world.role, viewerRole, world.accessToken, world.clientSecret, organizationMember.id, world.certificateAlert],
      ...[world.certificateAuthority, world.certificate, world.alertMessage, world.notificationChannel],
      ...[world.notificationMessage, world.connection, world.rotation, world.accountRotation, world.identityAlert],
      ...[world.changeWebhook, world.auditSink],
    ];
    const reply = mustSucceed(await admin.graphql(NODES, { ids }));
    expect(reply.body.data.nodes.map(({ __typename, id }: Record<string, string>) => [__typename, id])).toEqual([
      ['Secret', world.secret],
      ['Folder', world.folder],
      ['Project', world.project],
      ['Tag', world.tag],
      ['Environment', world.environment],
      ['SecretImport', world.import],
      ['User', world.user],
      ['Identity', world.identity],
      ['Organization', world.organization],
      ['ProjectMembership', members[0].id],
      ['Secret', world.secret],
      ['ProjectRole', world.role],
      ['ProjectRole', viewerRole],
      ['AccessToken', world.accessToken],
      ['ClientSecret', world.clientSecret],
      ['OrganizationMember', organizationMember.id],
      ['CertificateAlert', world.certificateAlert],
      ['CertificateAuthority', world.certificateAuthority],
      ['Certificate', world.certificate],
      ['AlertMessage', world.alertMessage],
      ['NotificationChannel', world.notificationChannel],
      ['NotificationMessage', world.notificationMessage],
      ['DatatoolConnectedApp', world.connection],
      ['DatatoolServiceTokenRotation', world.rotation],
      ['HostosLocalAccountRotation', world.accountRotation],
      ['IdentityAlert', world.identityAlert],
      ['ChangeWebhook', world.changeWebhook],
      ['AuditSink', world.auditSink],
    ]);
    expect(reply.body.data.nodes[0]).toMatchObject({ secretKey: world.secretKey, folder: { path: '/' } });
    expect(reply.body.data.nodes[2]).toMatchObject({ slug: world.projectSlug });
    const rows = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
    expect(rows.map(({ action }) => action).sort()).toEqual(
      [
        ...['secret:get', 'folder:get', 'project:get', 'tag:get', 'environment:get', 'secret-import:get'],
        ...['user:get', 'identity:get', 'organization:get', 'project-membership:get'],
        ...['project-role:get', 'project-role:get', 'access-token:get', 'client-secret:get', 'organization-member:get'],
        ...['notification-channel:get', 'notification-message:get'],
        ...['app-connection:get', 'secret-rotation:get', 'secret-rotation:get', 'identity-alert:get'],
        ...['change-webhook:get', 'audit-sink:get'],
        ...['certificate-alert:get', 'certificate-alert:get-message', 'certificate-authority:get', 'certificate:get'],
      ].sort(),
    );
    expect(rows.find(({ action }) => action === 'secret:get')?.facts).toMatchObject({ viewedValues: true });
  });

  test('are null when they are hidden, unknown or no ids, and leave no record but of what a right is lacking for', async () => {
    const { caller } = await callerWithRules(strongroom, admin, world.project, {
      subject: 'secrets',
      action: ['describeSecret', 'readValue'],
      conditions: { environment: 'prod' },
    });
    const stranger = (await strongroom.seed.organization()).admin;
    const hidden = [
      ...[world.secret, world.folder, world.tag, world.environment, world.import, world.user, world.identity],
      ...[world.role, await viewerRoleOf(admin, world), world.accessToken, world.clientSecret, world.rotation],
    ];
    for (const [who, ids] of [
      [caller, hidden],
      [stranger, [...hidden, world.project, world.organization]],
      [admin, [randomUUID(), 'no-id']],
    ] as const) {
      const reply = mustSucceed(await who.graphql(NODES, { ids }));
      expect(reply.body.data.nodes).toEqual(ids.map(() => null));
      const rows = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
      expect(rows.map(({ outcome }) => outcome)).toEqual(rows.map(() => 'denied'));
      const actions = rows.map(({ action }) => action);
      expect(actions).toEqual([...new Set(actions)]);
      expect(actions.includes('tags:read')).toBe(who === caller);
      if (who !== caller) expect(rows).toEqual([]);
    }
    const { node } = await admin.data('query ($id: ID!) { node(id: $id) { id } }', { id: randomUUID() });
    expect(node).toBeNull();
  });

  test('take the same statements whether nobody has an id, or a stranger, or a project of colleagues', async () => {
    const NODE = 'query ($id: ID!) { node(id: $id) { __typename id } }';
    const colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const neighbour = await makeWorld(colleague, world.organization);
    const memberships = await strongroom.sql<{ id: string }>(
      'select id from project_membership where project_id = any($1)',
      [[foreign.project, neighbour.project]],
    );
    const organizationMembers = await strongroom.sql<{ id: string }>(
      'select id from organization_membership where organization_id = any($1)',
      [[foreign.organization, foreign.subOrganization]],
    );
    const inProjects = ({
      secret,
      folder,
      tag,
      environment,
      import: imported,
      project,
      role,
      certificateAlert,
      certificateAuthority,
      certificate,
      notificationChannel,
      changeWebhook,
      rotation,
      identityAlert,
    }: World): string[] => [
      ...[secret, folder, tag, environment, imported, project, role],
      ...[certificateAlert, certificateAuthority, certificate, notificationChannel, rotation, identityAlert],
      changeWebhook,
    ];
    const hidden = [
      ...inProjects(foreign),
      ...inProjects(neighbour),
      ...[...memberships, ...organizationMembers].map(({ id }) => id),
      ...[foreign.accessToken, foreign.clientSecret],
      ...[foreign.user, foreign.identity, foreign.organization, foreign.subOrganization],
    ];
    const ask = async (id: string): Promise<number> => {
      const { result, count } = await strongroom.statements(() => admin.data(NODE, { id }));
      expect(result.node).toBeNull();
      return count;
    };
    const unknown = await ask(randomUUID());
    for (const id of sample(hidden, 5)) expect(await ask(id)).toBe(unknown);
    const builtIn = await viewerRoleOf(colleague, neighbour);
    expect(await ask(builtIn)).toBe(await ask(`${randomUUID().slice(0, 14)}8${randomUUID().slice(15)}`));
  });

  test('keep a value from a caller who may only know of the secret', async () => {
    const { caller } = await callerWithRules(strongroom, admin, world.project, {
      subject: 'secrets',
      action: 'describeSecret',
    });
    const { data, errors } = (await caller.graphql(NODES, { ids: [world.secret] })).body;
    expect(data.nodes).toMatchObject([{ secretKey: world.secretKey, secretValue: null, folder: null }]);
    expect(errors).toMatchObject([{ path: ['nodes', 0, 'folder'], extensions: { code: 'PERMISSION_DENIED' } }]);
  });

  test('are at most 1,000 at once', async () => {
    const BARE = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    const { admin } = await strongroom.seed.organization();
    const ids = Array.from({ length: 1_001 }, () => randomUUID());
    expect(await admin.graphql(BARE, { ids })).toBeError(422, 'VALIDATION_FAILED');
    const { result, count } = await strongroom.statements(() => admin.graphql(BARE, { ids: ids.slice(1) }));
    expect(result.body.data.nodes).toHaveLength(1_000);
    expect(count).toBeLessThanOrEqual(4);
  });
});
