import MiniSearch from 'minisearch';
import type { SearchEntry } from './search-entries.js';

/** How many are shown, beside deprecated ones. */
const MOST = 40;
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a all an and any are as at be by can do for from how i in is it me my of on or the their to was what which who with'.split(
    ' ',
  ),
);
/** Words that mean the same here; of a noun the singular. */
const SAME: Readonly<Record<string, string>> = {
  ...{
    show: 'list',
    prod: 'production',
    env: 'environment',
    stage: 'environment',
    remove: 'delete',
    add: 'create',
    new: 'create',
  },
  ...{
    search: 'find',
    permission: 'access',
    right: 'access',
    expire: 'expiry',
    expiring: 'expiry',
    expiration: 'expiry',
  },
  ...{
    variable: 'secret',
    rotation: 'rotate',
    rotated: 'rotate',
    cert: 'certificate',
    directory: 'folder',
    webhook: 'webhook',
  },
};

/** `searchSecrets` -> `search`, `Secrets`. */
const wordsOf = (text: string): string[] => text.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').split(/[^\p{L}\p{N}]+/u);

/** One form for singular and plural, and for words that mean the same. Null for words that tell nothing. */
function normal(word: string): string | null {
  const lower = word.toLowerCase();
  if (lower === '' || STOP_WORDS.has(lower)) return null;
  const single = lower.replace(/ies$/, 'y').replace(/(?<=[^su])s$/, '');
  return Object.hasOwn(SAME, single) ? (SAME[single] as string) : single;
}

/**
 * Makes the search over operations, tasks and guides, for a browser.
 *
 * @returns what finds entries by words: the best first, and deprecated operations last
 */
export function searchIn(entries: readonly SearchEntry[]): (words: string) => SearchEntry[] {
  const index = new MiniSearch<SearchEntry & { readonly id: number }>({
    fields: ['title', 'name', 'tasks', 'text'],
    storeFields: ['kind'],
    tokenize: wordsOf,
    processTerm: normal,
    searchOptions: {
      boost: { title: 4, tasks: 2, name: 2 },
      prefix: (_word, at, words) => at === words.length - 1,
      fuzzy: (word) => (word.length > 4 ? 0.2 : false),
      // They say more than an operation does.
      boostDocument: (_id, _word, stored) => (['guide', 'task'].includes(String(stored?.kind)) ? 1.4 : 1),
    },
  });
  index.addAll(entries.map((entry, id) => ({ id, ...entry })));
  return (words) => {
    const found = index.search(words).map(({ id }) => entries[id] as SearchEntry);
    const current = found.filter(({ isDeprecated }) => !isDeprecated);
    return [...current.slice(0, MOST), ...found.slice(0, MOST).filter(({ isDeprecated }) => isDeprecated)];
  };
}
