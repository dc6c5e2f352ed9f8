import type { Context } from './kernel/context.js';
import type { EntityClass } from './kernel/database/orm-options.js';
import type { TableRights } from './kernel/database/service-role.js';
import type { NodeKind } from './kernel/graphql/node.js';
import type { Download } from './kernel/http/downloads.js';
import type { PublicDocument } from './kernel/http/public-documents.js';
import type { EventStream } from './kernel/http/streams/event-streams.js';
import type { JobKind } from './kernel/jobs/job-kind.js';
import type { StoredGauges } from './kernel/operations/metrics/store-probe.js';
import type { Group } from './rest/openapi/groups.js';
import type { Route } from './rest/route.js';

/** What app.ts mounts of a slice. */
export interface Feature {
  readonly entities: readonly EntityClass[];
  /** What the service may do with its tables, where that is less than to read and write all rows. */
  readonly tableRights?: TableRights;
  readonly resolvers: readonly object[];
  readonly routes: readonly Route[];
  /** What programs get without a token, and what is downloaded with one. */
  readonly documents?: readonly (PublicDocument | Download)[];
  /** What it answers with server-sent events. */
  readonly streams?: readonly EventStream[];
  /** Groups of its routes in the API reference. */
  readonly groups?: readonly Group[];
  /** What is found by its id alone. */
  readonly nodes?: readonly NodeKind[];
  /** Its background work. */
  readonly jobs?: readonly JobKind[];
  /** What it shows in the metrics. */
  readonly gauges?: readonly StoredGauges[];
  /** What it does at every start, under the migration lock and before the service listens. */
  readonly prepare?: (contextOf: (organizationId: string) => Context) => Promise<void>;
}
