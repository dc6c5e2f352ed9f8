import * as z from 'zod';
import { bodyOf, type Data, eachOf, type Route, routesAt, withoutNull } from '../../../rest/route.js';
import { MessageQuery } from '../deliveries/public.js';
import { RetryMessages, TestAlert } from './alert-delivery.rules.js';

const PATH = '/api/v1/cert-manager/alerts/{alertId}';
const NOT_FOUND = ['CERTIFICATE_ALERT_NOT_FOUND'] as const;

const MESSAGE = `id alertId event state channelId channelType recipient attempts nextAttemptAt errorCode createdAt endedAt
  certificateCount certificates { id commonName notAfter }`;

const alerts = routesAt(PATH, { select: 'id' });
const project = routesAt('/api/v1/cert-manager/alerts', { select: 'count hasMore' });
const messages = routesAt(`${PATH}/messages`, { select: MESSAGE, as: ['message', 'messages'] });

/** Messages of certificate alerts. */
export const messageRoutes: readonly Route[] = [
  messages.get('', 'List the messages of a certificate alert, newest first', {
    field: 'alertMessages',
    query: MessageQuery,
    errors: NOT_FOUND,
  }),
  messages.post('/{messageId}/retry', 'Send a failed or cancelled message again', {
    field: 'retryAlertMessage',
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
    given: { mustBeAccepted: true },
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
