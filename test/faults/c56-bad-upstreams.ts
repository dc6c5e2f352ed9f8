import { readFile } from 'node:fs/promises';
import type { Caller } from '../kit/caller.ts';
import { FakeDatatool } from '../kit/datatool.ts';
import type { DatatoolFault } from '../kit/datatool-faults.ts';
import { Authority } from '../kit/outside/authority.ts';
import { type Check, expectThat, expectWithin, repeat } from './check.ts';
import { withInstallation } from './installation.ts';

const DATATOOL = '/api/v1/app-connections/datatool';
const WITHIN_MS = 30_000;
const SAMPLE_MS = 20;
const MAX_GROWTH_BYTES = 32 * 1024 * 1024;
const FAULTS: readonly DatatoolFault[] = ['silent', 'slow', 'huge', 'bomb', 'headers', 'garbage'];

export const check: Check = {
  id: 'C56',
  title: 'live systems that are silent, slow, endless, compressed, talkative, of another name, or no API',
  fullTimes: 3,
  needsQuiet: true,
  run: async (times) => {
    let refused = 0;
    let growth = 0;
    await withInstallation(
      async (installation) => {
        const { admin } = await (await installation.seed()).organization();
        // What a first request loads stays.
        await askAll(admin, ['garbage']);
        const pid = installation.service.child.pid as number;
        const before = await residentBytes(pid);
        const sampling = setInterval(async () => {
          growth = Math.max(growth, (await residentBytes(pid)) - before);
        }, SAMPLE_MS);
        await repeat(times, async () => {
          const begun = performance.now();
          refused += await askAll(admin, FAULTS);
          expectWithin(WITHIN_MS, performance.now() - begun, 'refusing them');
        }).finally(() => clearInterval(sampling));
        expectThat(growth <= MAX_GROWTH_BYTES, `the service grew by ${Math.round(growth / 1024 / 1024)} MiB`);
        expectThat(
          !/dbtc_[0-9a-f]{8}|Welcome/.test(installation.service.output),
          'the log tells of a token or a response',
        );
      },
      { ALLOW_PRIVATE_TARGETS: 'true', LOG_LEVEL: 'info' },
    );
    return `${refused} refusals with 502, and ${Math.round(growth / 1024 / 1024)} MiB more at the most`;
  },
};

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** Connects to each of them at the same time, and to one whose certificate is of another name. @returns how many were refused */
async function askAll(admin: Caller, faults: readonly DatatoolFault[]): Promise<number> {
  const otherName = await (await Authority.create()).issue(['other.example.com']);
  const systems = await Promise.all([
    ...faults.map(() => FakeDatatool.start()),
    FakeDatatool.start({ certificate: otherName }),
  ]);
  for (const [at, how] of faults.entries()) systems[at]?.fail({ how });
  try {
    const replies = await Promise.all(
      systems.map(({ credentials }, at) => admin.post(DATATOOL, { name: `analytics-${at}`, credentials })),
    );
    for (const [at, { status, text }] of replies.entries())
      expectThat(
        status === 502 && !text.includes(systems[at]?.apiToken ?? ''),
        `${faults[at] ?? 'another name'} was answered with ${status}: ${text}`,
      );
    return replies.length;
  } finally {
    for (const system of systems) await system.stop();
  }
}
