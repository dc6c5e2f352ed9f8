import { randomUUID } from 'node:crypto';
import { Caller, mustSucceed } from './caller.ts';
import { type Sql, type StoredJob, storeJob } from './jobs.ts';

interface SeededEnvironment {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

export interface SeededProject {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  /** dev, staging and prod, unless the seed said otherwise. */
  readonly environments: readonly [SeededEnvironment, SeededEnvironment, SeededEnvironment];
}

export interface SeededCaller {
  readonly organizationRole?: 'admin' | 'member' | 'no-access';
  /** Id of a project that the caller becomes a member of. */
  readonly project?: string;
  readonly projectRoles?: readonly string[];
  readonly tokenAuth?: Readonly<Record<string, unknown>>;
}

const short = (): string => randomUUID().slice(0, 8);

/** Makes what tests need, each in an organization of its own, through the interface of the service. */
export class Seed {
  readonly #installationAdmin: Caller;
  readonly #sql: Sql | undefined;

  /** @param sql for what no request makes */
  constructor(installationAdmin: Caller, sql?: Sql) {
    this.#installationAdmin = installationAdmin;
    this.#sql = sql;
  }

  /** A job, by default one that waits and that nobody does. @returns its id */
  job(given: Partial<StoredJob>): Promise<string> {
    if (this.#sql === undefined) throw new Error('this seed knows no database');
    return storeJob(this.#sql, given);
  }

  /** A message of an alert that was given up. @returns its id */
  async failedMessage(alertId: string): Promise<string> {
    if (this.#sql === undefined) throw new Error('this seed knows no database');
    const [message] = (await this.#sql(
      `insert into notification_message (id, organization_id, project_id, source, owner_id, channel_id, channel_type, recipient, event, state, attempts,
         give_up_at, error_code, ended_at)
       select gen_random_uuid(), organization_id, project_id, 'certificate-alert', alert_id, id, channel_type, '', 'expiration', 'failed', 3, now(),
         'TARGET_UNREACHABLE', now()
       from certificate_alert_channel where alert_id = $1 and position = 1 returning id`,
      [alertId],
    )) as { id: string }[];
    return message?.id ?? '';
  }

  /** A message of a notification channel that was given up. @returns its id */
  async failedNotice(channelId: string): Promise<string> {
    if (this.#sql === undefined) throw new Error('this seed knows no database');
    const [message] = (await this.#sql(
      `insert into notification_message (id, organization_id, project_id, source, owner_id, channel_id, channel_type, recipient, event, state, attempts,
         give_up_at, error_code, ended_at)
       select gen_random_uuid(), organization_id, project_id, 'project-notice', project_id, id, channel_type, '', 'secret-reminder', 'failed', 3, now(),
         'TARGET_UNREACHABLE', now()
       from notification_channel where id = $1 returning id`,
      [channelId],
    )) as { id: string }[];
    return message?.id ?? '';
  }

  /** A paused re-encryption of a project, for which no job was queued. @returns its id */
  async reencryption(projectId: string): Promise<string> {
    if (this.#sql === undefined) throw new Error('this seed knows no database');
    const [made] = (await this.#sql(
      `insert into project_reencryption (id, organization_id, project_id, state)
       select gen_random_uuid(), organization_id, id, 'paused' from project where id = $1 returning id`,
      [projectId],
    )) as { id: string }[];
    return made?.id ?? '';
  }

  /** A connection of a project to a host that does not exist, with a password that cannot be decrypted. @returns its id */
  async smbConnection(projectId: string, name: string): Promise<string> {
    if (this.#sql === undefined) throw new Error('this seed knows no database');
    const [made] = (await this.#sql(
      `insert into app_connection (id, organization_id, project_id, app, method, name, public_part, credentials_sealed, credentials_hash, next_check_at)
       select gen_random_uuid(), organization_id, id, 'smb', 'credentials', $2, $3, '', '', now() + interval '1 day' from project where id = $1
       returning id`,
      [projectId, name, { host: 'host.example.com', port: 445, domain: null, username: 'svc' }],
    )) as { id: string }[];
    return made?.id ?? '';
  }

  /** A rotation of an account by a connection of a project, in its environment prod, with neither credential nor secrets. @returns its id */
  async accountRotation(connectionId: string, name: string): Promise<string> {
    if (this.#sql === undefined) throw new Error('this seed knows no database');
    const [made] = (await this.#sql(
      `insert into secret_rotation (id, organization_id, project_id, environment_id, folder_id, connection_id, type, name, parameters, secrets_mapping,
         is_auto_rotation_enabled, rotation_interval, rotate_at_hours, rotate_at_minutes, schedule, status, generation, attempts)
       select gen_random_uuid(), c.organization_id, c.project_id, e.id, f.id, c.id, 'hostos-local-account', $2, $3, $4, false, 30, 0, 0, $5, 'success', 1, 1
       from app_connection c join environment e on e.project_id = c.project_id and e.slug = 'prod'
         join folder f on f.environment_id = e.id and f.path = '/'
       where c.id = $1 returning id`,
      [
        ...[connectionId, name, { username: 'backup', passwordRequirements: null, rotationMethod: 'login-as-root' }],
        ...[
          { username: 'USER', password: 'PASSWORD' },
          { timeZone: 'UTC', missed: 'as-soon-as-possible', apart: [] },
        ],
      ],
    )) as { id: string }[];
    return made?.id ?? '';
  }

  /** An attempt of a rotation that is planned, and that nobody carries out. @returns its id */
  async waitingAttempt(rotationId: string): Promise<string> {
    if (this.#sql === undefined) throw new Error('this seed knows no database');
    const [made] = (await this.#sql(
      `with attempt as (
         insert into secret_rotation_attempt (id, organization_id, project_id, rotation_id, number, reason, state, name, candidate_sealed, actor_kind, actor_id)
         select gen_random_uuid(), organization_id, project_id, id, 1, 'manual', 'planned', 'none-1', '', 'system', gen_random_uuid()
         from secret_rotation where id = $1 returning id)
       update secret_rotation set status = 'in_progress', last_attempt_id = attempt.id from attempt where secret_rotation.id = $1 returning attempt.id`,
      [rotationId],
    )) as { id: string }[];
    return made?.id ?? '';
  }

  /** A credential of a deleted rotation that is to be revoked, some day. @returns its id */
  async credentialDebt(connectionId: string): Promise<string> {
    if (this.#sql === undefined) throw new Error('this seed knows no database');
    const [made] = (await this.#sql(
      `insert into credential_debt (id, organization_id, project_id, rotation_id, connection_id, type, reason, parameters, name, next_at)
       select gen_random_uuid(), organization_id, project_id, gen_random_uuid(), id, 'hostos-local-account', 'orphaned', '{}', 'backup',
         now() + interval '1 year'
       from app_connection where id = $1 returning id`,
      [connectionId],
    )) as { id: string }[];
    return made?.id ?? '';
  }

  async organization(): Promise<{ organization: { id: string; slug: string; name: string }; admin: Caller }> {
    const slug = `org-${short()}`;
    const { createOrganization } = await this.#installationAdmin.data(
      `mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { organization { id slug name } identityId accessToken } }`,
      { input: { name: slug, slug } },
    );
    const { organization, accessToken, identityId } = createOrganization;
    return { organization, admin: new Caller(this.#installationAdmin.url, accessToken, identityId) };
  }

  /** Runs `work` with the admin of a new organization, who is an admin of the installation meanwhile. */
  async withInstallationAdmin<T>(
    work: (made: { organization: { id: string; slug: string }; admin: Caller }) => Promise<T>,
  ): Promise<T> {
    if (this.#sql === undefined) throw new Error('this seed knows no database');
    const made = await this.organization();
    const set = 'update identity set is_installation_admin = $2 where id = $1';
    await this.#sql(set, [made.admin.identityId, true]);
    try {
      return await work(made);
    } finally {
      await this.#sql(set, [made.admin.identityId, false]);
    }
  }

  async project(
    body: Readonly<Record<string, unknown>> = {},
  ): Promise<{ organization: { id: string; slug: string }; admin: Caller; project: SeededProject }> {
    const { organization, admin } = await this.organization();
    return { organization, admin, project: await this.projectOf(admin, body) };
  }

  /** A project made by this caller, in its organization. */
  async projectOf(admin: Caller, body: Readonly<Record<string, unknown>> = {}): Promise<SeededProject> {
    return mustSucceed(await admin.post('/api/v2/workspace', { projectName: `Project ${short()}`, ...body })).body
      .project;
  }

  /** A new machine identity with a token, in the organization of `admin`. */
  async caller(
    admin: Caller,
    { organizationRole = 'no-access', project, projectRoles = ['viewer'], tokenAuth = {} }: SeededCaller = {},
  ): Promise<Caller> {
    const { identity } = (
      await admin.data('query { organization { id } }').then(async ({ organization }) =>
        mustSucceed(
          await admin.post('/api/v1/identities', {
            name: `identity-${short()}`,
            organizationId: organization.id,
            role: organizationRole,
          }),
        ),
      )
    ).body;
    mustSucceed(await admin.post(`/api/v1/auth/token-auth/identities/${identity.id}`, tokenAuth));
    if (project !== undefined) {
      const roles = projectRoles.map((role) => ({ role }));
      mustSucceed(await admin.post(`/api/v2/workspace/${project}/identity-memberships/${identity.id}`, { roles }));
    }
    const { accessToken } = mustSucceed(
      await admin.post(`/api/v1/auth/token-auth/identities/${identity.id}/tokens`, {}),
    ).body;
    return new Caller(admin.url, accessToken, identity.id);
  }

  /** A new user with a personal token, in the organization of `admin`. */
  async user(
    admin: Caller,
    { project, projectRoles = ['viewer'] }: Pick<SeededCaller, 'project' | 'projectRoles'> = {},
  ): Promise<Caller & { readonly userId: string }> {
    const { createUser } = await admin.data(
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }',
      { input: { username: `user-${short()}` } },
    );
    const userId = createUser.user.id as string;
    if (project !== undefined) {
      const roles = projectRoles.map((role) => ({ role }));
      mustSucceed(await admin.post(`/api/v1/projects/${project}/memberships`, { userId, roles }));
    }
    const { createPersonalAccessToken } = await admin.data(
      'mutation ($input: CreatePersonalAccessTokenInput!) { createPersonalAccessToken(input: $input) { accessToken } }',
      { input: { userId } },
    );
    return Object.assign(new Caller(admin.url, createPersonalAccessToken.accessToken), { userId });
  }

  /** A new group in the organization of `admin`, with these machine identities. */
  async group(
    admin: Caller,
    ...members: readonly Pick<Caller, 'identityId'>[]
  ): Promise<{ readonly id: string; readonly slug: string; readonly name: string }> {
    const group = mustSucceed(await admin.post('/api/v1/groups', { name: `Group ${short()}` })).body;
    for (const { identityId } of members)
      mustSucceed(await admin.post(`/api/v1/groups/${group.id}/machine-identities/${identityId}`, {}));
    return group;
  }

  /** `KEY_00000` to `KEY_<count-1>` with values `value-<n>`, in batches. Answers the keys in order. */
  async secrets(
    admin: Caller,
    project: { readonly id: string },
    environment: string,
    count: number,
    change: (secret: Record<string, unknown>, index: number) => Record<string, unknown> = (secret) => secret,
    secretPath = '/',
  ): Promise<string[]> {
    const secrets = Array.from({ length: count }, (_, index) =>
      change({ secretKey: `KEY_${String(index).padStart(5, '0')}`, secretValue: `value-${index}` }, index),
    );
    for (let at = 0; at < count; at += 500) {
      mustSucceed(
        await admin.post('/api/v4/secrets/batch', {
          projectId: project.id,
          environment,
          secretPath,
          secrets: secrets.slice(at, at + 500),
        }),
      );
    }
    return secrets.map(({ secretKey }) => String(secretKey));
  }
}
