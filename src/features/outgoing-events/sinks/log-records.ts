import * as z from 'zod';
import type { OutboundResponse } from '../../../kernel/outbound/http.js';
import { type ExportedRow, eventLine } from '../../audit-events/public.js';

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
export const exportRequest = (rows: readonly ExportedRow[], now: Date): string =>
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
export function rejectedRecords({ body }: Pick<OutboundResponse, 'body'>): number {
  try {
    const { partialSuccess } = ExportResponse.parse(JSON.parse(body.toString('utf8')));
    const count = Number(partialSuccess?.rejectedLogRecords ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? Math.min(count, 100_000) : 0;
  } catch {
    // Collectors may answer with an empty body.
    return 0;
  }
}
