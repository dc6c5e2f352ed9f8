import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { Caller, mustSucceed } from './caller.js';
import { type Made, newIntermediate, newLeaf, newRoot } from './certificates/material.js';
import { migratedDatabase } from './databases.js';
import { Authority, type ServerCertificate } from './outside/authority.js';
import { MailServer } from './outside/mail-server.js';
import { OutsideServer } from './outside/outside-server.js';
import { MAKE_DUE } from './schedules.js';
import { Seed } from './seed.js';
import { Service } from './service.js';
import { smallPool } from './tables.js';
import { until } from './until.js';

const ALERTS = '/api/v1/cert-manager/alerts';
const CERTIFICATES = '/api/v1/cert-manager/certificates';

interface Parts {
  readonly directory: string;
  readonly certificate: ServerCertificate;
  readonly env: Readonly<Record<string, string>>;
  readonly issuer: Made;
}

/** A service that may notify servers of this machine, with a project that has certificates. */
export class Notifying {
  mail: MailServer;
  service: Service;
  readonly admin: Caller;
  readonly projectId: string;
  private readonly parts: Parts;
  private readonly database: pg.Pool;
  private readonly servers: OutsideServer[] = [];

  private constructor(parts: Parts, mail: MailServer, service: Service, admin: Caller, projectId: string) {
    this.parts = parts;
    this.database = smallPool(parts.env.DATABASE_URL as string);
    this.mail = mail;
    this.service = service;
    this.admin = admin;
    this.projectId = projectId;
  }

  /** @param databaseUrl a database of its own; absent: one of the test run */
  static async start(databaseUrl?: string): Promise<Notifying> {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-notifying-'));
    const authority = await Authority.create();
    const certificate = await authority.issue(['localhost']);
    await writeFile(join(directory, 'authority.pem'), authority.pem);
    const mail = await MailServer.start({ certificate });
    const env = {
      DATABASE_URL: databaseUrl ?? (await migratedDatabase()),
      ROOT_KEY: randomBytes(32).toString('base64'),
      NODE_EXTRA_CA_CERTS: join(directory, 'authority.pem'),
      ALLOW_PRIVATE_TARGETS: 'true',
      SMTP_URL: `smtp://localhost:${mail.port}`,
      MAIL_FROM: 'vault@example.com',
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'info',
    };
    const service = await Service.start({ env }).catch(async (error: unknown) => {
      // An open server would keep the test run from its end.
      await mail.stop();
      throw error;
    });
    const token = await service.firstToken();
    const { admin, project } = await new Seed(new Caller(service.url, token)).project({ type: 'cert-manager' });
    const issuer = await newIntermediate(await newRoot());
    return new Notifying({ directory, certificate, env, issuer }, mail, service, admin, project.id);
  }

  /** An external system that answers as it is told. */
  async server(answer: RequestListener = (_, response) => response.writeHead(200).end()): Promise<OutsideServer> {
    const server = await OutsideServer.start(this.parts.certificate, answer);
    this.servers.push(server);
    return server;
  }

  /** An external system whose certificate nobody here trusts. */
  async distrusted(): Promise<OutsideServer> {
    const certificate = await (await Authority.create()).issue(['localhost']);
    const server = await OutsideServer.start(certificate, (_, response) => response.writeHead(200).end());
    this.servers.push(server);
    return server;
  }

  /** Makes an alert. @returns its id */
  async alert(channels: readonly object[], more: object = {}): Promise<string> {
    const body = { name: 'alert', eventType: 'expiration', alertBefore: '30d', filters: [], projectId: this.projectId };
    return mustSucceed(await this.admin.post(ALERTS, { ...body, channels, ...more })).body.alert.id;
  }

  /** Imports a certificate. @returns its id */
  async certificate(lastsDays: number, commonName = 'shop.example.com', more: object = {}): Promise<string> {
    const { pem } = await newLeaf(this.parts.issuer, { commonName, lastsDays });
    const body = { projectId: this.projectId, certificate: pem, ...more };
    return mustSucceed(await this.admin.post(`${CERTIFICATES}/import`, body)).body.certificate.id;
  }

  /** Copies a certificate under other names and serial numbers: rows stand in for as many imports. */
  async certificates(count: number, certificateId: string): Promise<void> {
    await this.sql(
      `insert into certificate (id, organization_id, project_id, lineage_id, source, common_name, sans, serial_number, not_before, not_after,
         key_algorithm, fingerprint_sha256, certificate, chain, is_ca)
       select copy.id, c.organization_id, c.project_id, copy.id, c.source, copy.name, array[copy.name], c.serial_number || n, c.not_before,
         c.not_after, c.key_algorithm, 'copy ' || copy.id, c.certificate, c.chain, c.is_ca
       from certificate c, generate_series(1, $2) as n
         cross join lateral (select gen_random_uuid() as id, 'host' || n || '.example.com' as name) as copy
       where c.id = $1`,
      [certificateId, count],
    );
  }

  /** A second node on the same database. */
  anotherNode(): Promise<Service> {
    return Service.start({ env: this.parts.env });
  }

  async revoke(certificateId: string): Promise<void> {
    mustSucceed(await this.admin.post(`${CERTIFICATES}/${certificateId}/revoke`, { reason: 'keyCompromise' }));
  }

  async sql<R extends object>(text: string, params: readonly unknown[] = []): Promise<R[]> {
    return (await this.database.query<R>(text, params.length === 0 ? undefined : [...params])).rows;
  }

  /** A member of the project with a role of its own. */
  async member(permissions: readonly object[]): Promise<Caller> {
    const slug = `role-${randomBytes(4).toString('hex')}`;
    const body = { slug, name: slug, permissions };
    mustSucceed(await this.admin.post(`/api/v1/projects/${this.projectId}/roles`, body));
    return new Seed(this.admin).caller(this.admin, { project: this.projectId, projectRoles: [slug] });
  }

  /** As if the schedule of a kind were due. */
  async runSchedule(kind: string): Promise<void> {
    await this.sql(MAKE_DUE, [kind]);
  }

  /** Runs a schedule, and waits until it and the jobs that it has queued, of these kinds, have ended. */
  async runToEnd(
    kind: string,
    { queued = [], withinMs = 50_000 }: { readonly queued?: readonly string[]; readonly withinMs?: number } = {},
  ): Promise<void> {
    await this.sql('delete from job where kind = $1 and every_seconds is null', [kind]);
    await this.runSchedule(kind);
    await this.hurry();
    await until(`${kind} to end`, withinMs, async () => {
      const open = await this.sql(
        `select from job where kind = any($2) and state in ('waiting', 'running')
         union all select from job where kind = $1 and wake_at <= now()`,
        [kind, [kind, ...queued]],
      );
      return open.length === 0;
    });
  }

  /** Once alerts have looked at all certificates that were imported. */
  async imported(): Promise<void> {
    await until('alerts to look at what was imported', 30_000, async () => {
      const open = await this.sql(
        `select from job where kind = 'certificate-alerts:import' and state in ('waiting', 'running')`,
      );
      return open.length === 0;
    });
  }

  /** Messages of an alert by their state. */
  messages(alertId: string): Promise<{ state: string; attempts: number; error_code: string | null; wait: number }[]> {
    return this.sql(
      `select state, attempts, error_code, extract(epoch from next_at - now())::double precision as wait
       from notification_message where owner_id = $1 order by created_at, id`,
      [alertId],
    );
  }

  /** What waits at channels is due now. */
  async hurry(kind = 'certificate-alerts:send'): Promise<void> {
    await this.sql('update notification_message set next_at = now() where next_at is not null');
    await this.sql(`update job set wake_at = now() where kind = $1 and state = 'waiting'`, [kind]);
  }

  /** Ids of the messages that are sent, by their rows. */
  async sentIds(): Promise<ReadonlySet<string>> {
    const rows = await this.sql<{ id: string }>(`select id from notification_message where state = 'sent'`);
    return new Set(rows.map(({ id }) => id));
  }

  /** Rows of the ledger, and how many keys they have. */
  async ledger(): Promise<{ rows: number; keys: number }> {
    const [found] = await this.sql<{ rows: number; keys: number }>(
      `select count(*)::int as rows, count(distinct (owner_id, subject_id, event, channel_id, recipient, occurrence))::int as keys
       from notification_delivery`,
    );
    return found ?? { rows: 0, keys: 0 };
  }

  /** The leases of a node that was killed are over. */
  async endLeases(): Promise<void> {
    await this.sql(`update job set wake_at = now() where state = 'running'`);
  }

  /** The mail server is away. @returns what brings it back, with what it received before forgotten */
  async withoutMail(): Promise<() => Promise<void>> {
    const { port } = this.mail;
    await this.mail.stop();
    return async () => {
      this.mail = await MailServer.start({ certificate: this.parts.certificate, port });
    };
  }

  /** The database's clock moves ahead, as far as messages and their jobs can tell. */
  async advanceClock(seconds: number): Promise<void> {
    await this.sql(
      `update notification_message set next_at = next_at - $1::interval, give_up_at = give_up_at - $1::interval,
         created_at = created_at - $1::interval where state = 'pending'`,
      [`${seconds} seconds`],
    );
    await this.sql(`update job set wake_at = wake_at - $1::interval where state = 'waiting' and kind like '%:send'`, [
      `${seconds} seconds`,
    ]);
  }

  async kill(): Promise<void> {
    await this.service.kill();
  }

  /** Starts the service anew on the same database. */
  async restart(): Promise<void> {
    this.service = await Service.start({ env: this.parts.env });
  }

  async stop(): Promise<void> {
    await this.service.kill();
    await this.service.dispose();
    for (const server of this.servers) await server.stop();
    await this.mail.stop();
    await this.database.end();
    await rm(this.parts.directory, { recursive: true, force: true });
  }
}
