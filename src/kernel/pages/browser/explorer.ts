/** The script of the explorer page. It runs in browsers, so it names here what it uses of one. */
interface Field {
  value: string;
  disabled: boolean;
  hidden: boolean;
  readonly textContent: string;
  addEventListener(event: string, listener: () => void): void;
}
declare const document: { querySelector(selector: string): Field };
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
}

field.value = sessionStorage.getItem(TOKEN) ?? '';
keep(field.value);
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
  const answer = (await reply.json()) as Answer;
  tokenWanted.hidden = answer.errors?.some(({ extensions }) => extensions?.code === 'TOKEN_MISSING') !== true;
  return withoutNeedless(answer);
}

interface InputField {
  type: { readonly kind: string; readonly ofType: InputField['type'] };
  readonly defaultValue?: string | null;
}
interface Answer {
  readonly errors?: { readonly extensions?: { readonly code?: string } }[];
  readonly data?: { readonly __schema?: { readonly types?: { readonly inputFields?: InputField[] | null }[] } } | null;
}

/**
 * The schema as GraphiQL is to know it: a field with a default need not be sent. What checks variables in the editor would
 * mark every input that leaves out a field that is not null, whatever stands in its place.
 */
function withoutNeedless(answer: Answer): Answer {
  for (const { inputFields } of answer.data?.__schema?.types ?? []) {
    for (const field of inputFields ?? []) {
      if (field.type.kind === 'NON_NULL' && typeof field.defaultValue === 'string') field.type = field.type.ofType;
    }
  }
  return answer;
}

const { introspection, examples } = JSON.parse(document.querySelector('#options').textContent) as {
  introspection: boolean;
  examples: { query: string; variables?: object }[];
};

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
  defaultTabs: examples.map(({ query, variables }) => ({
    query,
    variables: variables === undefined ? '' : JSON.stringify(variables, null, 2),
    headers: '',
  })),
});

export {};
