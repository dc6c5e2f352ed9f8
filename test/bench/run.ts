// `npm run bench -- [--seconds 4] [--only NAME]... [--json FILE] [--profile DIR]`: how fast the built service answers,
// on an embedded database of its own. One process and one machine: compare numbers of one run, not of two machines.
// `npm run bench -- --only millions [--projects 50] [--secrets 200]`: what requests take of the database of an organization with that
// many projects, and that many secrets in each. These numbers are the same on every machine.
import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { comparison } from './comparison.ts';
import { runDailyRun } from './daily-run.ts';
import { runBombs, runGate } from './gateway.ts';
import { type Ground, withGround } from './ground.ts';
import { LOADS, type Load } from './loads.ts';
import { type Measured, measure, metric } from './measure.ts';
import { runMillions } from './millions/run.ts';
import { runTokenChecks } from './token-checks.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    only: { type: 'string', multiple: true },
    json: { type: 'string' },
    profile: { type: 'string' },
    projects: { type: 'string', default: '50' },
    secrets: { type: 'string', default: '200' },
  },
});

const MIB = 1024 * 1024;
const COLUMNS = ['load', 'clients', 'requests/s', 'p50 ms', 'p99 ms', 'SQL/request', 'to status', 'failures'];
const WIDTHS = [32, 8, 11, 9, 9, 12, 10, 9];

/** The base first: the others are told as ratios to it. Not in a profile, which is to show the wanted ones alone. */
function chosen(): readonly Load[] {
  const [base, ...others] = LOADS;
  if (options.only === undefined) return LOADS;
  const wanted = others.filter(({ name }) => options.only?.includes(name));
  return options.profile === undefined ? [base as Load, ...wanted] : wanted;
}

const line = (cells: readonly string[]): string =>
  cells
    .map((cell, column) => (column === 0 ? cell.padEnd(WIDTHS[column] ?? 0) : cell.padStart(WIDTHS[column] ?? 0)))
    .join('');

const row = (measured: Measured, base: Measured): string =>
  line([
    measured.name,
    String(measured.clients),
    measured.perSecond.toFixed(0),
    measured.p50.toFixed(2),
    measured.p99.toFixed(2),
    measured.statementsPerRequest.toFixed(2),
    (measured.perSecond / base.perSecond).toFixed(3),
    String(measured.failures),
  ]);

/** By then the service has been idle for long enough to give memory back. */
const REST_MS = 45_000;

/** What is no load: printed in a form of its own. */
const OTHERS = ['token check', 'daily run', 'gate', 'bombs', 'millions'];
const isWanted = (name: string): boolean => options.only === undefined || options.only.includes(name);

async function runAll(ground: Ground): Promise<{ loads: Measured[]; residentMiB: number; unrefused: number }> {
  const onlyOthers = options.only?.every((name) => OTHERS.includes(name)) === true;
  const measured = onlyOthers ? { loads: [], residentMiB: 0 } : await runLoads(ground);
  if (isWanted('token check')) await runTokenChecks(ground);
  if (isWanted('daily run')) await runDailyRun(ground);
  if (isWanted('gate')) await runGate(ground, Number(options.seconds));
  return { ...measured, unrefused: isWanted('bombs') ? await runBombs(ground) : 0 };
}

async function runLoads(ground: Ground): Promise<{ loads: Measured[]; residentMiB: number }> {
  const loads: Measured[] = [];
  console.log(line(COLUMNS));
  for (const load of chosen()) {
    const measured = await measure(ground, load, Number(options.seconds));
    loads.push(measured);
    console.log(row(measured, loads[0] as Measured));
  }
  const resident = async () => (await metric(ground.service.url, 'process_resident_memory_bytes')) / MIB;
  const residentMiB = await resident();
  console.log(`\nresident memory of the service: ${residentMiB.toFixed(0)} MiB`);
  console.log(`\n${comparison(loads)}`);
  if (options.only === undefined) {
    await delay(REST_MS);
    console.log(`\nresident memory ${REST_MS / 1_000} s later: ${(await resident()).toFixed(0)} MiB`);
  }
  return { loads, residentMiB };
}

const unknown = (options.only ?? []).filter(
  (name) => !OTHERS.includes(name) && !LOADS.some((load) => load.name === name),
);
const size = { projects: Number(options.projects), secrets: Number(options.secrets) };
const isSize = Object.values(size).every((count) => Number.isInteger(count) && count > 0);
if (!/^[1-9]\d{0,2}$/.test(options.seconds) || !isSize || unknown.length > 0) {
  const names = [...LOADS.map(({ name }) => name), ...OTHERS];
  console.error(
    `--seconds takes 1 to 999, --projects and --secrets take counts; --only takes ${names.map((name) => `"${name}"`).join(', ')}`,
  );
  process.exit(2);
}
const wish = {
  profileDir: options.profile,
  isLarge: chosen().some(({ isLarge }) => isLarge === true),
  isCrowded: isWanted('token check') || chosen().some(({ isCrowded }) => isCrowded === true),
};
const isMillionsAlone = options.only?.every((name) => name === 'millions') === true;
const result = isMillionsAlone ? { loads: [], residentMiB: 0, unrefused: 0 } : await withGround(wish, runAll);
if (isWanted('millions')) await runMillions(size);
if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);
const failures = result.loads.reduce((sum, load) => sum + load.failures, 0);
if (failures > 0) console.error(`${failures} requests failed`);
if (result.unrefused > 0) console.error(`${result.unrefused} bombs were not refused with a coded 4xx`);
process.exit(failures + result.unrefused > 0 ? 1 : 0);
