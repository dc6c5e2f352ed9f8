import { importsOf, type Source, sources } from './sources.js';

const files = sources('src');
const sliceOf = (path: string): string | undefined => /^src\/features\/([^/]+)\//.exec(path)?.[1];

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

  test('a slice imports another slice only through its public.ts', () => {
    expect(
      offenders(
        ({ path }) => sliceOf(path) !== undefined,
        (imported, { path }) =>
          sliceOf(imported) !== undefined && sliceOf(imported) !== sliceOf(path) && !imported.endsWith('/public.ts'),
      ),
    ).toEqual([]);
  });

  test('slices form no cycle', () => {
    const uses = new Map<string, Set<string>>();
    for (const file of files) {
      const from = sliceOf(file.path);
      if (from === undefined) continue;
      const others = importsOf(file)
        .flatMap((imported) => sliceOf(imported) ?? [])
        .filter((to) => to !== from);
      uses.set(from, new Set([...(uses.get(from) ?? []), ...others]));
    }
    const reach = (from: string, seen = new Set<string>()): Set<string> => {
      for (const next of uses.get(from) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
      return seen;
    };
    expect([...uses.keys()].filter((slice) => reach(slice).has(slice))).toEqual([]);
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

  test('nothing imports app.ts but the three programs and the ORM command line', () => {
    expect(
      offenders(
        ({ path }) => !/^src\/(main|print-schema|persist-documents)\.ts$/.test(path),
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
        'src/database-server.ts',
        'src/bootstrap.ts',
        'src/kernel/crypto/installation.ts',
        'src/kernel/crypto/sealer.ts',
        'src/kernel/replies/idempotency.ts',
        'src/features/projects/ignore-values.ts',
        'src/features/secrets/secret-expansion.ts',
        'src/features/secrets/secret-sealing.ts',
        'src/features/secrets/secret.type.ts',
        'src/features/secrets/transfer-plaintext.ts',
        'src/features/secrets/transfer.type.ts',
      ),
    ).toEqual([]);
  });

  test('nothing is written to the console', () => {
    expect(elsewhere(/\bconsole\./)).toEqual([]);
  });
});
