import { randomBytes } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller, mustSucceed } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { withClient } from '../kit/tables.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withInstallation } from './installation.ts';
import { untilHealthy, untilWhole } from './steady-writers.ts';

const CALLERS = 8;
/** As a client sends it alone, by type, length and text; and together with other statements, by a name, which is empty, and the text. */
const COMMITS = [
  Buffer.concat([Buffer.from('Q'), Buffer.from([0, 0, 0, 11]), Buffer.from('commit\0')]),
  Buffer.from('\0commit\0'),
];

/** A relay before Postgres that cuts connections at their commit: before the server has it, or before its answer passes. */
class CommitCutter {
  readonly url: string;
  cuts = 0;
  /** How many of the next commits are cut. */
  left = 0;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(server: Server, url: string) {
    [this.#server, this.url] = [server, url];
  }

  static async start(databaseUrl: string): Promise<CommitCutter> {
    const url = new URL(databaseUrl);
    const path = `${decodeURIComponent(url.hostname)}/.s.PGSQL.5432`;
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as { port: number }).port);
    const cutter = new CommitCutter(server, url.href);
    server.on('connection', (near) => cutter.#forward(near, connect(path)));
    return cutter;
  }

  async stop(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((closed) => this.#server.close(closed));
  }

  #forward(near: Socket, far: Socket): void {
    let isSilent = false;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#open.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#open.delete(from);
        to.destroy();
      });
    }
    far.on('data', (chunk) => (isSilent ? near.destroy() : near.write(chunk)));
    near.on('data', (chunk: Buffer) => {
      if (this.left === 0 || !COMMITS.some((commit) => chunk.includes(commit))) return void far.write(chunk);
      this.left -= 1;
      this.cuts += 1;
      // Every second commit reaches the server, and nobody hears of it.
      if (this.cuts % 2 === 0) {
        isSilent = true;
        far.write(chunk);
      } else near.destroy();
    });
  }
}

/** Callers that make tokens, each with a name of its own: nothing in the database refuses a second one. */
async function makeTokens(admin: Caller, identity: string, cutter: CommitCutter) {
  const [acknowledged, refused] = [new Set<string>(), new Set<string>()];
  const path = `/api/v1/auth/token-auth/identities/${identity}/tokens`;
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, index) => {
      for (let number = 0; cutter.left > 0; number += 1) {
        const name = `token ${index} ${number}`;
        const reply = await admin.post(path, { name });
        const isPassing = reply.status === 503 || reply.status === 504;
        expectThat(reply.status === 200 || isPassing, `a request is answered ${reply.status}: ${reply.text}`);
        (isPassing ? refused : acknowledged).add(name);
      }
    }),
  );
  return { acknowledged, refused };
}

export const check: Check = {
  id: 'C41',
  title: 'connections are cut during their commit',
  fullTimes: 50,
  run: (times) =>
    withInstallation(async (installation) => {
      const databaseUrl = await installation.freshDatabase('cut_commits');
      const cutter = await CommitCutter.start(databaseUrl);
      const token = mintToken();
      const service = await Service.start({
        env: { DATABASE_URL: cutter.url, ROOT_KEY: randomBytes(32).toString('base64'), BOOTSTRAP_TOKEN: token },
      });
      try {
        const admin = new Caller(service.url, token);
        const seed = new Seed(admin);
        let [sent, refused] = [0, 0];
        await repeat(times, async () => {
          const [owner, other] = [await seed.organization(), await seed.project()];
          const identity = await seed.caller(owner.admin, { tokenAuth: {} });
          cutter.left = 4;
          const made = await makeTokens(owner.admin, identity.identityId as string, cutter);
          await untilHealthy(other);
          const rows = await withClient(databaseUrl, async (client) => {
            const text =
              'select name, count(*)::int as count from access_token where identity_id = $1 and name is not null group by name';
            return (await client.query<{ name: string; count: number }>(text, [identity.identityId])).rows;
          });
          const doubled = rows.filter(({ count }) => count > 1);
          expectThat(doubled.length === 0, `${doubled.length} tokens were made twice`);
          const names = new Set(rows.map(({ name }) => name));
          const lost = [...made.acknowledged].filter((name) => !names.has(name));
          expectThat(lost.length === 0, `${lost.length} acknowledged tokens are lost`);
          sent += made.acknowledged.size + made.refused.size;
          refused += made.refused.size;
          await untilWhole(admin);
        });
        expectThat(refused >= times, `only ${refused} requests met a cut`);
        mustSucceed(await admin.get('/api/v1/projects'));
        expectThat((await service.stop()) === 0, 'the service did not stop with 0');
        return `${cutter.cuts} commits cut, ${sent} requests, ${refused} of them 503 or 504, 0 doubled, 0 lost`;
      } finally {
        await service.kill();
        await service.dispose();
        await cutter.stop();
      }
    }),
};
