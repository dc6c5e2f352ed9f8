import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { type Caller, mustSucceed } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';

const AT_ONCE = 60;
const MAX_RESIDENT_MIB = 512;
const PARTS = 100;
const PART_BYTES = 10_000;
/** Each is expanded to a million bytes: 68 are more than 64 MiB, 62 are less. */
const TOO_MANY = 68;
const JUST_FEW_ENOUGH = 62;
/** More than 64 MiB, as they are stored. */
const STORED = { count: 140, bytes: 500_000 };

async function fill(admin: Caller): Promise<string> {
  const { id: projectId } = await new Seed(admin).projectOf(admin);
  const put = async (environment: string, secretPath: string, secrets: readonly (readonly [string, string])[]) => {
    const body = { projectId, environment, secretPath };
    mustSucceed(
      await admin.post('/api/v4/secrets/batch', {
        ...body,
        secrets: secrets.map(([secretKey, secretValue]) => ({ secretKey, secretValue })),
      }),
    );
  };
  const numbered = (count: number, name: string, value: string) =>
    Array.from({ length: count }, (_, index) => [`${name}_${index}`, value] as const);
  const folder = async (name: string) =>
    mustSucceed(await admin.post('/api/v2/folders', { projectId, environment: 'dev', name }));
  const parts = numbered(PARTS, 'PART', 'x'.repeat(PART_BYTES));
  for (let at = 0; at < PARTS; at += 50) await put('dev', '/', parts.slice(at, at + 50));
  await put('dev', '/', [['MIDDLE', parts.map(([key]) => `\${dev.${key}}`).join('')]]);
  for (const name of ['too-many', 'few-enough', 'stored']) await folder(name);
  await put('dev', '/too-many', numbered(TOO_MANY, 'WHOLE', '${dev.MIDDLE}'));
  await put('dev', '/few-enough', numbered(JUST_FEW_ENOUGH, 'WHOLE', '${dev.MIDDLE}'));
  for (const secret of numbered(STORED.count, 'STORED', 'x'.repeat(STORED.bytes)))
    await put('dev', '/stored', [secret]);
  return projectId;
}

/** Asks, and reads the response or lets it stand. Answers its status. */
function ask({ url, token }: Caller, path: string, agent: Agent, isRead: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      if (isRead || response.statusCode !== 200) response.resume().once('end', () => resolve(response.statusCode ?? 0));
      else resolve(200);
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** The most memory that the process has had. */
async function peakMiB({ service }: Installation): Promise<number> {
  const status = await readFile(`/proc/${service.child.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

const countOf = (statuses: readonly number[]): string =>
  [...Map.groupBy(statuses, (status) => status)].map(([status, each]) => `${each.length} of ${status}`).join(', ');

/** Asks for each kind of response, sixty at once. */
async function flood(installation: Installation): Promise<string> {
  const projectId = await fill(await installation.admin());
  // What filling took is no matter here.
  await installation.service.stop();
  await installation.start();
  const admin = await installation.admin();
  const idle = await peakMiB(installation);
  const list = (folder: string, further = '') =>
    `/api/v4/secrets?projectId=${projectId}&environment=dev&secretPath=/${folder}&expandSecretReferences=true${further}`;
  const agent = new Agent({ keepAlive: false });
  const atOnce = (path: (index: number) => string, isRead: (index: number) => boolean) =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, index) => ask(admin, path(index), agent, isRead(index))));
  const told: string[] = [];

  const tooLarge = await atOnce(
    (index) => list(index % 2 === 0 ? 'too-many' : 'stored'),
    () => true,
  );
  told.push(`too large: ${countOf(tooLarge)}`);
  const large = await atOnce(
    () => list('few-enough'),
    (index) => index % 2 === 0,
  );
  told.push(`large, half of them not read: ${countOf(large)}`);

  const peak = await peakMiB(installation);
  told.push(`resident memory ${idle.toFixed(0)} MiB before, at most ${peak.toFixed(0)}`);
  const isKept =
    tooLarge.every((status) => status === 413 || status === 503) &&
    tooLarge.includes(413) &&
    large.every((status) => status === 200 || status === 503) &&
    large.includes(200) &&
    peak <= MAX_RESIDENT_MIB;
  expectThat(isKept, told.join('; '));
  agent.destroy();
  await until('all memory of responses to be free', 10_000, async () => {
    const { text } = await admin.anonymous.get('/metrics');
    return ['strongroom_response_memory_bytes', 'strongroom_heavy_reads{state="running"}'].every((name) =>
      text.includes(`${name} 0\n`),
    );
  });
  mustSucceed(await admin.get(list('few-enough', '&limit=1')));
  return told.join('; ');
}

export const check: Check = {
  id: 'C66',
  title: 'large responses, sixty at once',
  fullTimes: 3,
  needsQuiet: true,
  run: async (times) => {
    const told: string[] = [];
    await repeat(times, async () => {
      await withInstallation(async (installation) => void told.push(await flood(installation)));
    });
    return told.join('; ');
  },
};
