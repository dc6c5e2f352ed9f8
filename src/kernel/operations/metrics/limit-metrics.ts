import { Counter, Gauge, type Registry } from 'prom-client';
import type { RateLimits } from '../limits/rate-limits.js';

/** What rate limits refuse, and how much they remember. */
export function measureRateLimits(registry: Registry, { refusals, buckets }: RateLimits): void {
  new Counter({
    name: 'strongroom_rate_limited_total',
    help: 'Requests refused by a rate limit. They are not logged or audited.',
    labelNames: ['limit'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [limit, count] of Object.entries(refusals)) this.inc({ limit }, count);
    },
  });
  new Gauge({
    name: 'strongroom_rate_limit_buckets',
    help: 'Tokens, clients and addresses whose requests this node counts, once for each limit.',
    registers: [registry],
    collect() {
      this.set(buckets?.size ?? 0);
    },
  });
}
