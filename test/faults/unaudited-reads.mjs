// Loaded into a service by `NODE_OPTIONS=--import=...`: reads are not recorded. What is measured beside it is what recording costs.
import { isMainThread } from 'node:worker_threads';
import { AuditTrail } from '../../.build/src/kernel/audit/audit-trail.js';

if (isMainThread) AuditTrail.prototype.recordRead = () => Promise.resolve();
