import { existsSync, readFileSync } from 'node:fs';
import autocannon, { type Request } from 'autocannon';
import { Caller } from '../kit/caller.ts';
import { embeddedPostgres } from '../kit/processes.ts';
import type { Service } from '../kit/service.ts';
import type { Ground } from './ground.ts';
import type { Load } from './loads.ts';

/** What one load came to. */
export interface Measured {
  readonly name: string;
  readonly clients: number;
  /** Successful answers a second. */
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly statementsPerRequest: number;
  /** Processor time of the service and of its Postgres for each request, in milliseconds; `NaN` off Linux. */
  readonly serviceMs: number;
  readonly postgresMs: number;
  /** Of the requests that were sent meanwhile, in milliseconds; `NaN` without any. */
  readonly besideP99: number;
  /** Answers other than 2xx, broken connections and timeouts. Anything but 0 makes the other numbers worthless. */
  readonly failures: number;
}

const WARM_UP_PART = 4;
/** Of Linux, on all of its usual machines. */
const MS_PER_TICK = 10;

/** Warms up, then puts the load on the service for so many seconds. */
export async function measure(ground: Ground, load: Load, seconds: number): Promise<Measured> {
  const node = nodeOf(ground, load);
  const postgres = await embeddedPostgres(ground.service.dataDir);
  const warmUp = Math.max(1, Math.round(seconds / WARM_UP_PART));
  const { beside } = load;
  const besides =
    beside && put(node.url, authorized(ground, beside.load), beside.load, warmUp + seconds, beside.perSecond);
  await put(node.url, authorized(ground, load), load, warmUp);
  const counts = async () =>
    [await metric(node.url, SQL_OF_REQUESTS), cpuMs([node.child.pid ?? 0]), cpuMs(postgres)] as const;
  const before = await counts();
  const { perSecond, times, failures } = await put(node.url, authorized(ground, load), load, seconds);
  const after = await counts();
  const each = (index: 0 | 1 | 2): number => (after[index] - before[index]) / Math.max(1, times.length);
  return {
    name: load.name,
    clients: load.clients,
    perSecond,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    statementsPerRequest: each(0),
    serviceMs: each(1),
    postgresMs: each(2),
    failures: failures + ((await besides)?.failures ?? 0),
    besideP99: quantile((await besides)?.times ?? [], 0.99),
  };
}

function authorized(ground: Ground, load: Load): Request {
  const { headers = {}, ...rest } = load.request(ground);
  const { token } = load.caller?.(ground) ?? ground.admin;
  return { ...rest, headers: { ...headers, authorization: `Bearer ${token}` } };
}

const nodeOf = ({ service, keepingNothing, limiting }: Ground, { keepsNothing, isLimited }: Load): Service => {
  if (isLimited === true) return limiting;
  return keepsNothing === true ? keepingNothing : service;
};

const SQL_OF_REQUESTS = 'strongroom_sql_statements_total\\{origin="request"\\}';

/** A value of `/metrics` of a node. */
export async function metric(url: string, name: string): Promise<number> {
  const { text } = await new Caller(url, null).get('/metrics');
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
}

interface Put {
  /** Successful answers a second. */
  readonly perSecond: number;
  /** Of these, in milliseconds, the shortest first. */
  readonly times: readonly number[];
  readonly failures: number;
}

/** @param overallRate requests a second; absent: as many as are answered */
export async function put(
  url: string,
  request: Request,
  { clients, expects }: Pick<Load, 'clients' | 'expects'>,
  seconds: number,
  overallRate?: number,
): Promise<Put> {
  const times: number[] = [];
  let refused = 0;
  const running = autocannon({
    url,
    connections: clients,
    duration: seconds,
    timeout: 10,
    requests: [request],
    ...(overallRate === undefined ? {} : { overallRate }),
  });
  running.on('response', (_client, status, _bytes, milliseconds) => {
    if (expects === undefined ? status >= 200 && status < 300 : expects.includes(status)) times.push(milliseconds);
    else refused += 1;
  });
  const { errors, timeouts, duration } = await running;
  return {
    perSecond: times.length / duration,
    times: times.sort((a, b) => a - b),
    failures: refused + errors + timeouts,
  };
}

/** Processor time that these processes, and their children that have ended, took so far, in milliseconds. */
export function cpuMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const ticks = readStat(pid).split(' ').slice(11, 15);
    return sum + ticks.reduce((total, tick) => total + Number(tick) * MS_PER_TICK, 0);
  }, 0);
}

/** What follows the name of the program. */
function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /s, '');
  } catch {
    return existsSync('/proc/self/stat') ? '' : 'NaN '.repeat(15);
  }
}

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
