import { defineEntity, p } from '@mikro-orm/core';

const RateLimitCountSchema = defineEntity({
  name: 'RateLimitCount',
  tableName: 'rate_limit_count',
  properties: {
    bucket: p.blob().primary(),
    slot: p.bigint('string').primary(),
    amount: p.integer(),
    expiresAt: p.datetime(3),
  },
});

/**
 * What all nodes counted for one bucket of a rate limit in one part of its window. `bucket` is a MAC: an address is personal.
 */
export class RateLimitCount extends RateLimitCountSchema.class {}
RateLimitCountSchema.setClass(RateLimitCount);
