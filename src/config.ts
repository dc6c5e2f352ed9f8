import { join, resolve } from 'node:path';
import { z } from 'zod';
import { ConfigurationFault } from './kernel/configuration-fault.js';
import { SealedText } from './kernel/crypto/sealed-text.js';
import { hashToken, hasValidChecksum } from './kernel/crypto/token.js';
import { DEFAULT_LIMITS, LIMITS_RULE, parseLimits, type QueryLimits, raised } from './kernel/graphql/gate/limits.js';
import { isCidr } from './kernel/http/addresses.js';
import { DEFAULT_RATE_LIMITS, type RateLimitSettings, rateLimitSettings } from './kernel/limits/settings.js';

/** How the service is set up. Frozen; made once at start. Every setting stands in the table of README.md. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Absolute path of the embedded database, the bootstrap token and the local root key. */
  readonly dataDir: string;
  /** `null`: embedded Postgres in `dataDir`. */
  readonly databaseUrl: SealedText | null;
  /** Base64 of 32 bytes or `file:PATH`; `null`: made once in `dataDir`. */
  readonly rootKey: SealedText | null;
  /** Token of the first admin identity; `null`: made at first start. */
  readonly bootstrapToken: SealedText | null;
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Whose pages may call the service from a browser. */
  readonly corsOrigins: readonly string[];
  /** Open at once; further ones are closed. */
  readonly maxConnections: number;
  readonly introspection: boolean;
  /** What GraphQL documents may ask for: those of callers, and those that are registered. */
  readonly queryLimits: { readonly ofCallers: QueryLimits; readonly ofPersisted: QueryLimits };
  readonly persistedDocuments: {
    /** Absolute path of the manifest. */
    readonly file: string;
    /** Nothing else runs. */
    readonly isOnly: boolean;
  };
  /** How much of replies this node keeps; 0: nothing. */
  readonly replyCacheBytes: number;
  /** How long a node that is told to leave still takes requests, so that balancers see it go. */
  readonly drainSeconds: number;
  /** Of the token that `GET /metrics` asks for; `null`: none, but it answers this machine and private networks only. */
  readonly metricsTokenHash: Buffer | null;
  /** `null`: nothing is limited. */
  readonly rateLimits: RateLimitSettings | null;
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
}

const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .optional()
    .transform((word) => (word === undefined ? fallback : word === 'true'));

const url = (schemes: readonly string[]) =>
  z
    .string()
    .refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol), {
      error: `must be an address that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    })
    .optional();

/** Scheme, host and port, spelt as a browser sends them: compared as texts, nothing else would ever be equal. */
const isOrigin = (text: string): boolean =>
  /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

const Settings = z.object({
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a whole number from 0 to 65535')
    .transform(Number)
    .refine((port) => port <= 65_535, { error: 'must be a whole number from 0 to 65535' })
    .optional(),
  HOST: z
    .string()
    .regex(/^[a-zA-Z0-9.:-]{1,253}$/, 'must be a host name or an address')
    .optional(),
  DATA_DIR: z.string().min(1, 'must not be empty').optional(),
  DATABASE_URL: url(['postgres:', 'postgresql:']),
  JOBS_URL: url(['postgres:', 'postgresql:', 'mongodb:', 'mongodb+srv:']),
  ROOT_KEY: z
    .string()
    .regex(/^(file:.+|[A-Za-z0-9+/]{43}=)$/, 'must be the base64 of 32 bytes, or file:PATH')
    .optional(),
  BOOTSTRAP_TOKEN: z
    .string()
    .refine(hasValidChecksum, { error: 'must be srt_, 43 base64url characters and their checksum of 6 characters' })
    .optional(),
  SMTP_URL: url(['smtp:', 'smtps:']),
  TRUSTED_PROXIES: z
    .string()
    .transform((list) => list.split(',').map((entry) => entry.trim()))
    .refine((entries) => entries.every(isCidr), {
      error: 'must be addresses or networks (10.0.0.0/8), joined by commas',
    })
    .optional(),
  CORS_ORIGINS: z
    .string()
    .transform((list) => list.split(',').map((entry) => entry.trim()))
    .refine((entries) => entries.every(isOrigin), {
      error: 'must be origins as browsers write them (https://app.example.com), joined by commas',
    })
    .optional(),
  MAX_CONNECTIONS: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a whole number from 10 to 65535')
    .transform(Number)
    .refine((count) => count >= 10 && count <= 65_535, { error: 'must be a whole number from 10 to 65535' })
    .optional(),
  REPLY_CACHE_MIB: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a whole number from 0 to 16384')
    .transform(Number)
    .refine((mebibytes) => mebibytes <= 16_384, { error: 'must be a whole number from 0 to 16384' })
    .optional(),
  DRAIN_SECONDS: z
    .string()
    .regex(/^\d{1,2}$/, 'must be a whole number from 0 to 60')
    .transform(Number)
    .refine((seconds) => seconds <= 60, { error: 'must be a whole number from 0 to 60' })
    .optional(),
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,200}$/, 'must be 16 to 200 visible ASCII characters without blanks')
    .optional(),
  ALLOW_PRIVATE_TARGETS: flag(false),
  INTROSPECTION: flag(true),
  GRAPHQL_LIMITS: z
    .string()
    .transform((text) => parseLimits(text))
    .refine((limits) => limits !== null, { error: LIMITS_RULE })
    .optional(),
  PERSISTED_DOCUMENTS: z.string().min(1, 'must not be empty').optional(),
  PERSISTED_DOCUMENTS_ONLY: flag(false),
  PERSISTED_LIMITS_FACTOR: z
    .string()
    .regex(/^([1-9]\d{0,2}|1000)$/, 'must be a whole number from 1 to 1000')
    .transform(Number)
    .optional(),
  RATE_LIMIT: z.enum(['on', 'off'], { error: 'must be on or off' }).optional(),
  RATE_LIMITS: rateLimitSettings.optional(),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    })
    .optional(),
  NODE_ENV: z
    .enum(['production', 'development', 'test'], { error: 'must be production, development or test' })
    .optional(),
});

const NAMES = Object.keys(Settings.shape);

/**
 * Reads and checks the configuration, and removes the secrets in it from the environment, so that no child process and
 * no report can show them.
 *
 * @param environment `process.env`, or what stands for it
 * @throws ConfigurationFault with every fault at once: a name and a reason each, never a value
 * Source: reliability P2, P14.
 */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const given = Object.fromEntries(NAMES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
  const parsed = Settings.safeParse(given);
  const faults = [
    ...(parsed.error?.issues ?? []).map((issue) => `${String(issue.path[0])} ${issue.message}`),
    ...Object.keys(environment).flatMap(misspelling),
  ];
  if (parsed.data === undefined || faults.length > 0) throw new ConfigurationFault(faults);
  for (const secret of ['ROOT_KEY', 'BOOTSTRAP_TOKEN', 'DATABASE_URL', 'JOBS_URL', 'SMTP_URL', 'METRICS_TOKEN'])
    delete environment[secret];
  const settings = parsed.data;
  const dataDir = resolve(settings.DATA_DIR ?? '.data');
  const limits = settings.GRAPHQL_LIMITS ?? DEFAULT_LIMITS;
  return Object.freeze({
    host: settings.HOST ?? '127.0.0.1',
    port: settings.PORT ?? 4000,
    dataDir,
    databaseUrl: sealed(settings.DATABASE_URL),
    rootKey: sealed(settings.ROOT_KEY),
    bootstrapToken: sealed(settings.BOOTSTRAP_TOKEN),
    trustedProxies: settings.TRUSTED_PROXIES ?? [],
    corsOrigins: settings.CORS_ORIGINS ?? [],
    maxConnections: settings.MAX_CONNECTIONS ?? 2_000,
    introspection: settings.INTROSPECTION,
    queryLimits: { ofCallers: limits, ofPersisted: raised(limits, settings.PERSISTED_LIMITS_FACTOR ?? 10) },
    persistedDocuments: {
      file: resolve(settings.PERSISTED_DOCUMENTS ?? join(dataDir, 'persisted-documents.json')),
      isOnly: settings.PERSISTED_DOCUMENTS_ONLY,
    },
    replyCacheBytes: (settings.REPLY_CACHE_MIB ?? 32) * 1024 * 1024,
    drainSeconds: settings.DRAIN_SECONDS ?? 5,
    metricsTokenHash: settings.METRICS_TOKEN === undefined ? null : hashToken(settings.METRICS_TOKEN),
    rateLimits: settings.RATE_LIMIT === 'off' ? null : (settings.RATE_LIMITS ?? DEFAULT_RATE_LIMITS),
    logLevel: settings.LOG_LEVEL ?? 'info',
  });
}

const sealed = (text: string | undefined): SealedText | null => (text === undefined ? null : new SealedText(text));

/** A variable that is one letter off one of ours is a fault: `DATABSE_URL` would start an empty embedded database. */
function misspelling(name: string): string[] {
  if (NAMES.includes(name)) return [];
  const meant = NAMES.find(
    (known) => known.length > 6 && isOneEditApart(known, name.toUpperCase().replaceAll('-', '_')),
  );
  return meant === undefined ? [] : [`${name} is not a setting; did you mean ${meant}?`];
}

/** True for equal texts, and for one letter added, dropped, changed, or two neighbours swapped. */
function isOneEditApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  return Math.max(left.length, right.length) <= 1 || (left.length === 2 && left === [...right].reverse().join(''));
}
