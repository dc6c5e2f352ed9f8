/** The script of the explorer page. It runs in browsers, so it names here what it uses of one. */
interface Field {
  value: string;
  disabled: boolean;
  hidden: boolean;
  readonly textContent: string;
  focus(): void;
  addEventListener(event: string, listener: () => void): void;
}
declare const document: { querySelector(selector: string): Field };
declare const location: { readonly hash: string; readonly pathname: string };
declare const history: { replaceState(state: null, title: string, address: string): void };
declare const sessionStorage: { getItem(key: string): string | null; setItem(key: string, value: string): void };
declare const Worker: new (address: string, options: { readonly name: string }) => unknown;
declare const YogaGraphiQL: { renderYogaGraphiQL(element: Field, props: object): void };

interface Operation {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

const TOKEN = 'strongroom.token';
const ACCEPT = 'application/graphql-response+json, application/json;q=0.9';
const WORKERS: Readonly<Record<string, string>> = { json: 'json-worker', graphql: 'graphql-worker' };

const field = document.querySelector('#token');
const forget = document.querySelector('#forget');
const tokenWanted = document.querySelector('#token-wanted');

function keep(token: string): void {
  // For this tab only, and gone with it. Never in an address.
  sessionStorage.setItem(TOKEN, token);
  forget.disabled = token === '';
  tokenWanted.hidden = token !== '';
}

field.value = sessionStorage.getItem(TOKEN) ?? '';
keep(field.value);
if (field.value === '') field.focus();
field.addEventListener('input', () => keep(field.value.trim()));
forget.addEventListener('click', () => {
  field.value = '';
  keep('');
});

/** The token of the bar goes along, unless the headers of the tab name another one. */
async function fetcher(
  { query, operationName, variables }: Operation,
  { headers = {} }: { headers?: Readonly<Record<string, string>> } = {},
): Promise<unknown> {
  const token = field.value.trim();
  const reply = await fetch('/graphql', {
    method: 'POST',
    credentials: 'omit',
    headers: {
      'content-type': 'application/json',
      accept: ACCEPT,
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    },
    // Right after a change of tabs GraphiQL still has the name of the other tab's operation.
    body: JSON.stringify({ query, variables, ...(query.includes(` ${operationName}`) ? { operationName } : {}) }),
  });
  return shaped((await reply.json()) as Answer);
}

interface InputField {
  type: { readonly kind: string; readonly ofType: InputField['type'] };
  readonly defaultValue?: string | null;
}
interface Type {
  readonly name: string;
  readonly inputFields?: InputField[] | null;
}
interface Answer {
  readonly data?: { readonly __schema?: { readonly types?: Type[] } } | null;
}

/** The types that GraphiQL searches first: it ends at a number of finds. */
const FIRST_TYPES = ['Subscription', 'Mutation', 'Query'];

/**
 * The schema as GraphiQL is to know it: operations first, and a field with a default need not be sent. What checks variables in the
 * editor would mark every input that leaves out a field that is not null, whatever stands in its place.
 */
function shaped(answer: Answer): Answer {
  const types = answer.data?.__schema?.types ?? [];
  types.sort((a, b) => FIRST_TYPES.indexOf(b.name) - FIRST_TYPES.indexOf(a.name));
  for (const field of types.flatMap(({ inputFields }) => inputFields ?? [])) {
    if (field.type.kind === 'NON_NULL' && typeof field.defaultValue === 'string') field.type = field.type.ofType;
  }
  return answer;
}

interface Tab {
  readonly name?: string;
  readonly query: string;
  readonly variables?: object;
  readonly isFirst?: boolean;
}

const { introspection, tabs } = JSON.parse(document.querySelector('#options').textContent) as {
  introspection: boolean;
  tabs: Tab[];
};
/**
 * `#task=NAME` opens one more tab, once: a reload would open another for what was changed since. `#document=NAME&variables=JSON` opens a
 * document that the console has. Anybody can write such a link: what cannot be opened is left out.
 */
const wanted = new URLSearchParams(location.hash.slice(1));
const task = tabs.find(({ name }) => name === wanted.get('task')) ?? (await ofConsole(wanted));

async function ofConsole(asked: URLSearchParams): Promise<Tab | undefined> {
  const name = asked.get('document');
  if (name === null) return undefined;
  try {
    const documents = (await (await fetch('/assets/console/queries.json')).json()) as Record<string, string>;
    const query = Object.hasOwn(documents, name) ? documents[name] : undefined;
    return query === undefined ? undefined : { query, variables: JSON.parse(asked.get('variables') ?? '{}') as object };
  } catch {
    return undefined;
  }
}
if (location.hash !== '') history.replaceState(null, '', location.pathname);

const contentsOf = ({ query, variables }: Tab) => ({
  query,
  variables: variables === undefined ? '' : JSON.stringify(variables, null, 2),
  headers: '',
});

Object.assign(globalThis, {
  MonacoEnvironment: {
    globalAPI: false,
    getWorker: (_module: string, label: string) =>
      new Worker(`/assets/${WORKERS[label] ?? 'editor-worker'}.js`, { name: label }),
  },
});

YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#explorer'), {
  title: '',
  logo: '',
  fetcher,
  ...(introspection ? {} : { schema: null }),
  // Variables may hold secrets: what is typed stays in this tab too, and the address of the page stays as it is.
  storage: sessionStorage,
  shouldPersistHeaders: false,
  showPersistHeadersSettings: false,
  onEditQuery: () => undefined,
  ...(task && { ...contentsOf(task), headers: undefined }),
  defaultTabs: [...new Set([...(task ? [task] : []), ...tabs.filter(({ isFirst }) => isFirst)])].map(contentsOf),
});

export {};
