import { bodyOf, routesAt } from '../../../../rest/route.js';
import type { SinkRules } from './sink.rules.js';

const DELIVERY = `delivery { state lagRecords lagSeconds failures lastSuccessAt lastFailureAt lastFailure lastStatus nextAttemptAt rewoundAt }`;
const SINK = `id organizationId name kind origin enabled ${DELIVERY} rejectedRecords createdAt updatedAt`;
const NOT_FOUND = ['AUDIT_SINK_NOT_FOUND'] as const;

/** Audit sinks of the organization of the token. */
export function sinkRoutes(rules: SinkRules) {
  const sinks = routesAt('/api/v1/organization/audit-sinks', { select: SINK });
  return [
    sinks.post('', 'Create an audit sink', {
      field: 'createAuditSink',
      select: `auditSink { ${SINK} } signingSecret`,
      sensitive: true,
      body: rules.create,
      errors: ['AUDIT_SINK_NAME_TAKEN', 'AUDIT_SINKS_FULL'],
      example: {
        ...{ name: 'collector', kind: 'otlp', url: 'https://collector.example.com/v1/logs' },
        headers: [{ name: 'Authorization', value: 'Bearer eyJhbGciOi' }],
      },
    }),
    sinks.get('', 'List the audit sinks of the organization', { field: 'auditSinks' }),
    sinks.get('/{sinkId}', 'Get an audit sink', { field: 'auditSink', errors: NOT_FOUND }),
    sinks.patch('/{sinkId}', 'Update an audit sink', {
      field: 'updateAuditSink',
      body: bodyOf(rules.update, 'id'),
      errors: [...NOT_FOUND, 'AUDIT_SINK_NAME_TAKEN'],
      example: { name: 'old collector', enabled: false },
    }),
    sinks.delete('/{sinkId}', 'Delete an audit sink', { field: 'deleteAuditSink', errors: NOT_FOUND }),
    sinks.post('/{sinkId}/test', 'Send a test to an audit sink', {
      field: 'testAuditSink',
      select: 'isAccepted errorCode status',
      errors: NOT_FOUND,
    }),
  ];
}
