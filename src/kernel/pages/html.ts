/** A task and the operation for it, which the explorer shows in a tab, ready to run. */
export interface ExampleOperation {
  /** What somebody wants to do: `List all production secrets`. */
  readonly title: string;
  readonly group: string;
  /** What is not obvious, in Markdown. */
  readonly note?: string;
  /** One operation, with a name. */
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The explorer opens with it. */
  readonly isFirst?: boolean;
}

/** The name of an operation, which is unique among the examples. */
export const operationName = ({ query }: ExampleOperation): string =>
  /^(?:query|mutation) (\w+)/m.exec(query)?.[1] ?? '';

/** A page of the guides: its body is HTML. */
export interface Guide {
  readonly title: string;
  readonly body: string;
}

/** Text in HTML. */
export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const head = (title: string, styles: readonly string[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="/assets/strongroom.svg">
${styles.map((name) => `<link rel="stylesheet" href="/assets/${name}">`).join('\n')}
</head>`;

const bar = (place: string, links: string, more = ''): string => `<header class="bar">
<a class="brand" href="/"><img src="/assets/strongroom.svg" alt="">Strongroom</a>
<span class="place">${place}</span>
<span class="gap"></span>
${links}
${more}</header>`;

const SEARCH_FIELD = `<form class="search" action="/search" role="search">
<input name="q" type="search" placeholder="Search operations and guides" aria-label="Search operations and guides" autocomplete="off" spellcheck="false">
</form>
`;

/** Links to all pages but this one. */
const elsewhere = (here?: string): string =>
  Object.entries({ '/console': 'Console', '/guides': 'Guides', '/graphql': 'Explorer', '/docs': 'API reference' })
    .filter(([address]) => address !== here)
    .map(([address, title]) => `<a class="elsewhere" href="${address}">${title}</a>`)
    .join('\n');

const TOKEN_FIELD = `<label for="token">Token
<input id="token" type="password" placeholder="srt_…" autocomplete="off" spellcheck="false"
  title="Sent with every operation as Authorization: Bearer. Kept in this tab until you close it or press Forget."></label>
<button id="forget" type="button">Forget</button>
`;

const SCHEMA_HIDDEN = `<p class="notice" role="status">Introspection is disabled (<code>INTROSPECTION=false</code>):
operations run, but without documentation and completion.</p>`;

const REGISTERED_ONLY = `<p class="notice" role="status">Only persisted documents run here
(<code>PERSISTED_DOCUMENTS_ONLY=true</code>): paste one exactly as it was registered.</p>`;

/** The only tab then, because the examples would be refused. */
const REGISTERED_TAB: Tab = { query: '# Paste a persisted document here.\n', isFirst: true };

const TOKEN_WANTED = `<p class="notice" role="status" id="token-wanted" hidden>Enter your token in the field above. The first start of the
service wrote one to <code>bootstrap-token</code> in its data directory.</p>`;

/** A tab of the explorer. One with a name is opened by `#task=NAME`. */
interface Tab extends Pick<ExampleOperation, 'query' | 'variables' | 'isFirst'> {
  readonly name?: string;
}

const tabOf = (example: ExampleOperation): Tab => ({
  name: operationName(example),
  query: `# ${example.title}${example.isFirst ? '. Ctrl-Enter runs it.' : ''}\n${example.query}`,
  ...(example.variables && { variables: example.variables }),
  ...(example.isFirst && { isFirst: true }),
});

const NO_SCRIPT = '<noscript><p class="notice">This page requires JavaScript.</p></noscript>';

/** Stays where a program does not come, for example because the service restarts meanwhile. It is seen after some seconds. */
const NOT_LOADED = `<p class="notice late">This page has not loaded yet. If it stays so, <a href="">load it again</a>.</p>`;

/** JSON as a data block: no text of it can end the block. */
const dataBlock = (id: string, value: unknown): string =>
  `<script type="application/json" id="${id}">${JSON.stringify(value).replaceAll('<', '\\u003c')}</script>`;

/** GraphiQL under a bar with a field for the token. */
export const explorerPage = ({
  introspection,
  persistedOnly,
  examples,
}: {
  readonly introspection: boolean;
  readonly persistedOnly: boolean;
  readonly examples: readonly ExampleOperation[];
}): string => `${head('Strongroom · GraphQL explorer', ['graphiql.css', 'strongroom.css'])}
<body class="explorer">
${bar('GraphQL explorer', `${elsewhere('/graphql')}\n<a class="elsewhere" href="/search">Search</a>`, TOKEN_FIELD)}
${introspection ? '' : SCHEMA_HIDDEN}
${persistedOnly ? REGISTERED_ONLY : ''}
${TOKEN_WANTED}
${NO_SCRIPT}
<main id="explorer"></main>
${dataBlock('options', {
  // The introspection query would be refused too.
  introspection: introspection && !persistedOnly,
  tabs: persistedOnly ? [REGISTERED_TAB] : examples.map(tabOf),
})}
<script src="/assets/graphiql.js" defer></script>
<script type="module" src="/assets/explorer.js"></script>
</body>
</html>
`;

/**
 * The console, which makes all that it shows. Its stylesheet has the name of the style element that the component library would put into
 * the page otherwise, against the policy.
 */
export const consolePage = (): string => `${head('Strongroom · Console', ['strongroom.css'])}
<body>
<link id="react-aria-pressable-style" rel="stylesheet" href="/assets/console/style.css">
${NO_SCRIPT}
<div id="console">${NOT_LOADED}</div>
<script type="module" src="/assets/console/main.js"></script>
</body>
</html>
`;

/** Scalar's reference of the REST layer under our bar. */
export const referencePage = (): string => `${head('Strongroom · API reference', ['strongroom.css'])}
<body class="reference">
${bar('API reference', elsewhere('/docs'), SEARCH_FIELD)}
${NO_SCRIPT}
<div id="reference"></div>
<link rel="modulepreload" href="/assets/scalar.js">
<script type="module" src="/assets/reference.js"></script>
</body>
</html>
`;

/** A guide beside the list of all. */
export const guidePage = (
  { title, body }: Guide,
  here: string,
  contents: readonly { readonly address: string; readonly title: string }[],
): string => `${head(`Strongroom · ${escaped(title)}`, ['strongroom.css'])}
<body class="guides">
${bar('Guides', elsewhere(here === '/guides' ? here : undefined), SEARCH_FIELD)}
<div class="columns">
<nav aria-label="Guides"><ul>
${contents
  .map(
    ({ address, title: other }) =>
      `<li><a href="${address}"${address === here ? ' aria-current="page"' : ''}>${escaped(other)}</a></li>`,
  )
  .join('\n')}
</ul></nav>
<main class="guide">
${body}</main>
</div>
</body>
</html>
`;

/** The search over operations, tasks and guides. */
export const searchPage = (): string => `${head('Strongroom · Search', ['strongroom.css'])}
<body class="searching">
${bar('Search', elsewhere())}
${NO_SCRIPT}
<main class="guide">
<h1>Search</h1>
<form class="search" action="/search" role="search">
<input id="words" name="q" type="search" aria-label="Search operations and guides" placeholder="list secrets" autocomplete="off"
  spellcheck="false" autofocus>
</form>
<p id="count" role="status"></p>
<ol id="found"></ol>
</main>
<script type="module" src="/assets/search.js"></script>
</body>
</html>
`;

/** Links for people, on pages without a script. */
const links = (hasSchema: boolean): string => `<nav class="ways" aria-label="Pages">
<a href="/console"><strong>Console</strong><span>What needs a person, what expires, who can read what.</span></a>
<a href="/graphql"><strong>GraphQL explorer</strong><span>Browse the schema, write operations and run them.</span></a>
<a href="/docs"><strong>API reference</strong><span>All REST operations, with examples and a way to try them.</span></a>
<a href="/guides"><strong>Guides</strong><span>A first session, then secrets, access, certificates, rotations and operation.</span></a>
<a href="/guides/graphql-by-task"><strong>GraphQL by task</strong><span>Documents to run: who can read a secret, what expires, and more.</span></a>
</nav>
${SEARCH_FIELD}
<dl>
<dt>GraphQL</dt><dd><code>POST /graphql</code>${hasSchema ? ', <a href="/schema.graphql">schema.graphql</a>' : ''}</dd>
<dt>REST</dt><dd><code>/api</code>, <a href="/openapi.json">openapi.json</a></dd>
<dt>Health</dt><dd><a href="/api/status">/api/status</a></dd>
</dl>`;

/** The start page: what this service is, and where to go. */
export const homePage = (version: string, hasSchema: boolean): string => `${head('Strongroom', ['strongroom.css'])}
<body>
<main class="home">
<img class="mark" src="/assets/strongroom.svg" alt="">
<h1>Strongroom</h1>
<p class="lead">Stores the secrets that services need and controls who can read them: projects, secrets, certificates, machine identities and
their tokens. Version ${version}.</p>
${links(hasSchema)}
<p class="hint">People and machines send a token with each request, and the console asks for it. New here? Open the explorer, enter your
token and run the first example.</p>
</main>
</body>
</html>
`;

/** What a browser shows at an address that does not exist. It repeats nothing of the request. */
export const notFoundPage = (hasSchema: boolean): string => `${head('Strongroom · Not found', ['strongroom.css'])}
<body>
<main class="home">
<img class="mark" src="/assets/strongroom.svg" alt="">
<h1>Page not found</h1>
<p class="lead">This is Strongroom, a service that stores secrets. Nothing exists at this address (404 <code>ROUTE_NOT_FOUND</code>).
Start from one of these:</p>
${links(hasSchema)}
<p class="hint"><a href="/">Start page</a></p>
</main>
</body>
</html>
`;
