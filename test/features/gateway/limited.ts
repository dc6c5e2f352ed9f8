import { Caller, type Reply } from '../../kit/caller.js';
import type { SecondNode, SharedStrongroom } from '../../kit/strongroom.js';

/** Small enough to reach. */
export const QUOTAS = { reads: 20, writes: 10, mints: 4, failures: 5, anonymous: 30 };
export const PROJECTS = '/api/v1/projects';

/** As the setting has them. */
export const limitsOf = (quotas: Readonly<Record<string, number>>): string =>
  Object.entries(quotas)
    .map(([name, quota]) => `${name}=${quota}`)
    .join(',');

/** A node of an installation that limits, behind a proxy that tells addresses. */
export function startLimited(
  strongroom: SharedStrongroom,
  quotas: Readonly<Record<string, number>> = QUOTAS,
  env: Readonly<Record<string, string>> = {},
): Promise<SecondNode> {
  const limits = { RATE_LIMIT: 'on', RATE_LIMITS: limitsOf(quotas) };
  return strongroom.startSecondNode({ env: { ...limits, TRUSTED_PROXIES: '127.0.0.1', ...env } });
}

/** A new token, at a node. */
export async function newCallerAt({ url }: SecondNode, { seed }: SharedStrongroom): Promise<Caller> {
  const { admin } = await seed.organization();
  return admin.at(url);
}

let addresses = 0;
/** An address that nobody had before. */
export const newAddress = (): string => {
  addresses += 1;
  return `198.51.100.${addresses}`;
};

/** Asks again and again until it is refused, and answers all replies. */
export async function exhaust(ask: () => Promise<Reply>, most = 60): Promise<Reply[]> {
  const replies: Reply[] = [];
  do replies.push(await ask());
  while (replies.at(-1)?.status !== 429 && replies.length < most);
  return replies;
}

export const passed = (replies: readonly Reply[]): number => replies.filter(({ status }) => status !== 429).length;

/** The header fields of limits in a reply. */
export const limitHeadersOf = ({ headers }: Reply): string[] =>
  Object.keys(headers).filter((name) => /^(ratelimit|retry-after)/.test(name));

/** A number of a node's metrics. */
export async function metricAt({ url }: SecondNode, name: string): Promise<number> {
  const { text } = await new Caller(url, null).get('/metrics');
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}
