import * as z from 'zod';
import type { Context } from '../../../../kernel/context.js';
import type { OutboundResponse } from '../../../../kernel/outbound/http.js';
import { type ExportedRow, eventLine, listsOf, readRows } from '../../audit-events/public.js';
import { positionAfterRecord } from '../../change-feed/public.js';
import type { Batch, Format, TargetKind } from '../engine/target.js';
import { AuditSink } from './sink.entity.js';
import { findSinkTargets, type SinkTarget } from './sink.queries.js';
import type { SinkKind } from './sink.rules.js';

/** Records in a request. */
const MOST_RECORDS = 200;
/** Size of their lines, unless a single one is larger. */
const MOST_BYTES = 512 * 1024;

const FORMATS: Readonly<Record<SinkKind, Format>> = {
  webhook: { contentType: 'application/x-ndjson; charset=utf-8', maxResponseBytes: null, rejected: () => 0 },
  otlp: { contentType: 'application/json', maxResponseBytes: 64 * 1024, rejected: rejectedRecords },
};

/** The form of requests to sinks of a kind. */
export const formatOf = ({ kind }: { readonly kind: SinkKind }): Format => FORMATS[kind];

/** How audit sinks get their records. */
export const SINKS: TargetKind<SinkTarget> = {
  job: { name: 'audit-sinks:deliver', description: 'Sends the audit trail of an organization to an audit sink.' },
  table: 'audit_sink',
  entity: AuditSink,
  formatOf,
  find: findSinkTargets,
  next: nextRecords,
  recordRewind: (tx, { id }) =>
    tx.auditTrail.recordChange(tx, { action: 'audit-sink:rewind', facts: { auditSinkId: id } }),
};

async function nextRecords(ctx: Context, { target, settled }: { target: SinkTarget; settled: bigint }): Promise<Batch> {
  const bounds = { after: target.position, settled: String(settled), most: MOST_RECORDS };
  const { rows: found, isMore } = await readRows(ctx, { projectId: null, ...bounds });
  const { rows, body } = await fittingBody(ctx, target, found);
  const last = rows.at(-1);
  const isEnd = rows.length === found.length && !isMore;
  const position = BigInt(target.position);
  const upTo = isEnd ? (settled > position ? settled : position) : BigInt(last?.sequence ?? target.position);
  return {
    body: last === undefined ? null : body,
    upTo: positionAfterRecord(upTo),
    upToTime: isEnd ? null : (last?.occurredAt ?? target.now),
  };
}

/** The first rows, as many as fit into a request with the lists of secrets that they name, and its body. */
async function fittingBody(
  ctx: Context,
  { kind, now }: SinkTarget,
  found: readonly ExportedRow[],
): Promise<{ rows: readonly ExportedRow[]; body: string }> {
  const written = new Set<string>();
  const isWebhook = kind === 'webhook';
  let [lists, lines, bytes, count] = ['', '', 0, 0];
  for (const row of found) {
    let own = '';
    if (isWebhook) for await (const list of listsOf(ctx, [row], written)) own += list;
    const line = `${eventLine(row)}\n`;
    bytes += Buffer.byteLength(own) + Buffer.byteLength(line);
    if (count > 0 && bytes > MOST_BYTES) break;
    [lists, lines, count] = [lists + own, lines + line, count + 1];
  }
  const rows = found.slice(0, count);
  return { rows, body: isWebhook ? lists + lines : exportRequest(rows, now) };
}

/** The body of a test: a line that is no record, or a request without records. */
export const testBody = ({ kind, now }: Pick<SinkTarget, 'kind' | 'now'>): string =>
  kind === 'otlp' ? exportRequest([], now) : `${JSON.stringify({ type: 'test', time: now.toISOString() })}\n`;

/** Numbers of severities. Source: OpenTelemetry, logs data model, severity fields. */
const INFO = { severityNumber: 9, severityText: 'INFO' } as const;
const WARN = { severityNumber: 13, severityText: 'WARN' } as const;

const attribute = (key: string, stringValue: string | null) =>
  stringValue === null ? [] : [{ key, value: { stringValue } }];

const nanoseconds = (time: Date): string => `${time.getTime()}000000`;

/** An event as a log record: its line is the body, and what queries select by is beside it. */
const logRecordOf = (row: ExportedRow, now: Date): object => ({
  timeUnixNano: nanoseconds(row.occurredAt),
  observedTimeUnixNano: nanoseconds(now),
  ...(row.outcome === 'denied' ? WARN : INFO),
  eventName: row.action,
  body: { stringValue: eventLine(row) },
  attributes: [
    ...attribute('strongroom.audit.id', row.id),
    ...attribute('strongroom.audit.class', row.class),
    ...attribute('strongroom.audit.outcome', row.outcome),
    ...attribute('strongroom.organization.id', row.organizationId),
    ...attribute('strongroom.project.id', row.projectId),
    ...attribute('strongroom.subject.id', row.subjectId),
    ...attribute('strongroom.request.id', row.requestId),
    ...attribute('enduser.id', row.actorId),
    ...attribute('client.address', row.address),
    ...attribute('user_agent.original', row.userAgent),
  ],
});

/** The body of a request to `/v1/logs`. Source: OpenTelemetry protocol, OTLP/HTTP, JSON encoding. */
const exportRequest = (rows: readonly ExportedRow[], now: Date): string =>
  JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: attribute('service.name', 'strongroom') },
        scopeLogs: [{ scope: { name: 'strongroom.audit' }, logRecords: rows.map((row) => logRecordOf(row, now)) }],
      },
    ],
  });

const ExportResponse = z.object({
  partialSuccess: z.object({ rejectedLogRecords: z.union([z.string(), z.number()]).nullish() }).nullish(),
});

/** Records that a collector did not store, which must not be sent again. */
function rejectedRecords({ body }: Pick<OutboundResponse, 'body'>): number {
  try {
    const { partialSuccess } = ExportResponse.parse(JSON.parse(body.toString('utf8')));
    const count = Number(partialSuccess?.rejectedLogRecords ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? Math.min(count, 100_000) : 0;
  } catch {
    // Collectors may answer with an empty body.
    return 0;
  }
}
