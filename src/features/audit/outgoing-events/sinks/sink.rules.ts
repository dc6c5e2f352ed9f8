import * as z from 'zod';
import { orderRulesOf } from '../../../../kernel/list-order.js';
import { pageRules } from '../../../../kernel/paging.js';
import { idOf, storedText } from '../../../../kernel/value-rules.js';
import { ALERTS_ANYWHERE, alertRulesFor } from '../../../notifications/alerts/public.js';

/** Kinds of sinks. */
export const SINK_KINDS = {
  webhook: 'Lines of JSON as the export has them, signed.',
  otlp: 'Log records in OTLP/HTTP JSON, for OpenTelemetry collectors.',
} as const;

export type SinkKind = keyof typeof SINK_KINDS;

export const sinkKind = z.enum(Object.keys(SINK_KINDS) as [SinkKind, ...SinkKind[]]);

/** Headers that the service sets itself, or that concern the connection. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['connection', 'content-encoding', 'content-length', 'content-type', 'expect', 'host', 'keep-alive', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade', 'user-agent', 'accept-encoding', 'x-strongroom-signature'],
]);

/** A header of requests. */
export const SinkHeader = z
  .strictObject({
    name: z
      .string()
      .max(100)
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header')
      .refine((name) => !OWN_HEADERS.has(name.toLowerCase()), { error: 'must not be a header that the service sets' })
      .meta({ description: 'Name of the header, for example `Authorization`.' }),
    value: z
      .string()
      .min(1)
      .max(2_048)
      .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII')
      .meta({ description: 'Value of the header, up to 2,048 characters. It is not shown.' }),
  })
  .meta({ description: 'A header field of each request to the sink.' });

const id = idOf('audit sink');
const name = storedText(255)
  .trim()
  .min(1)
  .meta({ description: 'Name of the sink, 1 to 255 characters, unique in the organization.' });
const headers = z
  .array(SinkHeader)
  .max(10)
  .meta({ description: 'Headers of every request, up to 10, for authentication. They are encrypted and not shown.' });

function sinkRules(url: typeof ALERTS_ANYWHERE.configs.webhook.shape.url) {
  return {
    create: z
      .strictObject({
        name,
        kind: sinkKind.meta({ description: 'Form of the requests.' }),
        url: url.meta({
          description:
            'URL to send requests to, with `https`, for a collector usually ending in `/v1/logs`. Hosts in private networks are refused unless the operator allows them.',
        }),
        headers: headers.default([]),
        isEnabled: z.boolean().default(true).meta({ description: 'Whether the sink gets records.' }),
      })
      .meta({ description: 'Fields of the new audit sink.' }),
    update: z
      .strictObject({
        id,
        name: name.optional(),
        url: url.optional(),
        headers: headers.optional(),
        isEnabled: z.boolean().optional().meta({
          description: 'Whether the sink gets records. When it is enabled again, it continues where it stopped.',
        }),
      })
      .meta({ description: 'Fields of the audit sink to change. Absent fields keep their value.' }),
  };
}

export type SinkRules = ReturnType<typeof sinkRules>;

/** Rules that allow any host; the GraphQL schema is made of them. */
export const ANYWHERE = sinkRules(ALERTS_ANYWHERE.configs.webhook.shape.url);

/** The rules of an installation. They accept the same fields and differ only in the hosts that they refuse. */
export const rulesFor = (config: { readonly allowPrivateTargets: boolean }): SinkRules =>
  config.allowPrivateTargets ? ANYWHERE : sinkRules(alertRulesFor(config).configs.webhook.shape.url);

export const OneSink = z.strictObject({ id }).meta({ description: 'The audit sink, by ID.' });

export const ListSinks = z.strictObject({ ...pageRules, ...orderRulesOf('by name') });
