import { dirname } from 'node:path';
import { readDocument } from '../kit/documents.js';
import { importsOf, type Source, sources } from './sources.js';

const files = sources('src');
/** Folders of slices, the innermost first: tags are in secrets, and a slice of their own. */
const SLICES = [
  ...new Set(
    files
      .map(({ path }) => path)
      .filter((path) => /^src\/features\/.*\/(index|public)\.ts$/.test(path))
      .map(dirname),
  ),
].sort((a, b) => b.length - a.length);
const sliceOf = (path: string): string | undefined => SLICES.find((slice) => path.startsWith(`${slice}/`));
const areaOf = (path: string): string | undefined => /^src\/features\/([^/]+)\//.exec(path)?.[1];
const AREAS = [...new Set(files.flatMap(({ path }) => areaOf(path) ?? []))].sort();

/** Every import that breaks a rule, as `file -> import`. */
const offenders = (
  inFile: (file: Source) => boolean,
  isForbidden: (imported: string, file: Source) => boolean,
): string[] =>
  files.filter(inFile).flatMap((file) =>
    importsOf(file)
      .filter((imported) => isForbidden(imported, file))
      .map((imported) => `${file.path} -> ${imported}`),
  );

/** Rooms of the kernel, the lowest first; `kernel` is its own folder: context, errors, validation. */
const STREET = [
  'kernel',
  'tracing',
  'load',
  'authz',
  'database',
  'access-cache',
  'postgres',
  'crypto',
  'outbound',
  'audit',
  'jobs',
  'operations',
  'graphql',
  'http',
  'pages',
];

/**
 * What slices are about. Not among it: organizations and projects, to which everything in the kernel belongs, and what the words
 * mean elsewhere (tags of HTTP and of ciphers, the environment of a process).
 */
const RESOURCES =
  /\b(?:secret(?:Key|Value|Path|Name|Tags)|secrets:|(?:secret|folder|import|tag|environment|identity|membership|role)(?:Id|Slug|_id|s:)|(?:SECRET|FOLDER|IMPORT|TAG|ENVIRONMENT|IDENTITY|ROLE|PROJECT)_(?:NOT|SLUG|KEY|NAME|IN)_[A-Z]+|\/api\/v\d\/\w+)\b/g;

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');

/** Folder of a file; what puts rooms together (beside `src/main.ts`, and the index and public names of a slice) stands for itself. */
const folderOf = (path: string): string => (/^src\/[^/]+$|\/(index|public)\.ts$/.test(path) ? path : dirname(path));

type Imports = readonly (readonly [from: string, to: readonly string[]])[];

/** What each reaches by imports, by however many steps; those of types count. */
function reached(imports: Imports): Map<string, ReadonlySet<string>> {
  const uses = new Map<string, Set<string>>();
  for (const [from, to] of imports)
    uses.set(from, new Set([...(uses.get(from) ?? []), ...to.filter((it) => it !== from)]));
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of uses.get(from) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
    return seen;
  };
  return new Map([...uses.keys()].map((from) => [from, reach(from)]));
}

/** Who can be reached from itself. */
const inCycles = (imports: Imports): string[] =>
  [...reached(imports)].filter(([from, to]) => to.has(from)).map(([from]) => from);

const importsOfAreas: Imports = files.flatMap((file) => {
  const area = areaOf(file.path);
  return area === undefined ? [] : [[area, importsOf(file).flatMap((imported) => areaOf(imported) ?? [])] as const];
});

describe('the import rules', () => {
  test('kernel and rest know no feature, and rest knows only the kernel', () => {
    expect(
      offenders(
        ({ path }) => path.startsWith('src/kernel/'),
        (imported) => /^src\/(features|rest)\//.test(imported),
      ),
    ).toEqual([]);
    expect(
      offenders(
        ({ path }) => path.startsWith('src/rest/'),
        (imported) => /^src\/(?!kernel\/|rest\/)/.test(imported),
      ),
    ).toEqual([]);
  });

  test('kernel and rest name no resource of a slice, whether in a name or in a string', () => {
    const named = files
      .filter(({ path }) => /^src\/(kernel|rest)\//.test(path))
      .flatMap(
        ({ path, text }) =>
          withoutComments(text)
            .match(RESOURCES)
            ?.map((word) => `${path}: ${word}`) ?? [],
      );
    expect(named).toEqual([]);
  });

  test('a slice imports another slice only through its public.ts', () => {
    expect(
      offenders(
        ({ path }) => sliceOf(path) !== undefined,
        (imported, { path }) =>
          sliceOf(imported) !== undefined && sliceOf(imported) !== sliceOf(path) && !imported.endsWith('/public.ts'),
      ),
    ).toEqual([]);
  });

  test('areas of features are at most ten, and form no cycle', () => {
    expect(AREAS.length).toBeLessThanOrEqual(10);
    expect(inCycles(importsOfAreas)).toEqual([]);
  });

  test('the picture in src/README.md shows which areas import which', () => {
    const drawn = [...readDocument('src/README.md').matchAll(/^ {2}(\w+) --> (\w+)$/gm)];
    const shown = reached([
      ...AREAS.map((area) => [area, []] as const),
      ...drawn.map(([, from = '', to = '']) => [from, [to]] as const),
    ]);
    expect(shown).toEqual(reached(importsOfAreas));
  });

  test('the README.md of each area names what it stands on, and it is what it imports', () => {
    const named = AREAS.map((area) => [
      area,
      [...readDocument(`src/features/${area}/README.md`).matchAll(/\]\(\.\.\/(\w+)\/README\.md\)/g)]
        .map(([, to]) => to)
        .sort(),
    ]);
    const imported = AREAS.map((area) => [
      area,
      AREAS.filter(
        (other) => other !== area && importsOfAreas.some(([from, to]) => from === area && to.includes(other)),
      ),
    ]);
    expect(named).toEqual(imported);
  });

  test('files form no cycle', () => {
    expect(inCycles(files.map((file) => [file.path, importsOf(file)]))).toEqual([]);
  });

  test('folders form no cycle', () => {
    const places = files.map((file) => [folderOf(file.path), importsOf(file).map(folderOf)] as const);
    expect(inCycles(places)).toEqual([]);
  });

  test('each room of the kernel imports only rooms below it', () => {
    const heightOf = (path: string): number => STREET.indexOf(/^src\/kernel\/([^/]+)\//.exec(path)?.[1] ?? 'kernel');
    const inKernel = (path: string): boolean => path.startsWith('src/kernel/');
    expect(files.map(({ path }) => path).filter((path) => inKernel(path) && heightOf(path) === -1)).toEqual([]);
    expect(
      offenders(
        ({ path }) => inKernel(path),
        (imported, { path }) => inKernel(imported) && heightOf(imported) > heightOf(path),
      ),
    ).toEqual([]);
  });

  test('services and rules know no transport', () => {
    expect(
      offenders(
        ({ path }) => /\.(service|rules)\.ts$/.test(path),
        (imported) =>
          /^(fastify|@fastify|@apollo|@as-integrations|type-graphql)|\.resolver\.ts$|\.routes\.ts$/.test(imported),
      ),
    ).toEqual([]);
  });

  test('rules do no input or output', () => {
    expect(
      offenders(
        ({ path }) => path.endsWith('.rules.ts'),
        (imported) => /^node:(fs|net|http|https|child_process|dns)|^pg$|@mikro-orm|kernel\/database\//.test(imported),
      ),
    ).toEqual([]);
  });

  test('nothing imports app.ts but the programs and the ORM command line', () => {
    expect(
      offenders(
        ({ path }) => !/^src\/(main|bin\/[\w-]+)\.ts$/.test(path),
        (imported) => imported === 'src/app.ts',
      ),
    ).toEqual([]);
  });
});

describe('the single places', () => {
  const elsewhere = (pattern: RegExp, ...homes: string[]): string[] =>
    files.filter(({ path, text }) => !homes.includes(path) && pattern.test(text)).map(({ path }) => path);

  test('the environment is read in config.ts', () => {
    expect(elsewhere(/process\.env/, 'src/config.ts')).toEqual([]);
  });

  test('rows of all organizations are reached by background tasks, programs, root organizations, revocation lists and the change feed', () => {
    expect(elsewhere(/\.(everywhere\b|withConnection\()|\bEVERY_ORGANIZATION\b/)).toEqual([
      'src/backup/take-backup.ts',
      'src/bin/verify-audit.ts',
      'src/features/audit/audit-events/verification/verification-job.ts',
      'src/features/audit/change-feed/change-tail.ts',
      'src/features/certificates/revocation/revocation.service.ts',
      'src/features/identity/organizations/organization.service.ts',
      'src/kernel/audit/audit-sealer.ts',
      'src/kernel/database/database.ts',
      'src/kernel/database/migrate.ts',
      'src/kernel/database/scope.ts',
      'src/kernel/operations/limits/shared-counts.ts',
      'src/kernel/operations/metrics/store-probe.ts',
      'src/start/make-kernel.ts',
      'src/start/open-kernel.ts',
    ]);
  });

  test('rules are compiled where their older words are known', () => {
    expect(
      elsewhere(/\bbuildAbility\b/, 'src/kernel/authz/ability.ts', 'src/features/identity/permissions/ability.ts'),
    ).toEqual([]);
  });

  test('GraphQL errors are made in errors.ts', () => {
    expect(elsewhere(/new GraphQLError\b/, 'src/kernel/errors.ts')).toEqual([]);
  });

  test('ciphers are opened in seal.ts and root-key.ts', () => {
    expect(elsewhere(/create(De|C)ipheriv/, 'src/kernel/crypto/seal.ts', 'src/kernel/crypto/root-key.ts')).toEqual([]);
  });

  test('plaintext is revealed where it is sealed, where references are expanded, where it leaves for its reader, and where the process starts', () => {
    expect(
      elsewhere(
        /\.reveal\(/,
        'src/start/database-server.ts',
        'src/start/bootstrap.ts',
        'src/kernel/crypto/root-key-sources.ts',
        'src/kernel/crypto/transit.ts',
        'src/kernel/crypto/sealer.ts',
        'src/kernel/jobs/stores.ts',
        'src/kernel/operations/responses/idempotency.ts',
        'src/kernel/outbound/mail.ts',
        'src/kernel/tracing/start-tracing.ts',
        'src/features/notifications/alerts/channel-sealing.ts',
        'src/features/rotations/app-connections/connection-sealing.ts',
        'src/features/identity/identities/reviewer-token.ts',
        'src/features/rotations/app-connections/datatool/datatool-client.ts',
        'src/features/rotations/app-connections/smb/rpc-tool.ts',
        'src/features/certificates/key-sealing.ts',
        'src/features/audit/outgoing-events/engine/target-sealing.ts',
        'src/features/rotations/secret-rotations/rotation.type.ts',
        'src/features/rotations/secret-rotations/store/sealing.ts',
        'src/features/certificates/certificates/certificate.resolver.ts',
        'src/features/projects/core/ignore-values.ts',
        'src/features/secrets/references/secret-expansion.ts',
        'src/features/secrets/core/secret-sealing.ts',
        'src/features/secrets/core/secret.type.ts',
        'src/features/certificates/formats/format.service.ts',
        'src/features/secrets/transfer/transfer.service.ts',
        'src/features/secrets/transfer/transfer.resolver.ts',
      ),
    ).toEqual([]);
  });

  test('nothing is written to the console', () => {
    expect(elsewhere(/\bconsole\./)).toEqual([]);
  });
});
