import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, getNamedType, isIntrospectionType, isObjectType } from 'graphql';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { KNOWN_CERTIFICATE } from '../../kit/certificates/own.js';
import { sample } from '../../kit/scope.js';
import { LENIENT, type SecondNode, useSharedStrongroom } from '../../kit/strongroom.js';
import { addProjects } from './crowd.js';
import { leadsFrom } from './paths.js';

const strongroom = useSharedStrongroom(LENIENT);
const SIZES = [1, 10, 50];

const SCHEMA = buildSchema(readFileSync(join(import.meta.dirname, '../../../schema/schema.graphql'), 'utf8'));

/** Root fields that answer as many things as there are projects. */
const ROOTS = {
  projects: 'projects',
  users: 'users',
  identities: 'identities',
  organizationMembers: 'organizationMembers',
  organizations: 'organizations',
  groups: 'groups',
  searchSecrets: 'searchSecrets(first: 1000, input: { viewSecretValue: true })',
  duplicateValues: 'duplicateValues(first: 1000, input: {})',
  secretsWithValue: 'secretsWithValue(first: 1000, input: { value: "value" })',
  appConnections: 'appConnections',
  attention: 'attention(first: 1000)',
  auditEvents: 'auditEvents(first: 1000)',
};

const WHOLE = `{ projects { nodes {
  id roles { nodes { slug } } tags { nodes { slug } } members { nodes { name user { username } identity { name } project { name } } }
  organization { name }
  environments {
    slug project { slug }
    folders { nodes { path folders { nodes { path secrets { nodes { secretKey } } } } secrets { nodes { secretKey secretValue } } parent { path } environment { slug } } }
    imports { nodes { position project { id } } }
    secrets(path: "/", expandSecretReferences: true) { nodes {
      secretKey secretValue tags { slug } versions { nodes { version } } folder { path } environment { slug } project { id }
    } }
    page: secrets(first: 1, recursive: true) { nodes { secretKey } edges { cursor } pageInfo { hasNextPage } }
  }
} } }`;

/** An alert in each project, whose channel has a config that nobody asks for. Projects with secrets make none. */
const ALERTS = `with made as (
  insert into certificate_alert (id, organization_id, project_id, name, event_type, alert_before, filters)
    select gen_random_uuid(), organization_id, id, 'alert', 'expiration', '30d', '[{"field": "san", "operator": "equals", "value": "a"}]'
    from project where id = any($1::uuid[]) returning *)
  insert into certificate_alert_channel (id, organization_id, project_id, alert_id, position, channel_type, config_sealed)
    select gen_random_uuid(), organization_id, project_id, id, 1, 'email', '' from made`;

/** A channel in each project, with a message; and a mail to one of its people. */
const CHANNELS = `with made as (
  insert into notification_channel (id, organization_id, project_id, name, channel_type, config_sealed)
    select gen_random_uuid(), organization_id, id, 'channel', 'email', '' from project where id = any($1::uuid[]) returning *)
  insert into notification_message (id, organization_id, project_id, source, owner_id, channel_id, channel_type, recipient, event, state,
      give_up_at, ended_at)
    select gen_random_uuid(), organization_id, project_id, 'project-notice', project_id, way, 'email', '', 'project-rescue', 'sent', now(), now()
    from made, unnest(array[id, project_id]) as way`;

/** An alert of each identity of their organization, whose channel has a config that nobody asks for. */
const IDENTITY_ALERTS = `with made as (
  insert into identity_alert (id, organization_id, identity_id, name, alert_before_days)
    select gen_random_uuid(), i.organization_id, i.id, 'alert', 30 from identity i
    where i.organization_id in (select organization_id from project where id = any($1::uuid[])) returning *)
  insert into identity_alert_channel (id, organization_id, alert_id, position, name, channel_type, config_sealed)
    select gen_random_uuid(), organization_id, id, 1, 'hook', 'slack', '' from made`;

/** A connection of each project. */
const CONNECTIONS = `
  insert into app_connection (id, organization_id, project_id, app, method, name, public_part, credentials_sealed, credentials_hash)
    select gen_random_uuid(), organization_id, id, 'datatool', 'api-token', 'connection', '{"instanceUrl": "https://a.example.com", "accountId": "1"}', '', ''
    from project where id = any($1::uuid[])`;

/** A rotation by that connection in each project, the last attempt of which has failed. */
const ROTATIONS = `with made as (
  insert into secret_rotation (id, organization_id, project_id, environment_id, folder_id, connection_id, type, name, parameters, secrets_mapping,
      is_auto_rotation_enabled, rotation_interval, rotate_at_hours, rotate_at_minutes, schedule, status, last_attempt_id)
    select gen_random_uuid(), c.organization_id, c.project_id, e.id, f.id, c.id, 'datatool-service-token', 'rotation',
      '{"tokenName": "token", "permissionGrants": [{"permissionSet": "job_viewer", "projectId": null}]}', '{"serviceToken": "TOKEN"}', true, 30, 0, 0,
      '{"timeZone": "UTC", "missed": "as-soon-as-possible", "apart": []}', 'failed', gen_random_uuid()
    from app_connection c join environment e on e.project_id = c.project_id and e.slug = 'dev'
      join folder f on f.environment_id = e.id and f.path = '/'
    where c.project_id = any($1::uuid[]) returning *)
  insert into secret_rotation_attempt (id, organization_id, project_id, rotation_id, number, reason, state, name, candidate_sealed, actor_kind,
      actor_id, error_code, ended_at)
    select last_attempt_id, organization_id, project_id, id, 1, 'schedule', 'failed', 'none-1', '', 'system', id, 'TARGET_UNREACHABLE', now()
    from made`;

/** An authority below another one in each project, and a certificate of it that renews another one. */
const CERTIFICATES = `with root as (
  insert into certificate_authority (id, organization_id, project_id, name, kind, status, subject, common_name, key_algorithm, key_sealed,
      certificate, serial_number, not_before, not_after)
    select gen_random_uuid(), organization_id, id, 'root', 'root', 'active', 'CN=root', 'root', 'ec-p256', '', $2, '01', now(), now()
    from project where id = any($1::uuid[]) returning *
), below as (
  insert into certificate_authority (id, organization_id, project_id, parent_id, name, kind, status, subject, common_name, key_algorithm,
      key_sealed, certificate, serial_number, not_before, not_after)
    select gen_random_uuid(), organization_id, project_id, id, 'below', 'intermediate', 'active', subject, common_name, key_algorithm,
      key_sealed, certificate, serial_number, not_before, not_after from root returning *
), first as (
  insert into certificate (id, organization_id, project_id, authority_id, lineage_id, source, common_name, sans, serial_number, not_before,
      not_after, key_algorithm, fingerprint_sha256, certificate, is_ca)
    select gen_random_uuid(), organization_id, project_id, id, id, 'issued', 'first', '{}', '02', now(), now(), 'ec-p256', '02', $2, false
    from below returning *)
  insert into certificate (id, organization_id, project_id, authority_id, lineage_id, renewed_from_id, source, common_name, sans,
      serial_number, not_before, not_after, key_algorithm, fingerprint_sha256, certificate, is_ca)
    select gen_random_uuid(), organization_id, project_id, authority_id, lineage_id, id, 'issued', 'second', '{}', '03', now(), now(),
      'ec-p256', '03', $2, false from first`;

interface Crowd {
  readonly size: number;
  readonly admin: Caller;
  readonly ids: readonly string[];
}

const crowds: Crowd[] = [];

beforeAll(async () => {
  for (const size of SIZES) {
    const { admin } = await strongroom.seed.organization();
    const ids = await addProjects(admin, size);
    await strongroom.sql(ALERTS, [ids]);
    await strongroom.sql(CHANNELS, [ids]);
    await strongroom.sql(IDENTITY_ALERTS, [ids]);
    await strongroom.sql(CONNECTIONS, [ids]);
    await strongroom.sql(ROTATIONS, [ids]);
    await strongroom.sql(CERTIFICATES, [ids, KNOWN_CERTIFICATE.pem]);
    crowds.push({ size, admin, ids });
  }
});

/** Statements that requests to a node have sent so far. */
async function statementsAt(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^strongroom_sql_statements_total\{origin="request"\} (\d+)/m.exec(text)?.[1]);
}

/** Statements of each of these crowds for a document on a node. */
async function statementsOn(url: string, document: string, asking: readonly Crowd[]): Promise<number[]> {
  const counts: number[] = [];
  let before = await statementsAt(url);
  for (const { admin } of asking) {
    mustSucceed(await admin.at(url).graphql(document));
    const after = await statementsAt(url);
    counts.push(after - before);
    before = after;
  }
  return counts;
}

describe('a document that asks for things of many projects', () => {
  test('answers all of them', async () => {
    const { admin, size } = crowds.at(-1) as Crowd;
    const { projects } = await admin.data(WHOLE);
    expect(projects.nodes).toHaveLength(size);
    for (const project of projects.nodes) {
      const [dev] = project.environments;
      expect(project.members.nodes).toHaveLength(3);
      expect(dev).toMatchObject({
        slug: 'dev',
        folders: {
          nodes: [
            {
              path: '/app',
              folders: { nodes: [{ path: '/app/eu', secrets: { nodes: [] } }] },
              secrets: { nodes: [{ secretValue: 'shop' }] },
              parent: { path: '/' },
            },
          ],
        },
        imports: { nodes: [{ position: 1, project: { id: project.id } }] },
        page: { nodes: [{ secretKey: 'HOST' }], pageInfo: { hasNextPage: true } },
      });
      expect(dev.secrets.nodes).toMatchObject([
        {
          secretKey: 'HOST',
          folder: { path: '/' },
          environment: { slug: 'dev' },
          versions: { nodes: [{ version: 1 }] },
        },
        {
          secretKey: 'URL',
          secretValue: `https://shop.${dev.secrets.nodes[0].secretValue}`,
          project: { id: project.id },
        },
      ]);
    }
  });

  test('takes at most 30 statements for 1, 10 and 50 of them, also on a node that knows no keys yet', async () => {
    const node: SecondNode = await strongroom.startSecondNode();
    try {
      // The largest first: whatever a node asks for once in its life counts for that.
      const counts = await statementsOn(node.url, WHOLE, crowds.toReversed());
      // Which lists wait for the same keys depends on the moment; how many wait does not.
      expect(Math.max(...counts)).toBeLessThanOrEqual(30);
    } finally {
      await node.stop();
    }
  });

  test('leaves one record for each list of values, all stored by one statement', async () => {
    const { admin, size } = crowds.at(-1) as Crowd;
    const reply = mustSucceed(
      await admin.graphql('{ projects { nodes { environments { secrets { nodes { secretValue } } } } } }'),
    );
    const rows = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
    const lists = rows.filter(({ action }) => action === 'secret:list');
    expect(new Set(lists.map(({ project_id }) => project_id)).size).toBe(size);
    expect(lists.map(({ facts }) => facts.count)).toEqual(lists.map(() => 2));
    expect(rows.filter(({ action }) => action !== 'secret:list').map(({ action }) => action)).toEqual(['project:list']);
  });
});

describe('every field that leads from one type to another', () => {
  const leads = leadsFrom(SCHEMA, ROOTS);

  test('is among those that are tried, but for types that only answer about one thing', () => {
    const tried = new Set(leads.map(({ name }) => name));
    const query = SCHEMA.getQueryType();
    const ofOne = Object.values(SCHEMA.getTypeMap())
      .filter(isObjectType)
      .filter((type) => !isIntrospectionType(type) && type !== query && type !== SCHEMA.getMutationType())
      .filter(({ name }) => !name.endsWith('Payload'))
      .flatMap((type) =>
        Object.values(type.getFields())
          .filter((field) => isObjectType(getNamedType(field.type)) && !tried.has(`${type.name}.${field.name}`))
          .map((field) => `${type.name}.${field.name}`),
      );
    expect(ofOne.filter((name) => !OF_ONE.test(name))).toEqual([]);
  });

  test.each(sample(leads, 5))('$name takes the same number of statements for 1 and 10', async ({ document }) => {
    const [one, ten] = crowds as [Crowd, Crowd];
    let counts: number[] = [];
    // What a node knows of a token ends after half a minute, and may do so here; and what rules say is asked for once more where a node
    // meets them for the first time. Where more things need more statements, no round is equal: what is asked for once counts for the ten.
    for (let round = 0; round < 4 && new Set(counts).size !== 1; round += 1)
      counts = await statementsOn(strongroom.url, document, [ten, one]);
    expect(new Set(counts).size).toBe(1);
  });
});

/** Answers of root fields about one secret, folder, identity, project, organization or caller, and their pages. */
const OF_ONE =
  /^(Access(Token|Answers|Explanation|Holder)|AllProjectsMembership(Connection|Edge)|Audit(Checkpoint|Sink(Connection|Edge)?|TrailVer(dict|ification(Connection|Edge)?))|Certificate(AlertDecision|Pkcs12|PrivateKey|Request)|Change(Event|Webhook(Connection|Edge)?)|ChangesOfKind|ClientSecret|CredentialDebt(Connection|Edge)|(Datatool|Smb)ConnectedApp|(DatatoolServiceToken|HostosLocalAccount)(Parameters|Rotation)|DatatoolProject(Connection|Edge)|DeletedSecret|EffectivePermission|FolderTreeEntry|IdentityAlert(Connection|Edge)|ImportedSecret|Job|NotificationChannel(Connection|Edge)|Organization(AccessExplanation|Key(Connection|Edge)?|RuleOrigin|Role(Connection|Edge))|Project(Changes|Reencryption|Rescue|WithoutAdmin)|ProjectTemplate(Connection|Drift|Edge|Preview)|Password(Requirements|Rule(Connection|Edge)?)|RuleOrigin|SecretComparison|SecretConnection|SecretEdge|SecretImport(Connection|Edge|Entry)|SecretRotation(Attempt(Connection|Edge)|Kinds)|SecretUpdate|SecretUse|SecretVersion(?!Summary)|Subscription|UpcomingSecretRotations|UserEdge|Viewer)/;
