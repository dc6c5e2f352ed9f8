import * as z from 'zod';
import { type Data, eachOf, nextCursor, type Route, route, routesAt } from '../../rest/route.js';
import { MessageQuery } from '../deliveries/public.js';
import { TestAlert } from './message.rules.js';

const PATH = '/api/v1/cert-manager/alerts/{alertId}';
const NOT_FOUND = ['CERTIFICATE_ALERT_NOT_FOUND'] as const;

const MESSAGE = `id alertId event state channelId channelType recipient attempts nextAttemptAt errorCode createdAt endedAt
  certificateCount certificates { id commonName notAfter }`;

const alerts = routesAt(PATH, { select: 'id' });
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
