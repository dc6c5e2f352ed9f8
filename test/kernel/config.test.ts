import { readConfig } from '../../src/config.js';
import { ConfigurationError } from '../../src/kernel/configuration-error.js';
import { hashToken, mintToken } from '../../src/kernel/crypto/token.js';

/** A marker inside every wrong value, so that a value that is told shows. */
const CANARY = 'cAnArY7';

const WRONG_VALUES: Readonly<Record<string, string>> = {
  PORT: `65536${CANARY}`,
  HOST: `host of ${CANARY}`,
  DATABASE_URL: `mysql://root:${CANARY}@db/strongroom`,
  JOBS_URL: `redis://:${CANARY}@jobs`,
  ROOT_KEY: `${CANARY}=`,
  BOOTSTRAP_TOKEN: `srt_${CANARY}`,
  SMTP_URL: `http://mail:${CANARY}@mail`,
  TRUSTED_PROXIES: `10.0.0.0/8, ${CANARY}`,
  CORS_ORIGINS: `https://app.example.com/${CANARY}`,
  MAX_CONNECTIONS: `9${CANARY}`,
  PUBLIC_URL: `https://user:${CANARY}@pki.example.com`,
  ALLOW_PRIVATE_TARGETS: `yes ${CANARY}`,
  INTROSPECTION: `off ${CANARY}`,
  GRAPHQL_LIMITS: `depth=5,${CANARY}=1`,
  PERSISTED_DOCUMENTS_ONLY: `on ${CANARY}`,
  PERSISTED_LIMITS_FACTOR: `ten ${CANARY}`,
  RATE_LIMIT: `true ${CANARY}`,
  LOG_LEVEL: `verbose ${CANARY}`,
  NODE_ENV: `prod ${CANARY}`,
};

const MISSPELT: Readonly<Record<string, string>> = {
  DATABSE_URL: 'DATABASE_URL',
  DATABASEURL: 'DATABASE_URL',
  'DATABASE-URL': 'DATABASE_URL',
  database_url: 'DATABASE_URL',
  DATADIR: 'DATA_DIR',
  ROOTKEY: 'ROOT_KEY',
  ROOT_KYE: 'ROOT_KEY',
  BOOTSTRAP_TOKENS: 'BOOTSTRAP_TOKEN',
  TRUSTED_PROXYES: 'TRUSTED_PROXIES',
  LOGLEVEL: 'LOG_LEVEL',
  RATELIMIT: 'RATE_LIMIT',
  INTROSPECTON: 'INTROSPECTION',
};

const violationsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.violations;
    throw error;
  }
  return [];
};

describe('readConfig', () => {
  test.each<Record<string, string>>([
    { DRAIN_SECONDS: `61${CANARY}` },
    { DRAIN_SECONDS: '61' },
    { DRAIN_SECONDS: '-1' },
    { METRICS_TOKEN: `short ${CANARY}` },
    { METRICS_TOKEN: 'fifteen-letters' },
    { MAIL_FROM: `Strongroom ${CANARY}` },
    { MAIL_FROM: `a@${CANARY}.example, b@example.com` },
    ...['smtp://', `smtp://mail/${CANARY}`, `smtp://mail?tls=${CANARY}`, 'smtps://mail?tls=optional'].map((url) => ({
      SMTP_URL: url,
    })),
    { SMTP_URL: `smtp://${CANARY}@mail` },
    { SMTP_URL: `smtp://a:%zz${CANARY}@mail` },
  ])('refuses %j, and tells no value', (environment) => {
    const violations = violationsOf(environment);
    expect(violations).toEqual([expect.stringMatching(new RegExp(`^${Object.keys(environment)[0]} must be `))]);
    expect(violations.join('\n')).not.toContain(CANARY);
  });

  test('takes the token of the metrics out of the environment', () => {
    const environment = { METRICS_TOKEN: 'sixteen-letters!', DRAIN_SECONDS: '60' };
    const config = readConfig(environment);
    expect(config.metricsTokenHash).toEqual(hashToken('sixteen-letters!'));
    expect(config.drainSeconds).toBe(60);
    expect(environment).toEqual({ DRAIN_SECONDS: '60' });
  });

  test('tells 31 faults of one configuration at once, a line each, and none of the values', () => {
    const misspelt = Object.fromEntries(Object.keys(MISSPELT).map((name) => [name, `value ${CANARY}`]));

    const violations = violationsOf({ ...WRONG_VALUES, ...misspelt });

    expect(violations).toHaveLength(31);
    expect(violations.filter((violation) => violation.includes('\n'))).toEqual([]);
    expect(violations.join('\n')).not.toContain(CANARY);
    for (const name of Object.keys(WRONG_VALUES)) {
      expect(violations.filter((violation) => violation.startsWith(`${name} `))).toHaveLength(1);
    }
  });

  test.each(Object.entries(MISSPELT))('takes %s for a misspelt %s', (given, meant) => {
    expect(violationsOf({ [given]: CANARY })).toEqual([`${given} is an unknown setting; did you mean ${meant}?`]);
  });

  test('leaves alone what others put into the environment', () => {
    const others = {
      PATH: '/bin',
      HOME: '/root',
      POST: '1',
      HOSTNAME: 'x',
      PGDATABASE: 'x',
      NODE_OPTIONS: '',
      TERM: 'x',
    };

    expect(violationsOf(others)).toEqual([]);
  });

  test('takes the secrets out of the environment and leaves the rest', () => {
    const token = mintToken();
    const rootKey = Buffer.alloc(32, 7).toString('base64');
    const environment: Record<string, string | undefined> = {
      ROOT_KEY: rootKey,
      BOOTSTRAP_TOKEN: token,
      DATABASE_URL: 'postgres://strongroom:pw@localhost/strongroom',
      DATABASE_OWNER_URL: 'postgres://owner:pw@localhost/strongroom',
      JOBS_URL: 'mongodb://jobs:pw@localhost/jobs',
      SMTP_URL: 'smtps://mail:pw@localhost',
      PORT: '4001',
      PATH: '/bin',
    };

    const config = readConfig(environment);

    expect(environment).toEqual({ PORT: '4001', PATH: '/bin' });
    expect([config.rootKey?.reveal(), config.bootstrapToken?.reveal(), config.port]).toEqual([rootKey, token, 4001]);
    expect(JSON.stringify(config)).not.toMatch(`${token}|pw@`);
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('takes the URL of the owner beside that of the service only', () => {
    const [ofService, ofOwner] = ['postgres://service@localhost/x', 'postgres://owner@localhost/x'];
    const urls = { DATABASE_URL: ofService, DATABASE_OWNER_URL: ofOwner };

    expect(violationsOf({ DATABASE_OWNER_URL: ofOwner })).toEqual([
      'DATABASE_OWNER_URL needs DATABASE_URL, by which the service logs in',
    ]);
    expect(violationsOf({ ...urls, DATABASE_ROLE: 'owner' })).toEqual([
      'DATABASE_ROLE=owner contradicts DATABASE_OWNER_URL',
    ]);
    expect(readConfig({ ...urls }).databaseOwnerUrl?.reveal()).toBe(ofOwner);
  });

  test('takes no database for jobs that is the one of the service', () => {
    const DATABASE_URL = 'postgres://service:canary@localhost/x';
    const same = 'postgresql://jobs:canary@127.0.0.1:5432/x?sslmode=disable';
    const faults = ['JOBS_URL is the database of DATABASE_URL: leave it out to keep jobs there'];

    expect(violationsOf({ DATABASE_URL, JOBS_URL: DATABASE_URL })).toEqual(faults);
    expect(violationsOf({ DATABASE_URL, JOBS_URL: same })).toEqual(faults);
    for (const JOBS_URL of ['postgres://localhost/y', 'postgres://localhost:6432/x', 'mongodb://localhost/x'])
      expect(readConfig({ DATABASE_URL, JOBS_URL }).jobsUrl?.reveal()).toBe(JOBS_URL);
  });

  test('takes the address of the service, without slashes at its end', () => {
    expect(readConfig({ PUBLIC_URL: 'http://pki.example.com:8080/certs//' }).publicUrl).toBe(
      'http://pki.example.com:8080/certs',
    );
    expect(readConfig({}).publicUrl).toBeNull();
  });

  test('takes a mail server and a sender', () => {
    const config = readConfig({ SMTP_URL: 'smtp://mail:1025?tls=optional', MAIL_FROM: 'Vault <vault@example.com>' });

    expect(config.smtpUrl?.reveal()).toBe('smtp://mail:1025?tls=optional');
    expect(config.mailFrom).toEqual({ name: 'Vault', address: 'vault@example.com' });
    expect(readConfig({})).toMatchObject({ smtpUrl: null, mailFrom: { address: 'strongroom@localhost' } });
  });

  test('an empty variable is no setting, and nothing at all is a whole configuration', () => {
    const unset = readConfig({});

    expect(readConfig({ PORT: '', ROOT_KEY: '', DATABASE_URL: '' })).toEqual(unset);
    expect(unset).toMatchObject({ host: '127.0.0.1', port: 4000, databaseUrl: null, logLevel: 'info' });
  });

  test('limits rates unless told not to, and takes what is not named from the defaults', () => {
    const quotas = { reads: 600, writes: 200, mints: 60, lookups: 30, failures: 60, anonymous: 300 };

    expect(readConfig({}).rateLimits).toEqual({ quotas, seconds: 60 });
    expect(readConfig({ RATE_LIMITS: ' writes=7, seconds=5 ' }).rateLimits).toEqual({
      quotas: { ...quotas, writes: 7 },
      seconds: 5,
    });
    expect(readConfig({ RATE_LIMIT: 'off', RATE_LIMITS: 'writes=7' }).rateLimits).toBeNull();
  });

  test.each([
    'reads',
    'reads=0',
    'reads=-1',
    'reads=1.5',
    'reads=1e3',
    'reads=9999999999',
    'seconds=86401',
    `reads=${CANARY}`,
    `${CANARY}=5`,
    'constructor=5',
    'reads=5;writes=5',
    'reads=5,,writes=5',
    'reads=5,reads=6',
  ])('refuses RATE_LIMITS %s', (text) => {
    const violations = violationsOf({ RATE_LIMITS: text });

    expect(violations).toHaveLength(1);
    expect(violations[0]).toMatch(
      /^RATE_LIMITS must be reads=N,writes=N,mints=N,lookups=N,failures=N,anonymous=N,seconds=N/,
    );
    expect(violations[0]).not.toContain(CANARY);
  });
  test('limits of documents that are not named keep their defaults, and those of trusted ones are so many times as high', () => {
    const { ofCallers, ofPersisted } = readConfig({
      GRAPHQL_LIMITS: ' depth=20, cost = 700',
      PERSISTED_LIMITS_FACTOR: '3',
    }).queryLimits;

    expect(ofCallers).toEqual({ ...readConfig({}).queryLimits.ofCallers, depth: 20, cost: 700 });
    expect(ofPersisted).toMatchObject({ depth: 60, cost: 2_100, text: 3 * 32 * 1024 });
  });

  test.each(['depth', 'depth=0', 'depth=101', 'depth=5,depth=6', 'depth=5,', 'deepness=5', 'depth=-5', 'cost=1e3'])(
    'refuses GRAPHQL_LIMITS %j',
    (limits) =>
      expect(violationsOf({ GRAPHQL_LIMITS: limits })).toEqual([expect.stringMatching(/^GRAPHQL_LIMITS must be /)]),
  );

  test.each(['0', '65535'])('accepts PORT %s', (port) => expect(readConfig({ PORT: port }).port).toBe(Number(port)));

  test.each(['-1', '65536', '1e3', '4000 ', '0x10', '٤'])('refuses PORT %j', (port) => {
    expect(violationsOf({ PORT: port })).toEqual(['PORT must be a whole number from 0 to 65535']);
  });

  test.each([
    '*',
    'null',
    'app.example.com',
    'https://app.example.com/',
    'https://App.example.com',
    'https://app.example.com:443',
    'https://user@app.example.com',
    'ftp://app.example.com',
    'https://app.example.com,',
    'https://*.example.com',
  ])('refuses CORS_ORIGINS %j, which no browser would send', (origins) => {
    expect(violationsOf({ CORS_ORIGINS: origins })).toEqual([
      'CORS_ORIGINS must be origins (https://app.example.com), separated by commas',
    ]);
  });

  test('reads lists of origins', () => {
    const { corsOrigins } = readConfig({
      CORS_ORIGINS: 'https://app.example.com , http://localhost:3000,http://[::1]:8',
    });
    expect(corsOrigins).toEqual(['https://app.example.com', 'http://localhost:3000', 'http://[::1]:8']);
    expect(readConfig({}).corsOrigins).toEqual([]);
  });

  test.each(['9', '65536', '1e3'])('refuses MAX_CONNECTIONS %j', (count) => {
    expect(violationsOf({ MAX_CONNECTIONS: count })).toEqual([
      'MAX_CONNECTIONS must be a whole number from 10 to 65535',
    ]);
  });
});
