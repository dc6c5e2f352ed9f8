import * as z from 'zod';
import {
  bodyOf,
  type Data,
  eachOf,
  nextCursor,
  type Route,
  route,
  routesAt,
  withoutNull,
} from '../../../rest/route.js';
import { MessageQuery } from '../deliveries/public.js';
import { RetryMessages, TestAlert } from './alert-delivery.rules.js';

const PATH = '/api/v1/cert-manager/alerts/{alertId}';
const NOT_FOUND = ['CERTIFICATE_ALERT_NOT_FOUND'] as const;

const MESSAGE = `id alertId event state channelId channelType recipient attempts nextAttemptAt errorCode createdAt endedAt
  certificateCount certificates { id commonName notAfter }`;

const alerts = routesAt(PATH, { select: 'id' });
const project = routesAt('/api/v1/cert-manager/alerts', { select: 'count hasMore' });
const messages = routesAt(`${PATH}/messages`, { select: MESSAGE });

/** Messages of certificate alerts. */
export const messageRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: `${PATH}/messages`,
    summary: 'List the messages of a certificate alert, newest first',
    extension: true,
    query: MessageQuery,
    document: `query ($alertId: ID!, $state: AlertMessageState, $first: Int, $after: String) {
      alertMessages(alertId: $alertId, state: $state, first: $first, after: $after) {
        nodes { ${MESSAGE} } pageInfo { hasNextPage endCursor } } }`,
    variables: ({ params, query: { state, limit, cursor } }) => ({
      alertId: params.alertId,
      state,
      first: limit,
      after: cursor,
    }),
    reply: ({ alertMessages: { nodes, pageInfo } }) => ({ messages: nodes, ...nextCursor(pageInfo) }),
    errors: NOT_FOUND,
  }),
  messages.post('/{messageId}/retry', 'Send a failed or cancelled message again', {
    field: 'retryAlertMessage',
    as: 'message',
    variables: ({ params }) => ({ input: { id: params.messageId, alertId: params.alertId } }),
    errors: ['ALERT_MESSAGE_NOT_FOUND', 'ALERT_MESSAGE_NOT_RETRYABLE'],
  }),
  project.post('/retry-messages', 'Send failed and cancelled messages of certificate alerts again', {
    field: 'retryAlertMessages',
    body: bodyOf(withoutNull(RetryMessages)),
    reply: ({ retryAlertMessages }) => retryAlertMessages.retried,
    example: { projectId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11', dryRun: true },
    errors: ['PROJECT_NOT_FOUND', ...NOT_FOUND],
  }),
  alerts.post('/test', 'Send a test message to the channels of a certificate alert', {
    field: 'testCertificateAlert',
    select: 'channel { id channelType } recipient isAccepted errorCode status',
    body: z.strictObject({ channelId: TestAlert.shape.channelId }),
    variables: ({ params, body }) => ({ input: { id: params.alertId, ...body, mustBeAccepted: true } }),
    reply: ({ testCertificateAlert: { results } }) => ({
      results: eachOf(results as Data[], ({ channel, ...result }) => ({
        channelId: channel.id,
        channelType: channel.channelType,
        ...result,
      })),
    }),
    example: {},
    errors: [...NOT_FOUND, 'ALERT_CHANNEL_NOT_FOUND', 'UPSTREAM_REJECTED', 'UPSTREAM_UNREACHABLE'],
  }),
];
