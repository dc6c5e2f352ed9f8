// Loaded into a service by `NODE_OPTIONS=--import=...`: reads are not recorded. What is measured beside it is what recording costs.
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!/var AuditTrail ?= ?class\b/.test(loaded.source)) return loaded;
    return { ...loaded, source: `${loaded.source}\nAuditTrail.prototype.recordRead = () => Promise.resolve();` };
  },
});
