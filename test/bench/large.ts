import { type Caller, mustSucceed } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';

/** 25 chains of folders, 20 deep: 500 folders with 20 secrets each, of which 4 refer to others, and 50 imports. */
const CHAINS = 25;
const DEPTH = 20;
const SECRETS = 20;
const REFERRING = 4;
const IMPORTS = 50;

/** Secrets that refer to each other without end, or nearly. */
const WEB = 1_000;
const NAMED_BY_EACH = 10;
const BOMB = 40;

/** A project whose `dev` is as large as they get, and whose `staging` is as entangled. */
export async function fillLarge(admin: Caller): Promise<string> {
  const project = await new Seed(admin).projectOf(admin);
  await fillTree(admin, project.id);
  await fillTangles(admin, project.id);
  return project.id;
}

const pathOf = (chain: number, depth: number): string =>
  `/chain-${chain}${Array.from({ length: depth }, (_, level) => `/level-${level + 1}`).join('')}`;

async function fillTree(admin: Caller, projectId: string): Promise<void> {
  const place = { projectId, environment: 'dev' };
  for (let chain = 0; chain < CHAINS; chain += 1) {
    const deepest = pathOf(chain, DEPTH - 1);
    const cut = deepest.lastIndexOf('/');
    mustSucceed(
      await admin.post('/api/v2/folders', { ...place, path: deepest.slice(0, cut), name: deepest.slice(cut + 1) }),
    );
    for (let depth = 0; depth < DEPTH; depth += 1) {
      const target = pathOf((chain + 1) % CHAINS, depth)
        .slice(1)
        .replaceAll('/', '.');
      const secrets = Array.from({ length: SECRETS }, (_, index) => ({
        secretKey: `KEY_${index}`,
        secretValue:
          index < REFERRING ? `x-\${dev.${target}.KEY_${index + REFERRING}}` : `value ${chain} ${depth} ${index}`,
      }));
      mustSucceed(await admin.post('/api/v4/secrets/batch', { ...place, secretPath: pathOf(chain, depth), secrets }));
    }
  }
  for (let made = 0; made < IMPORTS; made += 1) {
    // Each level of a chain from the next one: no cycle, and chains of imports as deep as the folders.
    const [chain, depth] = [Math.floor(made / (DEPTH - 1)), made % (DEPTH - 1)];
    const source = { environment: 'dev', path: pathOf(chain, depth + 1) };
    mustSucceed(await admin.post('/api/v2/secret-imports', { ...place, path: pathOf(chain, depth), import: source }));
  }
}

/** A web in which each names ten others, a chain of a thousand links, and a bomb that doubles forty times. */
async function fillTangles(admin: Caller, projectId: string): Promise<void> {
  const place = { projectId, environment: 'staging' };
  const tangles = {
    web: Array.from({ length: WEB }, (_, index) => ({
      secretKey: `W${index}`,
      secretValue: Array.from(
        { length: NAMED_BY_EACH },
        (_, step) => `\${W${(index * 7 + step * 13 + 1) % WEB}}`,
      ).join(),
    })),
    chain: Array.from({ length: WEB }, (_, index) => ({
      secretKey: `C${index}`,
      secretValue: index === 0 ? 'end' : `\${C${index - 1}}`,
    })),
    bomb: Array.from({ length: BOMB }, (_, index) => ({
      secretKey: `B${index}`,
      secretValue: index === 0 ? 'boom' : `\${B${index - 1}}\${B${index - 1}}`,
    })),
  };
  for (const [name, secrets] of Object.entries(tangles)) {
    mustSucceed(await admin.post('/api/v2/folders', { ...place, name }));
    mustSucceed(await admin.post('/api/v4/secrets/batch', { ...place, secretPath: `/${name}`, secrets }));
  }
}
