/** An operation that the explorer shows in a tab, ready to run. */
export interface ExampleOperation {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

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

const bar = (place: string, elsewhere: string, more = ''): string => `<header class="bar">
<a class="brand" href="/"><img src="/assets/strongroom.svg" alt="">Strongroom</a>
<span class="place">${place}</span>
<span class="gap"></span>
${elsewhere}
${more}</header>`;

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
const REGISTERED_EXAMPLE: ExampleOperation = { query: '# Paste a persisted document here.\n' };

const TOKEN_WANTED = `<p class="notice" role="status" id="token-wanted" hidden>Enter your token in the field above.</p>`;

const NO_SCRIPT = '<noscript><p class="notice">This page requires JavaScript.</p></noscript>';

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
${bar('GraphQL explorer', '<a class="elsewhere" href="/docs">API reference</a>', TOKEN_FIELD)}
${introspection ? '' : SCHEMA_HIDDEN}
${persistedOnly ? REGISTERED_ONLY : ''}
${TOKEN_WANTED}
${NO_SCRIPT}
<main id="explorer"></main>
${dataBlock('options', {
  // The introspection query would be refused too.
  introspection: introspection && !persistedOnly,
  examples: persistedOnly ? [REGISTERED_EXAMPLE] : examples,
})}
<script src="/assets/graphiql.js" defer></script>
<script type="module" src="/assets/explorer.js"></script>
</body>
</html>
`;

/** Scalar's reference of the REST layer under our bar. */
export const referencePage = (): string => `${head('Strongroom · API reference', ['strongroom.css'])}
<body class="reference">
${bar('API reference', '<a class="elsewhere" href="/graphql">GraphQL explorer</a>')}
${NO_SCRIPT}
<div id="reference"></div>
<link rel="modulepreload" href="/assets/scalar.js">
<script type="module" src="/assets/reference.js"></script>
</body>
</html>
`;

/** Links for people, on pages without a script. */
const links = (hasSchema: boolean): string => `<nav class="ways" aria-label="Pages">
<a href="/graphql"><strong>GraphQL explorer</strong><span>Browse the schema, write operations and run them.</span></a>
<a href="/docs"><strong>API reference</strong><span>All REST operations, with examples and a way to try them.</span></a>
</nav>
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
<p class="hint">There is no sign-in page: people and machines send a token with each request. New here? Open the explorer, enter
your token and run the first example.</p>
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
