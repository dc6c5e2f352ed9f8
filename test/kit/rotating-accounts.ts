import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from './caller.ts';
import type { Samba, SambaAccount } from './outside/samba.ts';
import type { Seed, SeededProject } from './seed.ts';
import { until } from './until.ts';

const PATH = '/api/v2/secret-rotations/hostos-local-account';
const SETTLED_MS = 120_000;

/** What a kit for rotations needs of a running service. */
interface Parts {
  readonly seed: Seed;
  readonly sql: (text: string, params?: unknown[]) => Promise<object[]>;
}

/** How the password is changed. */
export type Method = 'login-as-target' | 'login-as-root';

/** A rotation, as REST shows it, and the account that it rotates. */
export interface AccountRotation {
  readonly id: string;
  readonly username: string;
  readonly passwordKey: string;
  readonly rotationStatus: string;
  readonly activeIndex: number;
  readonly lastRotationMessage: string | null;
  readonly nextRotationAt: string | null;
}

/** A project in which passwords of a real Samba server are rotated. */
export class RotatingAccounts {
  readonly samba: Samba;
  readonly admin: Caller;
  readonly project: SeededProject;
  readonly connectionId: string;
  /** Passwords that secrets have held, as far as they were read. */
  readonly seen = new Set<string>();
  readonly #parts: Parts;

  private constructor(parts: Parts, samba: Samba, admin: Caller, project: SeededProject, connectionId: string) {
    this.#parts = parts;
    this.samba = samba;
    this.admin = admin;
    this.project = project;
    this.connectionId = connectionId;
  }

  /** The service has to allow private targets. @param port of a proxy before the server; absent: the server itself */
  static async start(parts: Parts, samba: Samba, port = samba.port): Promise<RotatingAccounts> {
    const { admin, project } = await parts.seed.project();
    const { appConnection } = mustSucceed(
      await admin.post('/api/v1/app-connections/smb', {
        name: `server-${randomUUID().slice(0, 8)}`,
        method: 'credentials',
        projectId: project.id,
        credentials: { host: samba.host, port, ...samba.admin },
      }),
    ).body;
    return new RotatingAccounts(parts, samba, admin, project, appConnection.id);
  }

  /** A body for a new rotation. */
  body(method: Method, { username, password }: SambaAccount, changes: object = {}): Record<string, unknown> {
    const word = randomUUID().slice(0, 8);
    return {
      projectId: this.project.id,
      name: `rotation-${word}`,
      connectionId: this.connectionId,
      environment: 'dev',
      secretPath: '/',
      rotationInterval: 30,
      rotateAtUtc: { hours: 2, minutes: 30 },
      parameters: { username, rotationMethod: method },
      secretsMapping: { username: `USER_${word.toUpperCase()}`, password: `PASSWORD_${word.toUpperCase()}` },
      ...(method === 'login-as-target' ? { temporaryParameters: { password } } : {}),
      ...changes,
    };
  }

  post(body: object): Promise<Reply> {
    return this.admin.post(PATH, body);
  }

  async create(method: Method, account: SambaAccount, changes: object = {}): Promise<AccountRotation> {
    return this.#read(mustSucceed(await this.post(this.body(method, account, changes))));
  }

  rotate(id: string): Promise<Reply> {
    return this.admin.post(`${PATH}/${id}/rotate-secrets`, undefined);
  }

  reconcile(id: string): Promise<Reply> {
    return this.admin.post(`${PATH}/${id}/reconcile`, undefined);
  }

  patch(id: string, body: object): Promise<Reply> {
    return this.admin.patch(`${PATH}/${id}`, body);
  }

  delete(id: string, query = ''): Promise<Reply> {
    return this.admin.delete(`${PATH}/${id}${query}`);
  }

  async get(id: string): Promise<AccountRotation> {
    return this.#read(mustSucceed(await this.admin.get(`${PATH}/${id}`)));
  }

  #read({ body: { secretRotation } }: Reply): AccountRotation {
    const { username } = secretRotation.parameters;
    return { ...secretRotation, username, passwordKey: secretRotation.secretsMapping.password };
  }

  /** What a secret holds. */
  async secret(key: string): Promise<string> {
    const query = `projectId=${this.project.id}&environment=dev&secretPath=/&viewSecretValue=true`;
    const value = mustSucceed(await this.admin.get(`/api/v4/secrets/${key}?${query}`)).body.secret.secretValue;
    this.seen.add(value);
    return value;
  }

  /** Whether the password that the secret holds logs in. */
  async works({ username, passwordKey }: AccountRotation): Promise<boolean> {
    return this.samba.takes(username, await this.secret(passwordKey));
  }

  /** Has what waits done at once: jobs, revocations, and what has to wait for calls of processes that are gone. */
  async hurry(): Promise<void> {
    await this.#parts.sql('update credential_debt set next_at = now() where project_id = $1 and next_at > now()', [
      this.project.id,
    ]);
    await this.#parts.sql(
      `update job set wake_at = now() where kind in ('secret-rotations:rotate', 'secret-rotations:pay-debts')
         and state = 'waiting' and wake_at > now() and subject_id in (
           select id from secret_rotation where project_id = $1 union all select id from app_connection where project_id = $1)`,
      [this.project.id],
    );
  }

  /** Waits until no attempt of the project is open. */
  async settled(): Promise<void> {
    await until('every attempt to have ended', SETTLED_MS, async () => {
      await this.hurry();
      const [row] = (await this.#parts.sql(
        'select count(*) as count from secret_rotation_attempt where project_id = $1 and ended_at is null',
        [this.project.id],
      )) as { count: string }[];
      return Number(row?.count) === 0;
    });
  }
}
