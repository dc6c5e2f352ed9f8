import { join, resolve } from 'node:path';
import * as z from 'zod';
import { isCidr } from './kernel/addresses.js';
import { MAX_RETENTION_DAYS, NO_EXPIRATION, type Retention } from './kernel/audit/retention.js';
import { ConfigurationError } from './kernel/configuration-error.js';
import { SealedText } from './kernel/crypto/sealed-text.js';
import { hashToken, hasValidChecksum } from './kernel/crypto/token.js';
import { TRANSIT, type TransitSettings } from './kernel/crypto/transit.js';
import type { Pooler } from './kernel/database/bounded-client.js';
import { DEFAULT_LIMITS, multipliedLimits, type QueryLimits, queryLimits } from './kernel/graphql/gate/limits.js';
import { DEFAULT_STREAM_LIMITS, type StreamLimits, streamLimits } from './kernel/http/streams/stream-limits.js';
import { overwriteInitialValues } from './kernel/initial-environment.js';
import { DEFAULT_RATE_LIMITS, type RateLimitSettings, rateLimitSettings } from './kernel/operations/limits/settings.js';
import { DEFAULT_SENDER, isSmtpUrl, type MailAddress, mailAddressOf } from './kernel/outbound/mail-settings.js';
import { isOneEditApart } from './kernel/suggestions.js';
import { TRACE_VARIABLES, type TraceSettings, traceSettings } from './kernel/tracing/trace-settings.js';

/** Routes answer whole lists, in documents that nobody else writes. */
const ROUTES_FACTOR = 25;

/** How the service is set up. Frozen; made once at start. Every setting is documented in src/docs/configuration.md. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Absolute path of the embedded database, the bootstrap token and the local root key. */
  readonly dataDir: string;
  /** `null`: embedded Postgres in `dataDir`. */
  readonly databaseUrl: SealedText | null;
  /** For migrations and programs; `null`: `databaseUrl` is that of the owner. */
  readonly databaseOwnerUrl: SealedText | null;
  /** The service works with a role that owns nothing, or as the owner. */
  readonly databaseRole: 'service' | 'owner';
  /** Whether policies hold the statements of a request to its organization. */
  readonly hasRowSecurity: boolean;
  /** What a pooler before the database shares; of session mode where there is none. */
  readonly pooler: Pooler;
  /** How long a start waits for a database that is away. */
  readonly databaseWaitSeconds: number;
  /** Where Agenda keeps its jobs; `null`: in the database of the service. */
  readonly jobsUrl: SealedText | null;
  /** Base64 of 32 bytes, `file:PATH` or `transit:URL`; `null`: made once in `dataDir`. */
  readonly rootKey: SealedText | null;
  /** In the same forms; `null`: the root key is not about to change. */
  readonly nextRootKey: SealedText | null;
  /** For root keys that are encrypted by it. */
  readonly transit: TransitSettings;
  /** Token of the first admin identity; `null`: made at first start. */
  readonly bootstrapToken: SealedText | null;
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Whose pages may call the service from a browser. */
  readonly corsOrigins: readonly string[];
  /** Open at once, of all clients and of one client address. */
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** How long a request may take. */
  readonly requestSeconds: number;
  /** How many event streams may be open. */
  readonly eventStreams: StreamLimits;
  /** `null`: nothing is limited. */
  readonly rateLimits: RateLimitSettings | null;
  readonly introspection: boolean;
  /** What GraphQL documents may ask for: those of callers, and those that are registered. */
  readonly queryLimits: {
    readonly ofCallers: QueryLimits;
    readonly ofPersisted: QueryLimits;
    /** Objects in the response of a REST route. */
    readonly ofRoutes: Pick<QueryLimits, 'objects'>;
  };
  readonly persistedDocuments: {
    /** Absolute path of the manifest. */
    readonly file: string;
    /** A setting of its own says where it is; else it lies in `dataDir`. */
    readonly isFileNamed: boolean;
    /** Nothing else runs. */
    readonly isOnly: boolean;
  };
  /** How much of replies this node keeps; 0: nothing. */
  readonly responseCacheBytes: number;
  /** How many values of secrets this node keeps open; 0: none. */
  readonly openedValuesBytes: number;
  /** Memory of all responses that are built or sent at the same time. */
  readonly responseMemoryBytes: number;
  /** How long a draining node still accepts requests, so that load balancers notice that it is leaving. */
  readonly drainSeconds: number;
  /** Of the token that `GET /metrics` asks for; `null`: none, but it answers this machine and private networks only. */
  readonly metricsTokenHash: Buffer | null;
  /** Where mail is handed over; `null`: channels that send mail report that they cannot. */
  readonly smtpUrl: SealedText | null;
  /** How long records of the audit trail are kept whose project does not say. */
  readonly auditRetention: Retention;
  /** Whom mail is from. */
  readonly mailFrom: MailAddress;
  /** Where others reach the service, without a slash at the end; `null`: certificates name no revocation list. */
  readonly publicUrl: string | null;
  /** External systems may be on this machine and in private networks. */
  readonly allowPrivateTargets: boolean;
  /** Requests are logged at level `info`. */
  readonly accessLog: boolean;
  /** Where traces go; `null`: nothing is traced. */
  readonly traces: TraceSettings | null;
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
}

const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((word) => word === 'true')
    .default(fallback);

/** In decimal digits and nothing else: `Number` would take `1e3` and ` 7` too. */
const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .refine((text) => /^\d{1,5}$/.test(text) && Number(text) >= least && Number(text) <= most, {
      error: `must be a whole number from ${least} to ${most}`,
    })
    .transform(Number);

const list = (isEntry: (text: string) => boolean, entries: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .refine((all) => all.every(isEntry), { error: `must be ${entries}, separated by commas` })
    .default([]);

const url = (schemes: readonly string[]) =>
  z
    .string()
    .refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol), {
      error: `must be a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    })
    .optional();

/** Scheme, host and port, spelt as a browser sends them: compared as texts, nothing else would ever be equal. */
const isOrigin = (text: string): boolean =>
  /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

/** An address to which paths can be appended, in ASCII as certificates have it. */
const isPlainAddress = (text: string): boolean =>
  /^https?:\/\/[\x21-\x7e]{1,200}$/i.test(text) && URL.canParse(text) && !/[?#@]/.test(text);

const rootKey = z
  .string()
  .refine((text) => /^(file:.+|[A-Za-z0-9+/]{43}=)$/.test(text) || TRANSIT.test(text), {
    error: 'must be 32 bytes in base64, file:PATH, or transit:https://HOST/MOUNT/KEY',
  })
  .optional();

/** The environment variables, documented in src/docs/configuration.md. */
const Settings = z.object({
  PORT: wholeNumber(0, 65_535).default(4_000),
  HOST: z
    .string()
    .regex(/^[a-zA-Z0-9.:-]{1,253}$/, 'must be a host name or an IP address')
    .default('127.0.0.1'),
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: url(['postgres:', 'postgresql:']),
  DATABASE_OWNER_URL: url(['postgres:', 'postgresql:']),
  DATABASE_ROLE: z.enum(['service', 'owner'], { error: 'must be service or owner' }).default('service'),
  ROW_SECURITY: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
  DATABASE_POOLER: z.enum(['session', 'transaction'], { error: 'must be session or transaction' }).default('session'),
  PREPARED_STATEMENTS: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
  DATABASE_WAIT_SECONDS: wholeNumber(0, 3_600).default(60),
  ROOT_KEY: rootKey,
  NEXT_ROOT_KEY: rootKey,
  TRANSIT_TOKEN: z.string().optional(),
  TRANSIT_CA_FILE: z.string().optional(),
  BOOTSTRAP_TOKEN: z
    .string()
    .refine(hasValidChecksum, {
      error: 'must be srt_ followed by 43 base64url characters and a checksum of 6 characters',
    })
    .optional(),
  TRUSTED_PROXIES: list(isCidr, 'IP addresses or networks (10.0.0.0/8)'),
  CORS_ORIGINS: list(isOrigin, 'origins (https://app.example.com)'),
  MAX_CONNECTIONS: wholeNumber(10, 65_535).default(2_000),
  MAX_CONNECTIONS_PER_ADDRESS: wholeNumber(1, 65_535).default(500),
  REQUEST_SECONDS: wholeNumber(1, 600).default(30),
  EVENT_STREAMS: streamLimits.default(DEFAULT_STREAM_LIMITS),
  RATE_LIMIT: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
  RATE_LIMITS: rateLimitSettings.default(DEFAULT_RATE_LIMITS),
  INTROSPECTION: flag(true),
  GRAPHQL_LIMITS: queryLimits.default(DEFAULT_LIMITS),
  PERSISTED_DOCUMENTS: z.string().optional(),
  PERSISTED_DOCUMENTS_ONLY: flag(false),
  PERSISTED_LIMITS_FACTOR: wholeNumber(1, 1_000).default(10),
  REPLY_CACHE_MIB: wholeNumber(0, 16_384).default(32),
  OPENED_VALUES_MIB: wholeNumber(0, 16_384).optional(),
  // The longest response, 64 MiB, takes three and a half times as much while it is built.
  RESPONSE_MEMORY_MIB: wholeNumber(224, 16_384).default(256),
  DRAIN_SECONDS: wholeNumber(0, 60).default(5),
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,200}$/, 'must be 16 to 200 printable ASCII characters without spaces')
    .optional(),
  ACCESS_LOG: flag(false),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    })
    .default('info'),
  NODE_ENV: z
    .enum(['production', 'development', 'test'], { error: 'must be production, development or test' })
    .optional(),
  JOBS_URL: url(['postgres:', 'postgresql:', 'mongodb:', 'mongodb+srv:']),
  SMTP_URL: z
    .string()
    .refine(isSmtpUrl, {
      error: 'must be smtp://user:password@host:port or smtps://…; only smtp:// may end in ?tls=optional',
    })
    .optional(),
  MAIL_FROM: z
    .string()
    .transform((text, issues) => {
      const address = mailAddressOf(text);
      if (address === null) issues.addIssue({ code: 'custom', message: 'must be an email address, or Name <address>' });
      return address ?? z.NEVER;
    })
    .default(DEFAULT_SENDER),
  PUBLIC_URL: z
    .string()
    .refine(isPlainAddress, {
      error: 'must be a URL such as https://pki.example.com, optionally with a path, without query or fragment',
    })
    .transform((text) => text.replace(/\/+$/, ''))
    .optional(),
  ALLOW_PRIVATE_TARGETS: flag(false),
  AUDIT_RETENTION_DAYS: wholeNumber(1, MAX_RETENTION_DAYS).optional(),
  AUDIT_READS_RETENTION_DAYS: wholeNumber(1, MAX_RETENTION_DAYS).optional(),
  ...TRACE_VARIABLES,
});

/** They leave the environment once they are read. */
const SECRETS = [
  'ROOT_KEY',
  'NEXT_ROOT_KEY',
  'TRANSIT_TOKEN',
  'BOOTSTRAP_TOKEN',
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'JOBS_URL',
  'SMTP_URL',
  'METRICS_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const;

const NAMES = Object.keys(Settings.shape);

/**
 * Reads and checks the configuration, and removes the secrets in it from the environment, so that no child process and
 * no report can show them.
 *
 * @param environment `process.env`, or a substitute for it
 * @throws ConfigurationError with every fault at once: a name and a reason each, never a value
 */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const given = Object.fromEntries(NAMES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
  const parsed = Settings.safeParse(given);
  const violations = [
    ...(parsed.error?.issues ?? []).map((issue) => `${String(issue.path[0])} ${issue.message}`),
    ...Object.keys(environment).flatMap(misspelling),
    ...(parsed.data === undefined ? [] : contradictions(parsed.data)),
  ];
  if (parsed.data === undefined || violations.length > 0) throw new ConfigurationError(violations);
  const secrets = SECRETS.filter((name) => environment[name] !== undefined);
  for (const name of secrets) delete environment[name];
  if (environment === process.env) overwriteInitialValues(secrets);
  const settings = parsed.data;
  const dataDir = resolve(settings.DATA_DIR);
  const limits = settings.GRAPHQL_LIMITS;
  return Object.freeze({
    // On some machines `localhost` is ::1 alone, and most clients ask 127.0.0.1.
    host: settings.HOST === 'localhost' ? '127.0.0.1' : settings.HOST,
    port: settings.PORT,
    dataDir,
    databaseUrl: sealed(settings.DATABASE_URL),
    databaseOwnerUrl: sealed(settings.DATABASE_OWNER_URL),
    databaseRole: settings.DATABASE_ROLE,
    hasRowSecurity: settings.ROW_SECURITY === 'on',
    pooler: poolerOf(settings),
    databaseWaitSeconds: settings.DATABASE_WAIT_SECONDS,
    jobsUrl: sealed(settings.JOBS_URL),
    rootKey: sealed(settings.ROOT_KEY),
    nextRootKey: sealed(settings.NEXT_ROOT_KEY),
    transit: {
      token: sealed(settings.TRANSIT_TOKEN),
      caFile: settings.TRANSIT_CA_FILE ?? null,
      waitSeconds: settings.DATABASE_WAIT_SECONDS,
    },
    bootstrapToken: sealed(settings.BOOTSTRAP_TOKEN),
    trustedProxies: settings.TRUSTED_PROXIES,
    corsOrigins: settings.CORS_ORIGINS,
    maxConnections: settings.MAX_CONNECTIONS,
    maxConnectionsPerAddress: settings.MAX_CONNECTIONS_PER_ADDRESS,
    requestSeconds: settings.REQUEST_SECONDS,
    eventStreams: settings.EVENT_STREAMS,
    rateLimits: settings.RATE_LIMIT === 'off' ? null : settings.RATE_LIMITS,
    introspection: settings.INTROSPECTION,
    queryLimits: {
      ofCallers: limits,
      ofPersisted: multipliedLimits(limits, settings.PERSISTED_LIMITS_FACTOR),
      ofRoutes: { objects: limits.objects * ROUTES_FACTOR },
    },
    persistedDocuments: persistedDocumentsOf(settings, dataDir),
    responseCacheBytes: settings.REPLY_CACHE_MIB * 1024 * 1024,
    openedValuesBytes: (settings.OPENED_VALUES_MIB ?? settings.REPLY_CACHE_MIB / 2) * 1024 * 1024,
    responseMemoryBytes: settings.RESPONSE_MEMORY_MIB * 1024 * 1024,
    drainSeconds: settings.DRAIN_SECONDS,
    metricsTokenHash: settings.METRICS_TOKEN === undefined ? null : hashToken(settings.METRICS_TOKEN),
    smtpUrl: sealed(settings.SMTP_URL),
    mailFrom: settings.MAIL_FROM,
    auditRetention: retentionOf(settings),
    publicUrl: settings.PUBLIC_URL ?? null,
    allowPrivateTargets: settings.ALLOW_PRIVATE_TARGETS,
    accessLog: settings.ACCESS_LOG,
    traces: traceSettings(settings, (text) => new SealedText(text)),
    logLevel: settings.LOG_LEVEL,
  });
}

const contradictions = (settings: z.output<typeof Settings>): string[] => {
  const { DATABASE_URL, DATABASE_OWNER_URL, DATABASE_ROLE, JOBS_URL } = settings;
  const found: string[] = [];
  if (DATABASE_OWNER_URL !== undefined && DATABASE_URL === undefined)
    found.push('DATABASE_OWNER_URL needs DATABASE_URL, by which the service logs in');
  else if (DATABASE_OWNER_URL !== undefined && DATABASE_ROLE === 'owner')
    found.push('DATABASE_ROLE=owner contradicts DATABASE_OWNER_URL');
  if (DATABASE_URL !== undefined && JOBS_URL !== undefined && databaseOf(DATABASE_URL) === databaseOf(JOBS_URL))
    found.push('JOBS_URL is the database of DATABASE_URL: leave it out to keep jobs there');
  return found;
};

/** Where an address leads, whoever logs in. */
function databaseOf(address: string): string {
  const { protocol, hostname, port, pathname } = new URL(address);
  const scheme = protocol === 'postgresql:' ? 'postgres:' : protocol;
  return `${scheme}//${hostname === 'localhost' ? '127.0.0.1' : hostname}:${port || '5432'}${pathname}`;
}

type PoolerSettings = Pick<z.output<typeof Settings>, 'DATABASE_POOLER' | 'PREPARED_STATEMENTS'>;

const poolerOf = (settings: PoolerSettings): Pooler => ({
  sharesSessions: settings.DATABASE_POOLER === 'transaction',
  keepsStatements: settings.PREPARED_STATEMENTS === 'on',
});

type DocumentSettings = Pick<z.output<typeof Settings>, 'PERSISTED_DOCUMENTS' | 'PERSISTED_DOCUMENTS_ONLY'>;

const persistedDocumentsOf = (settings: DocumentSettings, dataDir: string): Config['persistedDocuments'] => ({
  file: resolve(settings.PERSISTED_DOCUMENTS ?? join(dataDir, 'persisted-documents.json')),
  isFileNamed: settings.PERSISTED_DOCUMENTS !== undefined,
  isOnly: settings.PERSISTED_DOCUMENTS_ONLY,
});

type RetentionSettings = Pick<z.output<typeof Settings>, 'AUDIT_RETENTION_DAYS' | 'AUDIT_READS_RETENTION_DAYS'>;

const retentionOf = (settings: RetentionSettings): Retention => ({
  days: settings.AUDIT_RETENTION_DAYS ?? null,
  browseDays: settings.AUDIT_READS_RETENTION_DAYS ?? settings.AUDIT_RETENTION_DAYS ?? null,
});

const sealed = (text: string | undefined): SealedText | null => (text === undefined ? null : new SealedText(text));

/** A variable that is one letter off one of ours is a fault: `DATABSE_URL` would start an empty embedded database. */
function misspelling(name: string): string[] {
  if (NAMES.includes(name)) return [];
  const meant = NAMES.find(
    (known) => known.length > 6 && isOneEditApart(known, name.toUpperCase().replaceAll('-', '_')),
  );
  return meant === undefined ? [] : [`${name} is an unknown setting; did you mean ${meant}?`];
}

/** What of the configuration services know, for who only wants the schema. */
export const NO_CONFIG: Pick<
  Config,
  'allowPrivateTargets' | 'smtpUrl' | 'mailFrom' | 'auditRetention' | 'jobsUrl' | 'introspection'
> = {
  allowPrivateTargets: false,
  smtpUrl: null,
  mailFrom: DEFAULT_SENDER,
  auditRetention: NO_EXPIRATION,
  jobsUrl: null,
  introspection: true,
};
