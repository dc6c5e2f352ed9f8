import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller, mustSucceed } from '../kit/caller.ts';
import { TransitServer } from '../kit/outside/transit.ts';
import { runProgram } from '../kit/programs.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { verifyAudit } from '../kit/verify-audit.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withPostgres } from './installation.ts';

type Env = Readonly<Record<string, string>>;

/** An installation whose secrets are all read at each of its nodes. */
class Secrets {
  readonly #token: string;
  readonly #kept: { readonly token: string; readonly projectId: string }[] = [];

  constructor(token: string) {
    this.#token = token;
  }

  get count(): number {
    return this.#kept.length;
  }

  /** A secret in an organization of its own, which has a key of its own. */
  async add(service: Service): Promise<void> {
    const { admin, project } = await new Seed(new Caller(service.url, this.#token)).project();
    await new Seed(admin).secrets(admin, project, 'dev', 1);
    this.#kept.push({ token: admin.token ?? '', projectId: project.id });
  }

  async readAll(service: Service): Promise<void> {
    for (const { token, projectId } of this.#kept) {
      const at = `projectId=${projectId}&environment=dev`;
      const { secret } = mustSucceed(await new Caller(service.url, token).get(`/api/v4/secrets/KEY_00000?${at}`)).body;
      expectThat(secret.secretValue === 'value-0', `a value reads ${secret.secretValue}`);
    }
  }

  /** Starts a node, reads every value, adds one, and stops it. */
  async work(env: Env): Promise<void> {
    const service = await Service.start({ env });
    await this.readAll(service);
    await this.add(service);
    await service.stop();
    await service.dispose();
  }
}

export const check: Check = {
  id: 'C06',
  title: 'the root key changes between the configuration and keys of transit while nodes run and start',
  fullTimes: 3,
  needsQuiet: true,
  run: (times) =>
    withPostgres(async (freshDatabase) => {
      const home = await mkdtemp(join(tmpdir(), 'strongroom-fault-'));
      const transit = await TransitServer.start();
      transit.rotate('other');
      await writeFile(join(home, 'ca.pem'), transit.authority.pem);
      const token = mintToken();
      let [changes, values] = [0, 0];
      try {
        await repeat(times, async (index) => {
          const base = {
            ...{ DATABASE_URL: await freshDatabase(`transit_${index}`), BOOTSTRAP_TOKEN: token },
            ...{ TRANSIT_TOKEN: transit.token, TRANSIT_CA_FILE: join(home, 'ca.pem') },
          };
          const secrets = new Secrets(token);
          const own = randomBytes(32).toString('base64');
          const order = [transit.setting(), own, transit.setting(), transit.setting('other'), transit.setting()];
          await secrets.work({ ...base, ROOT_KEY: order[0] as string });
          for (const [at, next] of order.slice(1).entries()) {
            const both = { ...base, ROOT_KEY: order[at] as string, NEXT_ROOT_KEY: next };
            const node = await Service.start({ env: both });
            await secrets.add(node);
            const { code, output } = await runProgram('rotate-root-key', both);
            expectThat(code === 0, `the program ended with ${code}:\n${output}`);
            await secrets.add(node);
            await secrets.readAll(node);
            await node.stop();
            await node.dispose();
            await secrets.work(both);
            await secrets.work({ ...base, ROOT_KEY: next });
            changes += 1;
          }
          const { code, output } = await verifyAudit({ ...base, ROOT_KEY: order.at(-1) as string });
          expectThat(code === 0, `the audit trail is not intact:\n${output}`);
          values += secrets.count;
        });
      } finally {
        await transit.server.stop();
        await rm(home, { recursive: true, force: true });
      }
      return `${changes} changes, each of ${values} values read at every node`;
    }),
};
