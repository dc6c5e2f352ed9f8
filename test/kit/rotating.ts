import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from './caller.ts';
import { FakeDatatool } from './datatool.ts';
import type { Seed, SeededProject } from './seed.ts';
import { until } from './until.ts';

const PATH = '/api/v2/secret-rotations/datatool-service-token';
const SETTLED_MS = 60_000;

/** What a kit for rotations needs of a running service. */
interface Parts {
  readonly seed: Seed;
  readonly sql: (text: string, params?: unknown[]) => Promise<object[]>;
}

/** A rotation, as REST shows it. */
export interface Rotation {
  readonly id: string;
  readonly name: string;
  readonly rotationStatus: string;
  readonly activeIndex: number;
  readonly nextRotationAt: string | null;
  readonly lastRotationMessage: string | null;
}

/** A project whose tokens of an analytics tool are rotated, and the stand-in for that tool. */
export class Rotating {
  readonly fake: FakeDatatool;
  /** Another one after the service was started anew. */
  admin: Caller;
  readonly project: SeededProject;
  readonly connectionId: string;
  private readonly parts: Parts;

  private constructor(parts: Parts, fake: FakeDatatool, admin: Caller, project: SeededProject, connectionId: string) {
    this.parts = parts;
    this.fake = fake;
    this.admin = admin;
    this.project = project;
    this.connectionId = connectionId;
  }

  /** The service has to allow private targets. */
  static async start(parts: Parts): Promise<Rotating> {
    const fake = (await FakeDatatool.start()).unref();
    const { admin, project } = await parts.seed.project();
    const { appConnection } = mustSucceed(
      await admin.post('/api/v1/app-connections/datatool', {
        name: `tool-${randomUUID().slice(0, 8)}`,
        method: 'api-token',
        projectId: project.id,
        credentials: fake.credentials,
      }),
    ).body;
    return new Rotating(parts, fake, admin, project, appConnection.id);
  }

  stop(): Promise<void> {
    return this.fake.stop();
  }

  /** A body for a new rotation. */
  body(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    const word = randomUUID().slice(0, 8);
    return {
      projectId: this.project.id,
      name: `rotation-${word}`,
      connectionId: this.connectionId,
      environment: 'dev',
      secretPath: '/',
      rotationInterval: 30,
      rotateAtUtc: { hours: 2, minutes: 30 },
      parameters: { tokenName: 'reporting', permissionGrants: [{ permissionSet: 'job_viewer' }] },
      secretsMapping: { serviceToken: `TOKEN_${word.toUpperCase()}` },
      ...changes,
    };
  }

  post(changes: Readonly<Record<string, unknown>> = {}): Promise<Reply> {
    return this.admin.post(PATH, this.body(changes));
  }

  async create(changes: Readonly<Record<string, unknown>> = {}): Promise<Rotation> {
    return mustSucceed(await this.post(changes)).body.secretRotation;
  }

  rotate(id: string, caller = this.admin): Promise<Reply> {
    return caller.post(`${PATH}/${id}/rotate-secrets`, undefined);
  }

  /** Begins to rotate, and does not wait for the end. */
  begin(id: string): Promise<unknown> {
    return this.admin.data(
      'mutation ($input: RotateSecretsInput!) { rotateSecrets(input: $input) { attempt { state } } }',
      { input: { id, wait: false } },
    );
  }

  delete(id: string, query = ''): Promise<Reply> {
    return this.admin.delete(`${PATH}/${id}${query}`);
  }

  async get(id: string): Promise<Rotation> {
    return mustSucceed(await this.admin.get(`${PATH}/${id}`)).body.secretRotation;
  }

  /** Its credentials by slot, in clear. */
  async credentials(id: string): Promise<{ serviceToken: string; tokenId: string; tokenName: string }[]> {
    return mustSucceed(await this.admin.get(`${PATH}/${id}/generated-credentials`)).body.generatedCredentials;
  }

  /** What the mapped secret of a rotation holds. */
  async secretOf(id: string): Promise<string> {
    const [row] = (await this.parts.sql('select key from secret_rotation_key where rotation_id = $1', [id])) as {
      key: string;
    }[];
    const query = `projectId=${this.project.id}&environment=dev&secretPath=/&viewSecretValue=true`;
    return mustSucceed(await this.admin.get(`/api/v4/secrets/${row?.key}?${query}`)).body.secret.secretValue;
  }

  /** Has what failed tried again at once, and calls whose answers were lost be too long ago to have an effect any more. */
  async hurry(): Promise<void> {
    await this.parts.sql(
      `update credential_debt set settled_at = now(), next_at = now() where project_id = $1
         and (next_at > now() or settled_at > now())`,
      [this.project.id],
    );
    await this.parts.sql(
      `update unresponsive_target set next_try_at = now() where next_try_at > now() and organization_id = (select organization_id from project where id = $1)`,
      [this.project.id],
    );
    await this.parts.sql(
      `update job set wake_at = now() where kind in ('secret-rotations:rotate', 'secret-rotations:pay-debts')
         and state = 'waiting' and wake_at > now()
         and subject_id in (select id from secret_rotation where project_id = $1 union all select $2)`,
      [this.project.id, this.connectionId],
    );
  }

  /** Waits until no attempt of the project is open and it owes nothing. */
  async settled(): Promise<void> {
    await until('every attempt to have ended, and nothing to be left to revoke', SETTLED_MS, async () => {
      await this.hurry();
      const [row] = (await this.parts.sql(
        `select (select count(*) from secret_rotation_attempt where project_id = $1 and ended_at is null)
           + (select count(*) from credential_debt where project_id = $1) as count`,
        [this.project.id],
      )) as { count: string }[];
      return Number(row?.count) === 0;
    });
  }

  /** That all is whole: the secret holds the published token, which works, and no token is live that no slot has. */
  async expectWhole(id: string): Promise<void> {
    const rotation = await this.get(id);
    const credentials = await this.credentials(id);
    assert.match(rotation.rotationStatus, /^(success|failed)$/);
    const active = credentials[rotation.activeIndex];
    assert.equal(await this.secretOf(id), active?.serviceToken);
    assert.ok(this.fake.tokens.works(active?.serviceToken ?? ''), 'the published token works');
    const known = credentials.map(({ tokenId }) => Number(tokenId)).toSorted();
    assert.deepEqual(this.liveTokens(id), known, 'the live tokens are those of the slots');
  }

  /** Ids of the live tokens that a rotation has made. */
  liveTokens(id: string): number[] {
    const own = this.fake.tokens.live().filter(({ name }) => name.includes(`-${id.slice(0, 8)}-`));
    return own.map((token) => token.id).toSorted();
  }

  /** That it rotates once more, and is whole after it. */
  async expectRotates(id: string): Promise<void> {
    const reply = await this.rotate(id);
    assert.equal(reply.body.secretRotation?.rotationStatus, 'success', reply.text);
    await this.settled();
    await this.expectWhole(id);
  }

  /** That nothing is left when it is deleted with all that it has made. */
  async expectLeavesNothing(id: string): Promise<void> {
    mustSucceed(await this.delete(id, '?revokeGeneratedCredentials=true&deleteSecrets=true'));
    await this.settled();
    assert.deepEqual(this.liveTokens(id), []);
    const left = await this.parts.sql(
      `select 'rotation' as row from secret_rotation where id = $1
       union all select 'key' from secret_rotation_key where rotation_id = $1
       union all select 'credential' from secret_rotation_credential where rotation_id = $1
       union all select 'secret' from secret where rotation_id = $1`,
      [id],
    );
    assert.deepEqual(left, []);
  }

  /** Has another node take over what a lost one did. */
  async endLeases(): Promise<void> {
    await this.parts.sql(`update job set wake_at = now() where state = 'running'`);
  }
}
