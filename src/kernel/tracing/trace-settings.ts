import * as z from 'zod';

/** A text that nothing shows by accident. */
interface Sealed {
  reveal(): string;
}

/** Where traces go, and which of them. */
export interface TraceSettings {
  /** Of the collector, with the path of its traces. */
  readonly url: string;
  /** Header fields of each request to it, as `name=value` pairs in URL encoding: they may hold credentials. */
  readonly headers: Sealed | null;
  readonly timeoutMs: number;
  /** Attributes of the service itself, such as `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Sampler;
}

/** Which traces are recorded. */
export interface Sampler {
  /** Whoever asks decides, when the request says so. */
  readonly followsParent: boolean;
  /** Share of the other traces, 0 to 1. */
  readonly ratio: number;
}

const SAMPLERS = [
  ...(['always_on', 'always_off', 'traceidratio'] as const),
  ...(['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'] as const),
] as const;

const address = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'must be a URL that starts with http:// or https://',
  })
  .optional();

/** Pairs of OpenTelemetry's variables: `name=value,name=value`, values in URL encoding. */
const isPairs = (text: string): boolean =>
  text.split(',').every((pair) => /^\s*[!#$%&'*+.^_`|~0-9a-zA-Z/-]+\s*=/.test(pair) && canDecode(pair));

const canDecode = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

/** The pairs that `isPairs` has accepted. */
export const pairsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1)).trim()];
    }),
  );

const pairs = z.string().refine(isPairs, { error: 'must be name=value pairs, separated by commas' });

/** OpenTelemetry's standard variables, as far as they concern traces. Source: OpenTelemetry, "Environment Variable Specification". */
export const TRACE_VARIABLES = {
  OTEL_SDK_DISABLED: z.enum(['true', 'false'], { error: 'must be true or false' }).default('false'),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], { error: 'must be otlp or none' }).default('otlp'),
  OTEL_EXPORTER_OTLP_ENDPOINT: address,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address,
  OTEL_EXPORTER_OTLP_HEADERS: pairs.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(['http/json', 'http/protobuf'], { error: 'must be http/json: gRPC is not spoken' })
    .default('http/json'),
  OTEL_EXPORTER_OTLP_TIMEOUT: z
    .string()
    .regex(/^[1-9]\d{1,4}$/, 'must be 10 to 99999 milliseconds')
    .transform(Number)
    .default(10_000),
  OTEL_SERVICE_NAME: z.string().max(200).optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs.optional(),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS, { error: `must be ${SAMPLERS.slice(0, -1).join(', ')} or ${SAMPLERS.at(-1)}` })
    .default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1),
};

const Variables = z.object(TRACE_VARIABLES);
type Variables = z.output<typeof Variables>;

/** `null`: nothing is traced, and the code that does it is not loaded. */
export function traceSettings(given: Variables, sealed: (text: string) => Sealed): TraceSettings | null {
  const url = given.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? tracesAt(given.OTEL_EXPORTER_OTLP_ENDPOINT);
  if (url === undefined || given.OTEL_SDK_DISABLED === 'true' || given.OTEL_TRACES_EXPORTER === 'none') return null;
  const { OTEL_EXPORTER_OTLP_HEADERS: headers, OTEL_RESOURCE_ATTRIBUTES: attributes } = given;
  return {
    url,
    headers: headers === undefined ? null : sealed(headers),
    timeoutMs: given.OTEL_EXPORTER_OTLP_TIMEOUT,
    resource: {
      'service.name': 'strongroom',
      ...(attributes === undefined ? {} : pairsOf(attributes)),
      ...(given.OTEL_SERVICE_NAME === undefined ? {} : { 'service.name': given.OTEL_SERVICE_NAME }),
    },
    sampler: samplerOf(given),
  };
}

const tracesAt = (endpoint: string | undefined): string | undefined =>
  endpoint === undefined ? undefined : `${endpoint.replace(/\/+$/, '')}/v1/traces`;

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share }: Variables): Sampler {
  const own = name.replace('parentbased_', '');
  return {
    followsParent: own !== name,
    ratio: own === 'always_on' ? 1 : own === 'always_off' ? 0 : share,
  };
}
