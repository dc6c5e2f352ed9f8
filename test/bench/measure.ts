import autocannon from 'autocannon';
import { Caller } from '../kit/caller.ts';
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
  /** Answers other than 2xx, broken connections and timeouts. Anything but 0 makes the other numbers worthless. */
  readonly failures: number;
}

const WARM_UP_PART = 4;

/** Warms up, then puts the load on the service for so many seconds. */
export async function measure(ground: Ground, load: Load, seconds: number): Promise<Measured> {
  await put(ground, load, Math.max(1, Math.round(seconds / WARM_UP_PART)));
  const { url } = nodeOf(ground, load);
  const before = await metric(url, SQL_OF_REQUESTS);
  const { duration, times, failures } = await put(ground, load, seconds);
  const statements = (await metric(url, SQL_OF_REQUESTS)) - before;
  const sorted = times.sort((a, b) => a - b);
  return {
    name: load.name,
    clients: load.clients,
    perSecond: times.length / duration,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    statementsPerRequest: statements / Math.max(1, times.length),
    failures,
  };
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

async function put(
  ground: Ground,
  load: Load,
  seconds: number,
): Promise<{ duration: number; times: number[]; failures: number }> {
  const { headers = {}, ...rest } = load.request(ground);
  const authorized = {
    ...rest,
    headers: { ...headers, authorization: `Bearer ${(load.caller?.(ground) ?? ground.admin).token}` },
  };
  const times: number[] = [];
  let refused = 0;
  const running = autocannon({
    url: nodeOf(ground, load).url,
    connections: load.clients,
    duration: seconds,
    timeout: 10,
    requests: [authorized],
  });
  running.on('response', (_client, status, _bytes, milliseconds) => {
    if (load.expects === undefined ? status >= 200 && status < 300 : status === load.expects) times.push(milliseconds);
    else refused += 1;
  });
  const { errors, timeouts, duration } = await running;
  return { duration, times, failures: refused + errors + timeouts };
}

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
