import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Caller, mustSucceed } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withInstallation } from './installation.ts';

const LISTS = 500;
const SECRETS = 1_000;
/** What runs and what waits. */
const QUEUE = 110;
const REFUSED_WITHIN_MS = 1_000;
/** What another token waits for a list of ten, and for a list of its own of a thousand. */
const LIGHT_WITHIN_MS = 1_000;

interface Asked {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly ms: number;
}

function ask({ url, token }: Caller, path: string, agent: Agent): Promise<Asked> {
  // From the moment it is sent: five hundred connections take this process some time.
  let begun = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      const { statusCode: status = 0, headers } = response;
      response.resume().once('end', () => {
        resolve({ status, retryAfter: headers['retry-after'], ms: performance.now() - begun });
      });
    });
    sent.on('error', reject);
    sent.once('socket', (socket) => socket.once('connect', () => (begun = performance.now())));
    sent.end();
  });
}

const slowest = (all: readonly Asked[]): number => Math.max(...all.map(({ ms }) => ms));

async function overload(admin: Caller): Promise<string> {
  const seed = new Seed(admin);
  const project = await seed.projectOf(admin);
  await seed.secrets(admin, project, 'dev', SECRETS);
  await seed.secrets(admin, project, 'staging', 10);
  const other = await seed.caller(admin, { project: project.id });
  const list = (environment: string) => `/api/v4/secrets?projectId=${project.id}&environment=${environment}`;
  const agent = new Agent({ keepAlive: true });
  for (let warm = 0; warm < 5; warm += 1) mustSucceed(await admin.get(list('dev')));

  // Equal ones would share a response.
  const many = Array.from({ length: LISTS }, (_, at) => ask(admin, `${list('dev')}&limit=${SECRETS - at}`, agent));
  await delay(200);
  const light: Asked[] = [];
  let isOver = false;
  const lightly = (async () => {
    while (!isOver) {
      light.push(await ask(other, list('staging'), agent));
      await delay(50);
    }
  })();
  const responses = await Promise.all(many);
  isOver = true;
  await lightly;
  agent.destroy();

  const refused = responses.filter(({ status }) => status === 503);
  // The queue has a hundred places; whoever has one may wait for as long as a request may.
  const atOnce = refused.toSorted((one, other) => one.ms - other.ms).slice(0, LISTS - QUEUE);
  const told = [
    `${responses.length - refused.length} lists within ${slowest(responses).toFixed(0)} ms`,
    `${refused.length} refused, ${atOnce.length} of them within ${slowest(atOnce).toFixed(0)} ms`,
    `${light.length} small lists of another token, each within ${slowest(light).toFixed(0)} ms`,
  ].join(', ');
  expectThat(
    responses.every(({ status }) => status === 200 || status === 503),
    told,
  );
  expectThat(refused.length > 0 && refused.every(({ retryAfter }) => Number(retryAfter) > 0), told);
  expectThat(slowest(atOnce) <= REFUSED_WITHIN_MS, told);
  expectThat(light.every(({ status }) => status === 200) && slowest(light) <= LIGHT_WITHIN_MS, told);
  await until('no read to be left', 10_000, async () => {
    const { text } = await admin.anonymous.get('/metrics');
    return ['running', 'waiting'].every((state) => text.includes(`strongroom_heavy_reads{state="${state}"} 0\n`));
  });
  mustSucceed(await admin.get(list('dev')));
  return told;
}

export const check: Check = {
  id: 'C67',
  title: 'more heavy lists at once than there is room for',
  fullTimes: 5,
  needsQuiet: true,
  run: async (times) => {
    const told: string[] = [];
    await repeat(times, async () => {
      // All of them come from one address.
      const settings = { REPLY_CACHE_MIB: '0', MAX_CONNECTIONS_PER_ADDRESS: '2000' };
      await withInstallation(
        async (installation) => void told.push(await overload(await installation.admin())),
        settings,
      );
    });
    return told.join('; ');
  },
};
